/** What a replay is given, and what it gives. */
import { createTable } from '../../base/table.ts';
import type { CounterLog } from './counters.ts';
import type { Preexisting } from './preexisting.ts';
import type { BlockRules } from './rounding.ts';
import type { FinalPools } from './segment-tracker.ts';
import type { TraceKind } from './trace-kind.ts';
import {
  type Counters,
  perCounter,
  REPLAYED_COLUMNS,
  type Replay,
  type ReplayedEvents,
} from './types.ts';

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

export const NO_CHANGE: Counters = perCounter(() => 0);

export const NO_EVENTS: ReplayedEvents = createTable(REPLAYED_COLUMNS, 0);
