/**
 * A file that can be seen while it is read: has its events replayed as they are decoded, and answers
 * frames and hovers about what there is of them.
 */

import type { Counters } from '../../allocator/replay/types.ts';
import { abortError } from '../../base/errors.ts';
import type { Clock } from '../../base/task.ts';
import type { HitResult } from '../../device/model/allocation-details.ts';
import type { Crosshair } from '../../device/model/events.ts';
import { stackKind } from '../../device/model/stacks.ts';
import type { LiveAllocation, TraceState } from '../../draw/partial/live-traces.ts';
import type { TimelineFrame } from '../../draw/timeline/types.ts';
import type { ReadMoment } from '../../format/input/types.ts';
import type { SnapshotSchema } from '../../format/snapshot/schema.ts';
import { SnapshotSoFar } from '../../format/snapshot/snapshot-so-far.ts';
import { ACTION_NAMES, type EventIndex, type Snapshot } from '../../format/snapshot/tables.ts';
import type { HitRequest, PixelInfo } from '../handlers/raster.ts';
import type { FrameRequest } from '../timeline-renderer.ts';
import { EventFeed, type GrownReplay } from './event-feed.ts';
import type { Replayer } from './replayer.ts';
import { StacksSoFar } from './stacks-so-far.ts';

/** Between two pictures. One that is drawn in this thread takes its time from the reader. */
const REPORT_BESIDE_MS = 350;
const REPORT_HERE_MS = 480;
/** When no more has come for so long, all that has come is shown. */
const STALL_MS = 300;

/** How much of a file there is to see. */
export interface GrowthInfo extends TraceState {
  readonly hasTime: boolean;
}

export class GrowingFile {
  readonly #clock: Clock;
  readonly #replayer: Replayer;
  readonly #feed: EventFeed;
  readonly #onGrown: () => void;
  /** Undefined once it is closed. */
  #soFar: SnapshotSoFar | undefined;
  /** Of the trace that is shown. */
  #state: TraceState | undefined;
  #info: GrowthInfo | undefined;
  #stall: ReturnType<typeof setTimeout> | undefined;
  #reportedMs = Number.NEGATIVE_INFINITY;
  readonly #stacks: StacksSoFar;
  #drawing: Promise<unknown> | undefined;
  #asked = 0;

  /** @param onGrown there is more to see: `info` has changed */
  constructor(schema: SnapshotSchema, clock: Clock, replayer: Replayer, onGrown: () => void) {
    this.#soFar = new SnapshotSoFar(schema);
    this.#clock = clock;
    this.#replayer = replayer;
    this.#onGrown = onGrown;
    this.#stacks = new StacksSoFar(clock);
    this.#feed = new EventFeed(replayer, (state) => this.#grow(state));
  }

  /** What may be asked about; undefined while that is nothing. */
  get info(): GrowthInfo | undefined {
    return this.#info;
  }

