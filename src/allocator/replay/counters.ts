/**
 * The counters over the events. Bytes of blocks follow from the allocations: their values every 64 events, and in between
 * what each event allocates and frees. Reserved bytes follow from the segments. The change of inactive split depends on
 * which ranges merged, so it has a column: in units of 512 bytes (every native block and segment is a multiple of these),
 * and as float64 only where that fails (pinned memory).
 */
import { upperBound } from '../../base/binary-search.ts';
import { addUp } from '../../base/collections.ts';
import { enlarged } from '../../base/growable.ts';
import type { EventIndex } from '../../format/snapshot/tables.ts';
import { MIN_BLOCK_BYTES } from './rounding.ts';
import { endsWithoutFree } from './trace-events.ts';
import {
  BEFORE_TRACE,
  COUNTER_NAMES,
  type CounterName,
  NEVER,
  type Peak,
  type PerCounter,
  perCounter,
  type Replay,
  type SegmentSpanTable,
} from './types.ts';

const STEP_BITS = 6;
const STEP = 1 << STEP_BITS;

/** What the replay recorded for {@link counterReader}. */
export interface CounterLog {
  readonly checkpoints: PerCounter<Float64Array>;
  readonly splitDeltas: Int32Array | Float64Array;
}

/** Counts during replay: set the fields, and call `before` and `after` around each event. */
export class CounterRecorder {
  requestedBytes = 0;
  allocatedBytes = 0;
  activeBytes = 0;
  reservedBytes = 0;
  inactiveSplitBytes = 0;
  #checkpoints = checkpointsFor(0);
  #splitDeltas: Int32Array | Float64Array = new Int32Array(0);
  readonly #peaks = new Float64Array(COUNTER_NAMES.length);
  readonly #peakEvents = new Int32Array(COUNTER_NAMES.length).fill(-1);
  #splitBefore = 0;

