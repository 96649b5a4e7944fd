/** Hands the events of a file to a replayer as they are decoded, and takes back what was replayed. */

import { completeLiveReplay } from '../../allocator/replay/live-replay.ts';
import {
  type CounterName,
  REPLAYED_COLUMNS,
  type Replay,
  type ReplayedEvents,
} from '../../allocator/replay/types.ts';
import { createTable, slice } from '../../base/table.ts';
import type { LiveResult, TraceState } from '../../draw/partial/live-traces.ts';
import { CounterBlocks } from '../../draw/timeline/counter-blocks.ts';
import type { ReadMoment } from '../../format/input/types.ts';
import type { SnapshotSoFar } from '../../format/snapshot/snapshot-so-far.ts';
import type { DeviceTrace, Snapshot } from '../../format/snapshot/tables.ts';
import type { Replayer } from './replayer.ts';

/** Events that are replayed at a time. */
const CHUNK_EVENTS = 1 << 16;
/** Fewer go when none have gone for so long. */
const FEED_MS = 150;
/** Chunks on their way to another thread: copies of more events would only take memory. */
const MOST_AWAY = 4;

/** A device's replay that is done when its file has been read, and the extremes of its counters. */
export interface GrownReplay {
  readonly replay: Replay;
  readonly counters: ReadonlyMap<CounterName, CounterBlocks>;
}

/** A trace of the file: from which event on, and how many of its events have gone to the replayer. */
interface FedTrace {
  readonly index: number;
  readonly first: number;
  readonly hasSegments: boolean;
  events: number;
}

export class EventFeed {
  readonly #replayer: Replayer;
  readonly #onState: (state: TraceState) => void;
  readonly #traces = new Map<number, FedTrace>();
  /** Chunks that have not come back. */
  readonly #away = new Set<Promise<void>>();
  /** Columns of chunks that have come back. */
  readonly #spare: ReplayedEvents[] = [];
  #events: ReplayedEvents | undefined;
  #fedMs = 0;
  #isBroken = false;

  constructor(replayer: Replayer, onState: (state: TraceState) => void) {
    this.#replayer = replayer;
    this.#onState = onState;
  }

  /** Hands over what is new: whole chunks, and less where it is time or no more comes. */
  take(soFar: SnapshotSoFar, { share = 1, isEnd }: ReadMoment, nowMs: number): void {
    const events = soFar.events();
    this.#events = events;
    const traces = soFar.traces();
    const isDue = isEnd || nowMs - this.#fedMs > FEED_MS;
    for (const [index, { first, length, hasSegments }] of traces.entries()) {
      if (length === 0) continue;
      const trace = this.#traces.get(index) ?? { index, first, hasSegments, events: 0 };
      this.#traces.set(index, trace);
      const least = isDue || index < traces.length - 1 ? 1 : CHUNK_EVENTS;
      while (length - trace.events >= least && (this.#away.size < MOST_AWAY || isEnd)) {
        this.#feed(trace, events, first, length, length / share);
        this.#fedMs = nowMs;
      }
    }
  }

  /** Where the events of a trace begin among all. */
  firstOf(trace: number): number {
    return this.#traces.get(trace)?.first ?? 0;
  }

  /** Resolves when all that was handed over is replayed, or never will be. */
  async settled(): Promise<void> {
    await Promise.all(this.#away);
  }

  /**
   * For each device of the snapshot its replay; undefined where it has to be made from the whole file.
   * The snapshot must be made of the events that `take` was given.
   */
  async finish({ devices, settings }: Snapshot): Promise<readonly (GrownReplay | undefined)[]> {
    const traces = devices.map((device) => this.#traceOf(device));
    for (const [i, trace] of traces.entries()) {
      const events = devices[i]?.events;
      while (trace && events && trace.events < events.length && !this.#isBroken) {
        this.#feed(trace, events, 0, events.length, events.length);
        if (this.#away.size >= MOST_AWAY) await Promise.race(this.#away);
      }
    }
    await this.settled();
    if (this.#isBroken) return [];
    const results = await this.#replayer.finish();
    return devices.map((device, i) => {
      const result = results.get(traces[i]?.index ?? -1);
      return result && grownReplay(result, device, settings);
    });
  }

  /** The trace that a device's events are: the very columns that were handed over. */
  #traceOf({ events: { action } }: DeviceTrace): FedTrace | undefined {
    const all = this.#events?.action;
    return [...this.#traces.values()].find(
      ({ first }) => action.buffer === all?.buffer && action.byteOffset === all.byteOffset + first,
    );
  }

  /** The next chunk of a trace, whose event 0 is in row `first`. */
  #feed(
    trace: FedTrace,
    events: ReplayedEvents,
    first: number,
    length: number,
    expected: number,
  ): void {
    const { index, hasSegments } = trace;
    const count = Math.min(CHUNK_EVENTS, length - trace.events);
    const from = first + trace.events;
    const columns = this.#columns(events, from, from + count);
    const chunk = { ...columns, trace: index, first: trace.events, length: count };
    trace.events += count;
    const fed = this.#replayer.feed({ ...chunk, hasSegments, expected }).then(
      ({ state, chunk }) => {
        if (this.#replayer.isBeside) this.#spare.push(chunk);
        this.#onState(state);
      },
      () => {
        this.#isBroken = true;
      },
    );
    const away = fed.then(() => void this.#away.delete(away));
    this.#away.add(away);
  }

  /** Copies for another thread, else views. */
  #columns(events: ReplayedEvents, from: number, to: number): ReplayedEvents {
    const views = slice(REPLAYED_COLUMNS, events, from, to);
    if (!this.#replayer.isBeside) return views;
    const { pool, ...copies } = this.#spare.pop() ?? createTable(REPLAYED_COLUMNS, CHUNK_EVENTS);
    const withPool = views.pool && { pool: pool ?? new Uint16Array(CHUNK_EVENTS) };
    const columns: ReplayedEvents = { ...copies, pool: withPool?.pool };
    for (const name of Object.keys(REPLAYED_COLUMNS) as (keyof ReplayedEvents)[]) {
      const column = views[name];
      if (column !== undefined) columns[name]?.set(column);
    }
    return columns;
  }
}

function grownReplay(
  result: LiveResult,
  device: DeviceTrace,
  settings: Snapshot['settings'],
): GrownReplay | undefined {
  const replay = completeLiveReplay(result, device, settings);
  if (replay === undefined) return undefined;
  const counters = new Map<CounterName, CounterBlocks>();
  for (const [name, extremes] of result.extremes) {
    counters.set(name, new CounterBlocks(replay, name, device.events.length, extremes));
  }
  return { replay, counters };
}
