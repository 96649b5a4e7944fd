/**
 * The five counters over the events: their values every 64 events, and between those the change that
 * each event makes. Four changes follow from the event itself (an alloc adds its block's bytes); where
 * an event contradicts the state and they do not, the difference is kept aside. The change of inactive
 * split depends on which ranges merged, so it has a column: in units of 512 bytes, which every native
 * block and segment is a multiple of, and as float64 only where it is not (pinned memory).
 */
import { lowerBound } from '../../base/binary-search.ts';
import { enlarged } from '../../base/growable.ts';
import { type EventTable, TraceAction } from '../../format/snapshot/tables.ts';
import { MIN_BLOCK_BYTES } from './rounding.ts';
import {
  type AllocationTable,
  COUNTER_NAMES,
  type CounterName,
  type Counters,
  type Peak,
  type PerCounter,
  perCounter,
} from './types.ts';

const STEP_BITS = 6;
const STEP = 1 << STEP_BITS;

/** Counters whose changes follow from the events. */
type RegularCounter = Exclude<CounterName, 'inactiveSplitBytes'>;
/** Counters that blocks change. */
type BlockCounter = 'requestedBytes' | 'allocatedBytes' | 'activeBytes';

/** What the counters are read from; sizes of segment events alone. */
export interface CountedEvents extends Pick<EventTable, 'length' | 'action'> {
  readonly sizeBytes: ArrayLike<number>;
}

/** What the replay counted, for {@link CounterReader}. */
export interface CounterLog {
  readonly checkpoints: PerCounter<Float64Array>;
  readonly splitDeltas: Int32Array | Float64Array;
  readonly corrections: Corrections;
  readonly falls: Falls;
}

/** Where a block's bytes leave the counters. They differ in recordings without whole kinds (skip_actions). */
export interface Falls {
  /** free_requested; or free_completed where free_requested is not recorded. */
  readonly allocated: TraceAction;
  /** free_completed; or free_requested where free_completed is not recorded. */
  readonly active: TraceAction;
}

/** For irregular events, in order: the change that does not follow from the event. */
interface Corrections {
  readonly events: Int32Array;
  readonly changes: { readonly [K in RegularCounter]: Float64Array };
}

