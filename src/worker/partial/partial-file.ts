/**
 * A file while it is read. Decoded events go to a replay worker, which draws them so far and has replayed them all by
 * the end of the file.
 */
import { REPLAYED_COLUMNS, type ReplayedEvents } from '../../allocator/replay/types.ts';
import { getOrMake } from '../../base/collections.ts';
import { abortError } from '../../base/errors.ts';
import { tableFrom } from '../../base/table.ts';
import { type Clock, startTimer } from '../../base/task.ts';
import { StackReader } from '../../device/model/stacks.ts';
import { type StackSites, sitesOfStacks } from '../../draw/coloring/first-colorings.ts';
import { completePartialTimeline } from '../../draw/timeline/partial-timeline.ts';
import type { TimelineFrame } from '../../draw/timeline/types.ts';
import type { ReadMoment } from '../../format/input/types.ts';
import type { SnapshotDecoder } from '../../format/snapshot/decoder.ts';
import { partialTraces } from '../../format/snapshot/partial-traces.ts';
import type { SnapshotSchema } from '../../format/snapshot/schema.ts';
import type { DeviceTrace, Snapshot } from '../../format/snapshot/tables.ts';
import { type Remote, transferring } from '../rpc.ts';
import type { PartialFrameRequest, PartialState, ReplayMethods } from './partial-replay.ts';

export type ReplayWorker = Remote<ReplayMethods>;

const CHUNK_EVENTS = 1 << 16;
/** After this long without a chunk, a smaller one is sent. */
const FEED_MS = 150;
/** After this long without new events, everything so far is sent. */
const STALL_MS = 300;
/** Limit on chunks in flight, because copies of more events would only take memory. */
const MOST_AWAY = 4;
/** Interval between pictures. */
const REPORT_MS = 350;
/** Stacks are read again after a pause of this many times the reading time: C++ frames make 100,000 stacks. */
const STACKS_PAUSE = 20;

/** A trace of the file, and how many of its events the replay worker has received. */
interface FedTrace {
  readonly index: number;
  readonly first: number;
  readonly hasSegments: boolean;
  events: number;
}

export class PartialFile {
  /** For the trace with most events; undefined while there is nothing to see. */
  state: PartialState | undefined;
  readonly #clock: Clock;
  readonly #worker: ReplayWorker;
  readonly #onMore: () => void;
  #schema: SnapshotSchema | undefined;
  readonly #traces = new Map<number, FedTrace>();
  /** Chunks that are not replayed yet. */
  readonly #away = new Set<Promise<void>>();
  #events: ReplayedEvents | undefined;
  #fedMs = 0;
  #stopStall = () => {};
  #latest: PartialState | undefined;
  #reportedMs = Number.NEGATIVE_INFINITY;
  #stacks = { count: -1, nextMs: 0 };

  /** @param onMore called when `state` has changed */
  constructor(clock: Clock, worker: ReplayWorker, onMore: () => void) {
    this.#clock = clock;
    this.#worker = worker;
    this.#onMore = onMore;
  }

  /** For ReadOptions.onRead. */
  onRead(decoder: SnapshotDecoder, moment: ReadMoment): void {
    this.#schema = decoder.schema;
    this.#take(moment);
    this.#stopStall();
    const catchUp = async () => {
      this.#take({ ...moment, isEnd: true });
      await this.settle();
    };
    if (!moment.isEnd) this.#stopStall = startTimer(STALL_MS, () => void catchUp());
  }

  frame(request: PartialFrameRequest): Promise<TimelineFrame> {
    return this.#worker.call('frame', { ...request, sites: this.#newSites() });
  }