  /** For ReadOptions.onRead. */
  onRead(moment: ReadMoment): void {
    // One thread has no time to replay what has to be replayed anew.
    const isInVain = !this.#replayer.isBeside && this.#state?.isExact === false;
    if (isInVain || this.#soFar === undefined) return;
    this.#feed.take(this.#soFar, moment, this.#clock.now());
    clearTimeout(this.#stall);
    if (!moment.isEnd) this.#stall = setTimeout(() => void this.#catchUp(moment), STALL_MS);
  }

  /** Shows all that has been read, of a file that is read no further. */
  async settle(): Promise<void> {
    await this.#feed.settled();
    this.#report();
  }

  /** The replays that are done; for each device undefined where its is not. */
  async finish(snapshot: Snapshot): Promise<readonly (GrownReplay | undefined)[]> {
    try {
      return await this.#feed.finish(snapshot);
    } catch {
      // The worker died or was closed: then it is replayed here.
      return [];
    }
  }

  /** It is not read any more, or read to its end: nothing may be asked. */
  close(): void {
    clearTimeout(this.#stall);
    this.#replayer.close();
    this.#soFar = undefined;
  }

  /** The newest wins: one that waits rejects with an AbortError. */
  async frame(request: FrameRequest): Promise<TimelineFrame> {
    const asked = ++this.#asked;
    while (this.#drawing !== undefined) await this.#drawing.catch(() => undefined);
    if (asked !== this.#asked) throw abortError('A newer frame was asked for');
    const soFar = this.#open();
    const { deviceIndex: trace, viewport, palette, lines } = request;
    const sites = this.#stacks.takeSites(soFar);
    const drawing = this.#replayer.frame({ trace, viewport, palette, lines, sites });
    this.#drawing = drawing;
    return drawing.finally(() => {
      this.#drawing = undefined;
    });
  }

  async hit(request: HitRequest): Promise<PixelInfo<HitResult>> {
    const soFar = this.#open();
    const { deviceIndex: trace, state, bytesFrom, bytesTo } = request;
    const { counters, allocation } = await this.#replayer.hit({ trace, state, bytesFrom, bytesTo });
    const crosshair = this.#crosshair(soFar, trace, state, counters);
    if (allocation === undefined) return { hit: undefined, crosshair };
    return { hit: this.#describe(soFar, trace, allocation, state), crosshair };
  }

  async crosshair(trace: number, event: EventIndex): Promise<Crosshair> {
    const soFar = this.#open();
    // Nothing lies between 0 and 0: the counters alone are wanted.
    const { counters } = await this.#replayer.hit({
      trace,
      state: event,
      bytesFrom: 0,
      bytesTo: 0,
    });
    return this.#crosshair(soFar, trace, event, counters);
  }

  /** Hands over all that has been read when no more comes. */
  async #catchUp(moment: ReadMoment): Promise<void> {
    if (this.#soFar === undefined) return;
    this.#feed.take(this.#soFar, { ...moment, isEnd: true }, this.#clock.now());
    await this.settle();
  }

  #grow(state: TraceState): void {
    const isShown = this.#state === undefined || state.events >= this.#state.events;
    if (!isShown && state.trace !== this.#state?.trace) return;
    this.#state = state;
    const pauseMs = this.#replayer.isBeside ? REPORT_BESIDE_MS : REPORT_HERE_MS;
    if (this.#clock.now() - this.#reportedMs >= pauseMs) this.#report();
  }

  #report(): void {
    if (this.#state === undefined || this.#soFar === undefined) return;
    this.#reportedMs = this.#clock.now();
    const hasTime = this.#soFar.events().timeUs !== undefined;
    this.#info = { ...this.#state, hasTime };
    this.#onGrown();
  }

  #open(): SnapshotSoFar {
    if (this.#soFar === undefined) throw abortError('The file is not read any more');
    return this.#soFar;
  }

  #describe(
    soFar: SnapshotSoFar,
    trace: number,
    allocation: LiveAllocation,
    state: EventIndex,
  ): HitResult {
    const { count, row, sizeBytes, requestedBytes, start, stack } = allocation;
    return {
      ...{ count, allocation: row, blockBytes: sizeBytes, requestedBytes },
      label: `b${soFar.addresses.toHex(allocation.address)}_${allocation.earlier}`,
      ageEvents: state - start,
      ageUs: this.#timeUs(soFar, trace, state) - this.#timeUs(soFar, trace, start),
      pending: allocation.freeRequested <= state,
      stackKind: stackKind(stack, false),
      topFrame: this.#stacks.readerOf(soFar, stack).topUserFrameView(stack),
      totalBytes: allocation.totalBytes,
      bottomBytes: allocation.bottomBytes,
    };
  }

  #crosshair(
    soFar: SnapshotSoFar,
    trace: number,
    event: EventIndex,
    counters: Counters,
  ): Crosshair {
    const action = soFar.events().action[this.#firstOf(trace) + event];
    return {
      event,
      action: action === undefined ? '' : (ACTION_NAMES[action] ?? ''),
      timeUs: this.#timeUs(soFar, trace, event),
      counters,
    };
  }

  #timeUs(soFar: SnapshotSoFar, trace: number, event: EventIndex): number {
    const { timeUs } = soFar.events();
    const first = this.#firstOf(trace);
    return (timeUs?.[first + event] ?? Number.NaN) - (timeUs?.[first] ?? Number.NaN);
  }

  #firstOf(trace: number): number {
    return this.#feed.firstOf(trace);
  }
}
