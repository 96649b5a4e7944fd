/**
 * Replays a trace while its file is still being read, so the part so far can be drawn. It assumes that nothing was
 * allocated before and that PyTorch's default rules apply, because a file states both at its end. `completePartialReplay`
 * checks whether that was right.
 */
import {
  type DeviceTrace,
  type EventIndex,
  type Snapshot,
  TraceAction,
} from '../../format/snapshot/tables.ts';
import { counterReader } from './counters.ts';
import { DeviceReplay, type ReplayTables } from './device-replay.ts';
import { completeReplay, endsAsTheFile, NOTHING } from './replay.ts';
import { blockRules } from './rounding.ts';
import { FinalPools } from './segment-tracker.ts';
import { isUsualKind, traceKindOf, USUAL_KIND } from './trace-kind.ts';
import type { CounterName, Counters, Replay, ReplayedEvents } from './types.ts';

export interface EventChunk extends ReplayedEvents {
  readonly first: EventIndex;
  readonly length: number;
}

/** The results so far. Views: they are valid until the next chunk is replayed. */
export interface PartialResult extends Pick<ReplayTables, 'allocations' | 'peaks' | 'end'> {
  readonly length: number;
  /** No event contradicts an empty start. Otherwise blocks are missing and sizes may be too small. */
  readonly isExact: boolean;
}

export interface PartialTables {
  readonly tables: ReplayTables;
  readonly hasSegments: boolean;
}

/** Room beyond the expected number of rows: a guess from a part of the file is seldom exact. */
const SPARE_ROOM = 1.04;

export class PartialReplay implements Pick<Replay, 'countersAt' | 'fillCounter'> {
  readonly #replay: DeviceReplay;
  readonly #hasSegments: boolean;
  #reader: ReturnType<typeof counterReader> | undefined;

  /** @param hasSegments whether the file lists segments of the device (they come first in the file) */
  constructor(hasSegments: boolean) {
    this.#hasSegments = hasSegments;
    this.#replay = new DeviceReplay({
      kind: USUAL_KIND,
      rules: blockRules({}),
      before: NOTHING,
      pools: undefined,
      hasPools: true,
      hasSegments,
    });
  }

  /**
   * Replays a chunk, which must begin where the last one ended.
   * @param expected expected number of events in the whole trace
   */
  advance(chunk: EventChunk, expected: number): void {
    const { first, length, action } = chunk;
    const to = first + length;
    let { allocs } = this.#replay;
    for (let at = 0; at < length; at++) if (action[at] === TraceAction.Alloc) allocs++;
    const whole = Math.max(to, expected) * SPARE_ROOM;
    if (to > this.#replay.room) this.#replay.reserve(Math.ceil(whole), 0);
    if (allocs > this.#replay.allocRoom) {
      this.#replay.reserve(0, Math.ceil(allocs * Math.max(SPARE_ROOM, (whole * SPARE_ROOM) / to)));
    }
    this.#replay.advance(chunk, first, to, false);
    this.#reader = undefined;
  }

  soFar(): PartialResult {
    const { length, anomalyCount } = this.#replay;
    const { allocations, peaks, end } = this.#replay.soFar();
    return { length, allocations, peaks, end, isExact: anomalyCount === 0 };
  }

  countersAt(event: EventIndex): Counters {
    return this.#counters().countersAt(event);
  }

  fillCounter(name: CounterName, from: EventIndex, out: Float64Array): void {
    this.#counters().fillCounter(name, from, out);
  }

  finish(): PartialTables {
    return { tables: this.#replay.tables(), hasSegments: this.#hasSegments };
  }

  #counters(): ReturnType<typeof counterReader> {
    if (this.#reader === undefined) {
      const { log, segmentSpans, ...replay } = this.#replay.soFar();
      this.#reader = counterReader(log, replay, segmentSpans);
    }
    return this.#reader;
  }
}

/**
 * Completes a replay that ran while the file was read. Undefined if the end of the file contradicts its assumptions, so
 * the trace must be replayed with the whole file.
 */
export function completePartialReplay(
  { tables, hasSegments }: PartialTables,
  trace: DeviceTrace,
  settings: Snapshot['settings'],
): Replay | undefined {
  const isAll =
    trace.opening === undefined &&
    trace.events.length > 0 &&
    trace.events.length === tables.allocationOfEvent.length;
  const isRight =
    isAll &&
    tables.anomalyCount === 0 &&
    hasSegments === trace.segments.length > 0 &&
    isUsualKind(traceKindOf(trace)) &&
    JSON.stringify(blockRules(settings, trace.accelerator)) === JSON.stringify(blockRules({})) &&
    !new FinalPools(trace).isNeeded &&
    endsAsTheFile(trace, tables.end);
  return isRight ? completeReplay(tables, trace, NOTHING) : undefined;
}
