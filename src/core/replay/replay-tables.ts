/** What a replay is given, and what it gives. */
import type { CounterLog } from './counters.ts';
import type { Preexisting } from './preexisting.ts';
import type { BlockRules } from './rounding.ts';
import type { FinalPools } from './segment-tracker.ts';
import type { TraceKind } from './trace-kind.ts';
import type { Counters, Replay, ReplayedEvents } from './types.ts';

/** What is known of a trace before its first event. */
export interface ReplayPlan {
  readonly kind: TraceKind;
  readonly rules: BlockRules;
  readonly before: Preexisting;
  /** Pools of the final segments; undefined where they are not known, or not needed. */
  readonly pools: FinalPools | undefined;
  /** There may be private pools. */
  readonly hasPools: boolean;
  /** The file lists segments: blocks are looked for in them from the first event on. */
  readonly hasSegments: boolean;
}

/** What was replayed. */
export interface ReplayTables
  extends Pick<
    Replay,
    | 'allocations'
    | 'segmentSpans'
    | 'allocationOfEvent'
    | 'start'
    | 'end'
    | 'peaks'
    | 'anomalyCount'
    | 'anomalies'
  > {
  readonly log: CounterLog;
}

export const NO_CHANGE: Counters = {
  requestedBytes: 0,
  allocatedBytes: 0,
  activeBytes: 0,
  reservedBytes: 0,
  inactiveSplitBytes: 0,
};

export const NO_EVENTS: ReplayedEvents = {
  action: new Uint8Array(0),
  address: new Float64Array(0),
  sizeBytes: new Float64Array(0),
  stream: new Uint16Array(0),
  stack: new Int32Array(0),
  pool: undefined,
};