  reserve(events: number): void {
    const checkpoints = checkpointsFor(events);
    for (const name of COUNTER_NAMES) checkpoints[name].set(this.#checkpoints[name]);
    this.#checkpoints = checkpoints;
    this.#splitDeltas = enlarged(this.#splitDeltas, events);
  }

  get log(): CounterLog {
    return { checkpoints: this.#checkpoints, splitDeltas: this.#splitDeltas };
  }

  now(): PerCounter<number> {
    const { requestedBytes, allocatedBytes, activeBytes, reservedBytes, inactiveSplitBytes } = this;
    return { requestedBytes, allocatedBytes, activeBytes, reservedBytes, inactiveSplitBytes };
  }

  /** Records the state before `event`: a checkpoint when one is due. */
  before(event: number): void {
    this.#splitBefore = this.inactiveSplitBytes;
    if ((event & (STEP - 1)) !== 0) return;
    const row = event >>> STEP_BITS;
    this.#checkpoints.requestedBytes[row] = this.requestedBytes;
    this.#checkpoints.allocatedBytes[row] = this.allocatedBytes;
    this.#checkpoints.activeBytes[row] = this.activeBytes;
    this.#checkpoints.reservedBytes[row] = this.reservedBytes;
    this.#checkpoints.inactiveSplitBytes[row] = this.inactiveSplitBytes;
  }

  /** Raises the peaks of requested, allocated and active bytes. Call it after allocs only. */
  raiseBlocks(event: number): void {
    this.#raise(0, this.requestedBytes, event);
    this.#raise(1, this.allocatedBytes, event);
    this.#raise(2, this.activeBytes, event);
  }

  /** Raises the peak of reserved bytes. Call it after new segments only. */
  raiseReserved(event: number): void {
    this.#raise(3, this.reservedBytes, event);
  }

  after(event: number): void {
    const delta = this.inactiveSplitBytes - this.#splitBefore;
    if (delta === 0) return;
    this.#keepSplitDelta(event, delta);
    this.#raise(4, this.inactiveSplitBytes, event);
  }

  beforeTrace(): void {
    this.raiseBlocks(-1);
    this.raiseReserved(-1);
    this.#raise(4, this.inactiveSplitBytes, -1);
  }

  peaks(): PerCounter<Peak> {
    return perCounter((_, i) => ({ bytes: this.#peaks[i], event: this.#peakEvents[i] }));
  }

  #raise(counter: number, bytes: number, event: number): void {
    if (bytes > this.#peaks[counter]) {
      this.#peaks[counter] = bytes;
      this.#peakEvents[counter] = event;
    }
  }

  #keepSplitDelta(event: number, delta: number): void {
    const units = delta / MIN_BLOCK_BYTES;
    if (this.#splitDeltas instanceof Int32Array && (units | 0) !== units) {
      this.#splitDeltas = Float64Array.from(this.#splitDeltas, (u) => u * MIN_BLOCK_BYTES);
    }
    this.#splitDeltas[event] = this.#splitDeltas instanceof Int32Array ? units : delta;
  }
}

function checkpointsFor(events: number): PerCounter<Float64Array> {
  return perCounter(() => new Float64Array((events >>> STEP_BITS) + 1));
}

/** Unknown requested bytes (NaN) count as 0. */
export function knownBytes(bytes: number): number {
  return Number.isNaN(bytes) ? 0 : bytes;
}

/** Reserved bytes as steps where segments change. */
export class ReservedSteps {
  /** Ascending; `bytes[i]` holds from the state after events[i] to the next. events[0] is {@link BEFORE_TRACE}. */
  readonly events: readonly EventIndex[];
  readonly bytes: readonly number[];

  constructor({ start, end, sizeBytes, length }: SegmentSpanTable) {
    const changes = new Map<EventIndex, number>([[BEFORE_TRACE, 0]]);
    for (let span = 0; span < length; span++) {
      addUp(changes, start[span], sizeBytes[span]);
      if (end[span] !== NEVER) addUp(changes, end[span], -sizeBytes[span]);
    }
    const steps = [...changes].sort(([a], [b]) => a - b);
    let now = 0;
    this.events = steps.map(([event]) => event);
    this.bytes = steps.map(([, bytes]) => {
      now += bytes;
      return now;
    });
  }

  /** Bytes reserved after an event. {@link BEFORE_TRACE} gives those that were there before. */
  after(event: EventIndex): number {
    return this.bytes[upperBound(this.events, event) - 1];
  }

  /** Sets out[i] to the bytes after event from + i. */
  fill(from: EventIndex, out: Float64Array): void {
    let step = upperBound(this.events, from) - 1;
    for (let i = 0; i < out.length; i++) {
      if (this.events[step + 1] === from + i) step++;
      out[i] = this.bytes[step];
    }
  }
}

type CountedReplay = Pick<Replay, 'allocations' | 'allocationOfEvent' | 'anomalyCount'>;

/** Returns a function that sets out[i] to the change of a counter of blocks at event from + i. */
export function blockChanges(
  replay: CountedReplay,
  name: 'requestedBytes' | 'allocatedBytes' | 'activeBytes',
): (from: EventIndex, out: Float64Array) => void {
  const { allocations, allocationOfEvent, anomalyCount } = replay;
  const fallsAt = name === 'allocatedBytes' ? 'freeRequested' : 'end';
  const { start, [fallsAt]: end } = allocations;
  const bytes = name === 'requestedBytes' ? allocations.requestedBytes : allocations.sizeBytes;
  const unfreed = anomalyCount > 0 ? endsWithoutFree(replay, fallsAt) : undefined;
  return (from, out) => {
    for (let i = 0, t = from; i < out.length; i++, t++) {
      const row = allocationOfEvent[t];
      out[i] = 0;
      if (row < 0) continue;
      if (start[row] === t) out[i] = knownBytes(bytes[row]);
      else if (end[row] === t) out[i] = -knownBytes(bytes[row]);
    }
    if (unfreed === undefined || unfreed.size === 0) return;
    for (let i = 0; i < out.length; i++) {
      for (const row of unfreed.get(from + i) ?? []) out[i] -= knownBytes(bytes[row]);
    }
  };
}

/** Reads the counters after any event; see {@link Replay}. */
export function counterReader(
  { checkpoints, splitDeltas }: CounterLog,
  replay: CountedReplay,
  spans: SegmentSpanTable,
): Pick<Replay, 'countersAt' | 'fillCounter'> {
  const { length } = replay.allocationOfEvent;
  const scratch = new Float64Array(STEP);
  const reserved = new ReservedSteps(spans);
  const changes = perCounter((name) => {
    if (name === 'reservedBytes') return undefined;
    if (name !== 'inactiveSplitBytes') return blockChanges(replay, name);
    const scale = splitDeltas instanceof Int32Array ? MIN_BLOCK_BYTES : 1;
    return (from: EventIndex, out: Float64Array) => {
      for (let i = 0; i < out.length; i++) out[i] = splitDeltas[from + i] * scale;
    };
  });

  function valueAt(name: CounterName, event: EventIndex): number {
    const fill = changes[name];
    if (fill === undefined) return reserved.after(event);
    const next = event + 1;
    const first = next & ~(STEP - 1);
    const since = scratch.subarray(0, next - first);
    fill(first, since);
    return since.reduce((sum, change) => sum + change, checkpoints[name][next >>> STEP_BITS]);
  }

  return {
    countersAt(event) {
      const last = Math.min(event, length - 1);
      return perCounter((name) => valueAt(name, last));
    },
    fillCounter(name, from, out) {
      const fill = changes[name];
      if (fill === undefined) {
        reserved.fill(from, out);
        return;
      }
      let bytes = valueAt(name, from - 1);
      fill(from, out);
      for (let i = 0; i < out.length; i++) {
        bytes += out[i];
        out[i] = bytes;
      }
    },
  };
}