  /** Shows everything that was read of a file whose reading has stopped. */
  async settle(): Promise<void> {
    await Promise.all(this.#away);
    this.#report();
  }

  /**
   * Returns each device's replay, or undefined if it must be made from the whole file. The snapshot must consist of
   * the events that were read.
   */
  async finish({ devices, settings }: Snapshot) {
    const traces = devices.map((device) => this.#traceOf(device));
    for (const [i, trace] of traces.entries()) {
      const events = devices[i]?.events;
      while (trace && events && trace.events < events.length) {
        this.#feed(trace, events, 0, events);
        if (this.#away.size >= MOST_AWAY) await Promise.race(this.#away);
      }
    }
    await Promise.all(this.#away);
    // If the worker died, everything is replayed from the file.
    const results = await this.#worker.call('finish', undefined).catch(() => undefined);
    return devices.map((device, i) => {
      const tables = results?.get(traces[i]?.index ?? -1);
      return tables && completePartialTimeline(tables, device, settings);
    });
  }

  close(): void {
    this.#stopStall();
    this.#worker.end(abortError('The file is not read any more'));
    this.#schema = undefined;
  }

  /** Sends new events: whole chunks, or less if enough time has passed. */
  #take({ share = 1, isEnd }: ReadMoment): void {
    if (this.#schema === undefined) return;
    const nowMs = this.#clock.now();
    const events = this.#schema.events.soFar();
    this.#events = events;
    const traces = partialTraces(this.#schema);
    const isDue = isEnd || nowMs - this.#fedMs > FEED_MS;
    for (const [index, { first, length, hasSegments }] of traces.entries()) {
      if (length === 0) continue;
      const trace = getOrMake(this.#traces, index, () => ({
        index,
        first,
        hasSegments,
        events: 0,
      }));
      const least = isDue || index < traces.length - 1 ? 1 : CHUNK_EVENTS;
      while (length - trace.events >= least && (this.#away.size < MOST_AWAY || isEnd)) {
        this.#feed(trace, events, first, { length, expected: length / share });
        this.#fedMs = nowMs;
      }
    }
  }

  /** The trace whose columns are this device's events, matched by identity. */
  #traceOf({ events: { action } }: DeviceTrace): FedTrace | undefined {
    const all = this.#events?.action;
    return [...this.#traces.values()].find(
      ({ first }) => action.buffer === all?.buffer && action.byteOffset === all.byteOffset + first,
    );
  }

  /**
   * Sends the next chunk of a trace, whose event 0 is in row `first`.
   * @param expected an estimate of the whole trace's events
   */
  #feed(
    trace: FedTrace,
    events: ReplayedEvents,
    first: number,
    { length, expected = length }: { readonly length: number; readonly expected?: number },
  ): void {
    const { index, hasSegments } = trace;
    const count = Math.min(CHUNK_EVENTS, length - trace.events);
    const from = first + trace.events;
    const columns = tableFrom(REPLAYED_COLUMNS, count, (name) =>
      events[name as keyof ReplayedEvents]?.slice(from, from + count),
    );
    const chunk = { ...columns, trace: index, first: trace.events, hasSegments, expected };
    trace.events += count;
    const fed = this.#worker.call('feed', transferring(chunk)).then(
      (state) => this.#grow(state),
      // The worker died; `finish` will notice.
      () => undefined,
    );
    const away = fed.then(() => void this.#away.delete(away));
    this.#away.add(away);
  }

  #grow(state: PartialState): void {
    const latest = this.#latest;
    if (latest !== undefined && state.events < latest.events && state.trace !== latest.trace)
      return;
    this.#latest = state;
    if (this.#clock.now() - this.#reportedMs >= REPORT_MS) this.#report();
  }

  #report(): void {
    if (this.#latest === undefined || this.#schema === undefined) return;
    this.#reportedMs = this.#clock.now();
    this.state = this.#latest;
    this.#onMore();
  }

  /** The keys by which stacks are colored, if there are new ones. */
  #newSites(): StackSites | undefined {
    const { now } = this.#clock;
    const startMs = now();
    const schema = this.#schema;
    if (schema === undefined || startMs < this.#stacks.nextMs) return undefined;
    if (schema.frames.stackCount <= this.#stacks.count) return undefined;
    const source = { strings: schema.machine.strings, ...schema.frames.finish() };
    const sites = sitesOfStacks(source, new StackReader(source));
    const nextMs = now() + (now() - startMs) * STACKS_PAUSE;
    this.#stacks = { count: source.stacks.length, nextMs };
    return sites;
  }
}