/** Counts while the trace is replayed: set the fields, then call `before` and `after` around each event. */
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
  readonly #corrections: { readonly [K in RegularCounter]: number[] } = {
    requestedBytes: [],
    allocatedBytes: [],
    activeBytes: [],
    reservedBytes: [],
  };
  #splitDeltas: Int32Array | Float64Array = new Int32Array(0);
  #splitBefore = 0;

  /** Makes room for so many events in all. */
  reserve(events: number): void {
    const checkpoints = checkpointsFor(events);
    for (const name of COUNTER_NAMES) checkpoints[name].set(this.#checkpoints[name]);
    this.#checkpoints = checkpoints;
    this.#splitDeltas = enlarged(this.#splitDeltas, events);
  }

  now(): Counters {
    const { requestedBytes, allocatedBytes, activeBytes, reservedBytes, inactiveSplitBytes } = this;
    return { requestedBytes, allocatedBytes, activeBytes, reservedBytes, inactiveSplitBytes };
  }

  /** The state before `event`: a checkpoint when one is due. */
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

  /** Peaks of requested, allocated and active bytes, which only an alloc raises. */
  raiseBlocks(event: number): void {
    this.#raise(0, this.requestedBytes, event);
    this.#raise(1, this.allocatedBytes, event);
    this.#raise(2, this.activeBytes, event);
  }

  /** Peak of reserved bytes, which only a segment raises. */
  raiseReserved(event: number): void {
    this.#raise(3, this.reservedBytes, event);
  }

  after(event: number): void {
    const delta = this.inactiveSplitBytes - this.#splitBefore;
    if (delta === 0) return;
    this.#keepSplitDelta(event, delta);
    this.#raise(4, this.inactiveSplitBytes, event);
  }

  /** Where the peaks start from. */
  beforeTrace(): void {
    this.raiseBlocks(-1);
    this.raiseReserved(-1);
    this.#raise(4, this.inactiveSplitBytes, -1);
  }

  /** Keeps what an event changed beyond what follows from it; events not decreasing. */
  correct(event: number, change: { readonly [K in RegularCounter]?: number }): void {
    this.#corrected.push(event);
    this.#corrections.requestedBytes.push(change.requestedBytes ?? 0);
    this.#corrections.allocatedBytes.push(change.allocatedBytes ?? 0);
    this.#corrections.activeBytes.push(change.activeBytes ?? 0);
    this.#corrections.reservedBytes.push(change.reservedBytes ?? 0);
  }

  /**
   * Keeps all that `mend` changes as an event's correction.
   * @param releasedBytes what the event takes off the reserved bytes by itself: not counted twice
   */
  correctAll(event: number, releasedBytes: number, mend: () => void): void {
    const was = this.now();
    mend();
    this.correct(event, {
      requestedBytes: this.requestedBytes - was.requestedBytes,
      allocatedBytes: this.allocatedBytes - was.allocatedBytes,
      activeBytes: this.activeBytes - was.activeBytes,
      reservedBytes: this.reservedBytes - was.reservedBytes + releasedBytes,
    });
  }

  peaks(): PerCounter<Peak> {
    return perCounter((_, i) => ({ bytes: this.#peaks[i], event: this.#peakEvents[i] }));
  }

  finish(falls: Falls): CounterLog {
    const { requestedBytes, allocatedBytes, activeBytes, reservedBytes } = this.#corrections;
    return {
      checkpoints: this.#checkpoints,
      splitDeltas: this.#splitDeltas,
      corrections: {
        events: Int32Array.from(this.#corrected),
        changes: {
          requestedBytes: Float64Array.from(requestedBytes),
          allocatedBytes: Float64Array.from(allocatedBytes),
          activeBytes: Float64Array.from(activeBytes),
          reservedBytes: Float64Array.from(reservedBytes),
        },
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

/** Bytes asked for count as 0 where they are not known. */
export function knownBytes(bytes: number): number {
  return Number.isNaN(bytes) ? 0 : bytes;
}

/** Read access to the counters after any event. */
export class CounterReader {
  readonly #log: CounterLog;
  readonly #events: CountedEvents;
  readonly #allocations: AllocationTable;
  readonly #allocationOfEvent: Int32Array;
  readonly #scratch = new Float64Array(STEP);

  constructor(
    log: CounterLog,
    events: CountedEvents,
    allocations: AllocationTable,
    allocationOfEvent: Int32Array,
  ) {
    this.#log = log;
    this.#events = events;
    this.#allocations = allocations;
    this.#allocationOfEvent = allocationOfEvent;
  }

  /** Counters after `event`; -1 is before the trace, and past the end is the end. */
  at(event: number): Counters {
    const last = Math.min(event, this.#events.length - 1);
    return perCounter((name) => this.#valueAt(name, last));
  }

  /** out[i] is the counter after event from + i. */
  fill(name: CounterName, from: number, out: Float64Array): void {
    if (name === 'inactiveSplitBytes') this.#fillChanges(from, out, this.#log.splitDeltas);
    else if (name === 'reservedBytes') this.#fillReserved(from, out);
    else this.#fillBlocks(name, from, out);
    let bytes = this.#valueAt(name, from - 1);
    for (let i = 0; i < out.length; i++) {
      bytes += out[i];
      out[i] = bytes;
    }
  }

  #valueAt(name: CounterName, event: number): number {
    const next = event + 1;
    const first = next & ~(STEP - 1);
    const start = this.#log.checkpoints[name][next >>> STEP_BITS];
    if (first === next) return start;
    const changes = this.#scratch.subarray(0, next - first);
    if (name === 'inactiveSplitBytes') this.#fillChanges(first, changes, this.#log.splitDeltas);
    else if (name === 'reservedBytes') this.#fillReserved(first, changes);
    else this.#fillBlocks(name, first, changes);
    return changes.reduce((bytes, change) => bytes + change, start);
  }

  #fillChanges(from: number, out: Float64Array, deltas: Int32Array | Float64Array): void {
    const scale = deltas instanceof Int32Array ? MIN_BLOCK_BYTES : 1;
    for (let i = 0; i < out.length; i++) out[i] = deltas[from + i] * scale;
  }

  #fillReserved(from: number, out: Float64Array): void {
    const { action, sizeBytes } = this.#events;
    for (let i = 0, t = from; i < out.length; i++, t++) {
      const a = action[t];
      if (a === TraceAction.SegmentAlloc || a === TraceAction.SegmentMap) out[i] = sizeBytes[t];
      else if (a === TraceAction.SegmentFree || a === TraceAction.SegmentUnmap)
        out[i] = -sizeBytes[t];
      else out[i] = 0;
    }
    this.#addCorrections('reservedBytes', from, out);
  }

  #fillBlocks(name: BlockCounter, from: number, out: Float64Array): void {
    const { action } = this.#events;
    const rows = this.#allocationOfEvent;
    const { requestedBytes, sizeBytes } = this.#allocations;
    const isRequested = name === 'requestedBytes';
    const bytes = isRequested ? requestedBytes : sizeBytes;
    const { falls } = this.#log;
    const fallsAt = name === 'allocatedBytes' ? falls.allocated : falls.active;
    for (let i = 0, t = from; i < out.length; i++, t++) {
      const a = action[t];
      const sign = a === TraceAction.Alloc ? 1 : a === fallsAt ? -1 : 0;
      const row = rows[t];
      out[i] = sign === 0 || row < 0 ? 0 : sign * bytes[row];
      if (isRequested) out[i] = knownBytes(out[i]);
    }
    this.#addCorrections(name, from, out);
  }

  #addCorrections(name: RegularCounter, from: number, out: Float64Array): void {
    const { events, changes } = this.#log.corrections;
    for (let i = lowerBound(events, from); events[i] < from + out.length; i++) {
      out[events[i] - from] += changes[name][i];
    }
  }
}
