/**
 * The five counters over the events: their values every 64 events, and the change at each event in between. Four
 * changes follow from the event itself (an alloc adds its block's bytes). If an event contradicts the state and they do
 * not, the difference is stored separately. The change of inactive split depends on which ranges merged, so it has a
 * column: in units of 512 bytes, of which every native block and segment is a multiple, and as float64 only where that
 * fails (pinned memory).
 */
import { lowerBound } from '../../base/binary-search.ts';
import { enlarged } from '../../base/growable.ts';
import { type EventTable, TraceAction } from '../../format/snapshot/tables.ts';
import { MIN_BLOCK_BYTES } from './rounding.ts';
import {
  type AllocationTable,
  COUNTER_NAMES,
  type CounterName,
  type Peak,
  type PerCounter,
  perCounter,
  type Replay,
} from './types.ts';

const STEP_BITS = 6;
const STEP = 1 << STEP_BITS;

type RegularCounter = Exclude<CounterName, 'inactiveSplitBytes'>;
type BlockCounter = 'requestedBytes' | 'allocatedBytes' | 'activeBytes';

/** The events that the counters are read from. Only segment events need sizes. */
export interface CountedEvents extends Pick<EventTable, 'length' | 'action'> {
  readonly sizeBytes: ArrayLike<number>;
}

/** What the replay recorded for {@link counterReader}. */
export interface CounterLog {
  readonly checkpoints: PerCounter<Float64Array>;
  readonly splitDeltas: Int32Array | Float64Array;
  readonly corrections: Corrections;
  readonly falls: Falls;
}

/** Events at which a block's bytes leave the counters. They differ in recordings without some kinds (skip_actions). */
export interface Falls {
  /** free_requested, or free_completed if free_requested is not recorded. */
  readonly allocated: TraceAction;
  /** free_completed, or free_requested if free_completed is not recorded. */
  readonly active: TraceAction;
}

/** For irregular events, in order: the part of the change that does not follow from the event. */
interface Corrections {
  readonly events: Int32Array;
  readonly changes: PerRegular<Float64Array>;
}

type PerRegular<V> = { readonly [K in RegularCounter]: V };

const REGULAR = ['requestedBytes', 'allocatedBytes', 'activeBytes', 'reservedBytes'] as const;

const perRegular = <V>(make: (name: RegularCounter) => V): PerRegular<V> =>
  Object.fromEntries(REGULAR.map((name) => [name, make(name)])) as PerRegular<V>;

/** Counts during replay: set the fields, and call `before` and `after` around each event. */
export class CounterRecorder {
  requestedBytes = 0;
  allocatedBytes = 0;
  activeBytes = 0;
  reservedBytes = 0;
  inactiveSplitBytes = 0;
  #checkpoints = checkpointsFor(0);
  readonly #peaks = new Float64Array(COUNTER_NAMES.length);
  readonly #peakEvents = new Int32Array(COUNTER_NAMES.length).fill(-1);
  readonly #corrected: number[] = [];
  readonly #corrections = perRegular((): number[] => []);
  #splitDeltas: Int32Array | Float64Array = new Int32Array(0);
  #splitBefore = 0;

  reserve(events: number): void {
    const checkpoints = checkpointsFor(events);
    for (const name of COUNTER_NAMES) checkpoints[name].set(this.#checkpoints[name]);
    this.#checkpoints = checkpoints;
    this.#splitDeltas = enlarged(this.#splitDeltas, events);
  }

  now(): { -readonly [K in CounterName]: number } {
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

  /** Stores what an event changed beyond its regular effect. Events must not decrease. */
  correct(event: number, change: Partial<PerRegular<number>>): void {
    this.#corrected.push(event);
    for (const name of REGULAR) this.#corrections[name].push(change[name] ?? 0);
  }

  /**
   * Stores everything that `mend` changes as the event's correction.
   * @param releasedBytes what the event itself subtracts from reserved bytes, so that it is not counted twice
   */
  correctAll(event: number, releasedBytes: number, mend: () => void): void {
    const was = this.now();
    mend();
    was.reservedBytes -= releasedBytes;
    this.correct(
      event,
      perRegular((name) => this[name] - was[name]),
    );
  }

  peaks(): PerCounter<Peak> {
    return perCounter((_, i) => ({ bytes: this.#peaks[i], event: this.#peakEvents[i] }));
  }

  finish(falls: Falls): CounterLog {
    return {
      checkpoints: this.#checkpoints,
      splitDeltas: this.#splitDeltas,
      corrections: {
        events: Int32Array.from(this.#corrected),
        changes: perRegular((name) => Float64Array.from(this.#corrections[name])),
      },
      falls,
    };
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

/** Reads the counters after any event; see {@link Replay}. */
export function counterReader(
  { checkpoints, splitDeltas, corrections, falls }: CounterLog,
  { length, action, sizeBytes: segmentBytes }: CountedEvents,
  { requestedBytes, sizeBytes }: AllocationTable,
  allocationOfEvent: Int32Array,
): Pick<Replay, 'countersAt' | 'fillCounter'> {
  const scratch = new Float64Array(STEP);

  function valueAt(name: CounterName, event: number): number {
    const next = event + 1;
    const first = next & ~(STEP - 1);
    const changes = scratch.subarray(0, next - first);
    fillChanges(name, first, changes);
    return changes.reduce((sum, change) => sum + change, checkpoints[name][next >>> STEP_BITS]);
  }

  /** Sets out[i] to the change at event from + i. */
  function fillChanges(name: CounterName, from: number, out: Float64Array): void {
    if (name === 'inactiveSplitBytes') {
      const scale = splitDeltas instanceof Int32Array ? MIN_BLOCK_BYTES : 1;
      for (let i = 0; i < out.length; i++) out[i] = splitDeltas[from + i] * scale;
      return;
    }
    if (name === 'reservedBytes') fillReserved(from, out);
    else fillBlocks(name, from, out);
    const { events, changes } = corrections;
    for (let i = lowerBound(events, from); events[i] < from + out.length; i++) {
      out[events[i] - from] += changes[name][i];
    }
  }

  function fillReserved(from: number, out: Float64Array): void {
    for (let i = 0, t = from; i < out.length; i++, t++) {
      const a = action[t];
      if (a === TraceAction.SegmentAlloc || a === TraceAction.SegmentMap) out[i] = segmentBytes[t];
      else if (a === TraceAction.SegmentFree || a === TraceAction.SegmentUnmap)
        out[i] = -segmentBytes[t];
      else out[i] = 0;
    }
  }

  function fillBlocks(name: BlockCounter, from: number, out: Float64Array): void {
    const isRequested = name === 'requestedBytes';
    const bytes = isRequested ? requestedBytes : sizeBytes;
    const fallsAt = name === 'allocatedBytes' ? falls.allocated : falls.active;
    for (let i = 0, t = from; i < out.length; i++, t++) {
      const a = action[t];
      const sign = a === TraceAction.Alloc ? 1 : a === fallsAt ? -1 : 0;
      const row = allocationOfEvent[t];
      out[i] = sign === 0 || row < 0 ? 0 : sign * bytes[row];
      if (isRequested) out[i] = knownBytes(out[i]);
    }
  }

  return {
    countersAt(event) {
      const last = Math.min(event, length - 1);
      return perCounter((name) => valueAt(name, last));
    },
    fillCounter(name, from, out) {
      fillChanges(name, from, out);
      let bytes = valueAt(name, from - 1);
      for (let i = 0; i < out.length; i++) {
        bytes += out[i];
        out[i] = bytes;
      }
    },
  };
}
