/**
 * What the program asked of the allocator, in order: the trace without what the allocator did about it.
 * Made once for a device, then run under any number of settings.
 */
import { upperBound } from '../base/binary-search.ts';
import { findRetriedOoms } from '../replay/retried-requests.ts';
import { type AllocationTable, NEVER } from '../replay/types.ts';
import { type DeviceTrace, type EventIndex, TraceAction } from '../snapshot/tables.ts';
import type { AllocSettings } from './alloc-conf.ts';
import { type ReleaseRun, releaseRuns } from './release-runs.ts';
import type { ReservedSteps } from './reserved-steps.ts';
import type { RecordedColumns } from './types.ts';

/** Free is a free_requested whose free_completed follows at once, as nearly all do. */
export const RequestKind = {
  Alloc: 0,
  Free: 1,
  FreeRequested: 2,
  FreeCompleted: 3,
  EmptyCache: 4,
  Oom: 5,
} as const;
export type RequestKind = (typeof RequestKind)[keyof typeof RequestKind];

export interface Requests {
  readonly length: number;
  /** {@link RequestKind} */
  readonly kind: Uint8Array;
  /** Allocation that is meant, -1 for EmptyCache and Oom. */
  readonly row: Int32Array;
  readonly event: Int32Array;
  readonly allocations: AllocationTable;
  /** Pool of each allocation. */
  readonly pool: Uint16Array;
  /** Runs of frees of segments in the recording: retries, and calls of empty_cache(). */
  readonly releases: readonly ReleaseRun[];
  /** Recorded OOMs, all of them. */
  readonly ooms: number;
  /** Recorded OOMs of which the program saw no error. */
  readonly retriedOoms: ReadonlySet<EventIndex>;
  /** Frees that waited for another stream. */
  readonly delayedFrees: number;
}

/** @param reserved memory that the recording had reserved, by which a retry is told from a call of empty_cache() */
export function collectRequests(
  trace: DeviceTrace,
  replay: RecordedColumns,
  reserved: ReservedSteps,
  recorded: AllocSettings,
): Requests {
  return new RequestCollector(trace, replay, reserved, recorded).collect();
}

class RequestCollector {
  readonly #trace: DeviceTrace;
  readonly #replay: RecordedColumns;
  readonly #releases: readonly ReleaseRun[];
  readonly #kind: Uint8Array;
  readonly #row: Int32Array;
  readonly #event: Int32Array;
  #length = 0;
  #delayedFrees = 0;
  #ooms = 0;

  constructor(
    trace: DeviceTrace,
    replay: RecordedColumns,
    reserved: ReservedSteps,
    recorded: AllocSettings,
  ) {
    this.#trace = trace;
    this.#replay = replay;
    const peakBytes = replay.peaks.reservedBytes.bytes;
    this.#releases = releaseRuns(trace, reserved, peakBytes, recorded);
    // Each event is one request at most, but for an alloc that ends an allocation whose free is missing.
    const most = trace.events.length + replay.anomalyCount;
    this.#kind = new Uint8Array(most);
    this.#row = new Int32Array(most);
    this.#event = new Int32Array(most);
  }

  collect(): Requests {
    const { action } = this.#trace.events;
    const emptied = new Set(
      this.#releases.filter(({ cause }) => cause === 'user').map(({ event }) => event),
    );
    const unfreed = this.#endsWithoutFree();
    for (let t = 0; t < action.length; t++) {
      for (const row of unfreed.get(t) ?? []) this.#add(RequestKind.Free, row, t);
      if (action[t] <= TraceAction.FreeCompleted) this.#addOfBlock(t);
      else if (action[t] === TraceAction.Oom) this.#addOom(t);
      else if (emptied.has(t)) this.#add(RequestKind.EmptyCache, -1, t);
    }
    return {
      length: this.#length,
      kind: this.#kind,
      row: this.#row,
      event: this.#event,
      allocations: this.#replay.allocations,
      pool: poolsOfAllocations(this.#trace, this.#replay.allocations),
      releases: this.#releases,
      ooms: this.#ooms,
      retriedOoms: findRetriedOoms(this.#trace, this.#replay),
      delayedFrees: this.#delayedFrees,
    };
  }

  #addOom(t: EventIndex): void {
    this.#ooms++;
    this.#add(RequestKind.Oom, -1, t);
  }

  #addOfBlock(t: EventIndex): void {
    const { allocationOfEvent, allocations } = this.#replay;
    const row = allocationOfEvent[t];
    if (row < 0) return;
    const requested = allocations.freeRequested[row];
    switch (this.#trace.events.action[t]) {
      case TraceAction.Alloc:
        this.#add(RequestKind.Alloc, row, t);
        return;
      case TraceAction.FreeRequested:
        if (allocations.end[row] === t + 1 && allocationOfEvent[t + 1] === row) {
          this.#add(RequestKind.Free, row, t);
        } else {
          this.#delayedFrees++;
          this.#add(RequestKind.FreeRequested, row, t);
        }
        return;
      default:
        if (requested === t) this.#add(RequestKind.Free, row, t);
        else if (requested !== t - 1 || allocationOfEvent[t - 1] !== row) {
          this.#add(RequestKind.FreeCompleted, row, t);
        }
    }
  }

  /** Allocations that end at an event which is no free of theirs, because that is not in the trace. */
  #endsWithoutFree(): ReadonlyMap<EventIndex, number[]> {
    const found = new Map<EventIndex, number[]>();
    const { allocations, allocationOfEvent, anomalyCount } = this.#replay;
    if (anomalyCount === 0) return found;
    for (let row = 0; row < allocations.length; row++) {
      const end = allocations.end[row];
      if (end === NEVER || allocationOfEvent[end] === row) continue;
      found.set(end, [...(found.get(end) ?? []), row]);
    }
    return found;
  }

  #add(kind: RequestKind, row: number, event: EventIndex): void {
    const at = this.#length++;
    this.#kind[at] = kind;
    this.#row[at] = row;
    this.#event[at] = event;
  }
}

/**
 * Up to 2.11 events do not say which pool they are of. The address space of an expandable segment is one
 * pool's for good, so what lies where a private pool's final mapping is, was of that pool.
 */
function poolsOfAllocations(trace: DeviceTrace, { pool, address }: AllocationTable): Uint16Array {
  const { segments, events } = trace;
  const isPrivate = (s: number) => segments.isExpandable[s] === 1 && segments.pool[s] > 0;
  const rows = Array.from({ length: segments.length }, (_, s) => s).filter(isPrivate);
  if (events.pool !== undefined || rows.length === 0) return pool;
  const starts = rows.map((s) => segments.address[s]);
  return pool.map((known, row) => {
    const at = upperBound(starts, address[row]) - 1;
    if (at < 0) return known;
    const isInside = address[row] < starts[at] + segments.totalBytes[rows[at]];
    return isInside ? segments.pool[rows[at]] : known;
  });
}
