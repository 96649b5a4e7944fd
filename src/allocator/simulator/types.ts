/** What running a recording again under other allocator settings gives. Plain data: it can be sent to another thread. */
import type { EventIndex } from '../../format/snapshot/tables.ts';
import type { ByteCurve } from './recorded-memory.ts';

/** A request that could not be served. */
export interface SimulatedOom {
  readonly event: EventIndex;
  /** Bytes asked for. */
  readonly requestedBytes: number;
  /** How much higher the limit would have had to be for this request. */
  readonly missingBytes: number;
  /** The recorded run failed at this request too, and went on as recorded. */
  readonly isRecorded: boolean;
}

/** Reserved memory that is not in use when the run ends. */
export interface EndState {
  readonly reservedBytes: number;
  readonly allocatedBytes: number;
  /** Largest piece that one request could still get without new memory. */
  readonly largestFreeBytes: number;
  /** Share of the free reserved bytes that is outside the largest piece; 0 when nothing is free. */
  readonly fragmentation: number;
}

export type UnknownCode =
  | 'no-trace'
  | 'after-oom'
  | 'retried'
  | 'delayed-frees'
  | 'before-trace'
  | 'private-pools'
  | 'empty-cache'
  | 'anomalies'
  | 'outside-memory'
  | 'gc-without-limit'
  | 'fraction-without-limit'
  | 'without-effect'
  | 'stopped';

/** Something that the trace does not tell, and what was done about it. */
export interface Unknown {
  readonly code: UnknownCode;
  readonly message: string;
}

/**
 * high: the rules decide everything. medium: something that the trace does not tell may shift the
 * peak. low: the figures are of a run that did not happen that way.
 */
export type Confidence = 'high' | 'medium' | 'low';

export interface WhatIfResult {
  /** As given; '' is the default allocator. */
  readonly settings: string;
  /** That the run had: per_process_memory_fraction of what was given. undefined: no limit. */
  readonly limitBytes: number | undefined;
  readonly peakReservedBytes: number;
  readonly peakAllocatedBytes: number;
  /** The run stops at the first one that the recording did not have: what comes after is unknown. */
  readonly ooms: readonly SimulatedOom[];
  /** Requests that failed, as when recorded, and were made again at once for less: no OOM to the program. */
  readonly retriedOoms: number;
  /** Requests of the recording's OOMs that were served here. */
  readonly servedOoms: number;
  /** Times that all cached memory was released for a request, whether it helped or not. */
  readonly retries: number;
  /** cudaMalloc and cuMemMap, cudaFree and cuMemUnmap, since the first event. */
  readonly deviceAllocs: number;
  readonly deviceFrees: number;
  readonly end: EndState;
  /** Events that were run: fewer than the trace has when it stopped at an OOM. */
  readonly events: number;
  readonly reserved: ByteCurve;
  readonly confidence: Confidence;
  readonly unknowns: readonly Unknown[];
}
