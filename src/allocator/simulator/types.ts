/** The result of running a recording under other allocator settings. Plain data: it can be sent to another thread. */
import type { EventIndex } from '../../format/snapshot/tables.ts';
import type { ByteCurve } from './recorded-memory.ts';

export interface SimulatedOom {
  readonly event: EventIndex;
  readonly requestedBytes: number;
  /** How much higher the limit would have to be for this request. */
  readonly missingBytes: number;
  /** The recorded run also failed at this request, and continued as recorded. */
  readonly isRecorded: boolean;
}

/** Reserved memory that is not in use when the run ends. */
export interface EndState {
  readonly reservedBytes: number;
  readonly allocatedBytes: number;
  /** The largest request that could still be served without new memory. */
  readonly largestFreeBytes: number;
}

export type UnknownCode =
  | 'no-trace'
  | 'after-oom'
  | 'retried'
  | 'trials'
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

/** Something that the trace does not show, and how it was handled. */
export interface Unknown {
  readonly code: UnknownCode;
  readonly message: string;
}

/**
 * high: the rules decide everything. medium: something that the trace does not show may shift the peak. low: the
 * simulated run did not happen that way.
 */
export type Confidence = 'high' | 'medium' | 'low';

export interface WhatIfResult {
  /** As given; '' is the default allocator. */
  readonly settings: string;
  /** The run's limit: the given one times per_process_memory_fraction. Undefined: no limit. */
  readonly limitBytes: number | undefined;
  /** Before the first event. */
  readonly startReservedBytes: number;
  readonly peakReservedBytes: number;
  readonly peakAllocatedBytes: number;
  /** The run stops at the first OOM that the recording did not have, because what follows is unknown. */
  readonly ooms: readonly SimulatedOom[];
  /** Requests that failed and were immediately repeated with less, as recorded or as cuDNN does: the program saw no OOM. */
  readonly retriedOoms: number;
  /** Requests that ran out of memory in the recording but were served here. */
  readonly servedOoms: number;
  /** How often all cached memory was released for a request, whether it helped or not. */
  readonly retries: number;
  /** cudaMalloc and cuMemMap, cudaFree and cuMemUnmap, since the first event. */
  readonly deviceAllocs: number;
  readonly deviceFrees: number;
  readonly end: EndState;
  /** Events that were run: fewer than the trace has if the run stopped at an OOM. */
  readonly events: number;
  readonly reserved: ByteCurve;
  readonly allocated: ByteCurve;
  readonly confidence: Confidence;
  readonly unknowns: readonly Unknown[];
}
