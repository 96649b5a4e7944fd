/**
 * The five counters over the events: their values every 64 events, and between those the change that
 * each event makes. Four changes follow from the event itself (an alloc adds its block's bytes); where
 * an event contradicts the state and they do not, the difference is kept aside. The change of inactive
 * split depends on which ranges merged, so it has a column: in units of 512 bytes, which every native
 * block and segment is a multiple of, and as float64 only where it is not (pinned memory).
 */
import { type EventTable, TraceAction } from '../snapshot/tables.ts';
import type { AllocationTable, CounterName, Counters, Peak } from './types.ts';

const STEP_BITS = 6;
const STEP = 1 << STEP_BITS;
const UNIT = 512;

export const COUNTER_NAMES = [
  'requestedBytes',
  'allocatedBytes',
  'activeBytes',
  'reservedBytes',
  'inactiveSplitBytes',
] as const satisfies readonly CounterName[];

type Columns = { readonly [K in CounterName]: Float64Array };

/** What the replay counted, for {@link CounterReader}. */
export interface CounterLog {
  readonly checkpoints: Columns;
  readonly splitDeltas: Int32Array | Float64Array;
  /** For irregular events: the change that does not follow from the event. */
  readonly corrections: ReadonlyMap<number, Counters>;
}

/** Counts while the trace is replayed: set the fields, then call `before` and `after` around each event. */
export class CounterRecorder {
  requestedBytes = 0;
  allocatedBytes = 0;
  activeBytes = 0;
  reservedBytes = 0;
  inactiveSplitBytes = 0;
  readonly #checkpoints: Columns;
  readonly #peaks = new Float64Array(COUNTER_NAMES.length);
  readonly #peakEvents = new Int32Array(COUNTER_NAMES.length).fill(-1);
  readonly #corrections = new Map<number, Counters>();
  #splitDeltas: Int32Array | Float64Array;
  #splitBefore = 0;

  constructor(events: number) {
    const column = () => new Float64Array((events >>> STEP_BITS) + 1);
    this.#checkpoints = {
      requestedBytes: column(),
      allocatedBytes: column(),
      activeBytes: column(),
      reservedBytes: column(),
      inactiveSplitBytes: column(),
    };
    this.#splitDeltas = new Int32Array(events);
  }

  now(): Counters {
    const { requestedBytes, allocatedBytes, activeBytes, reservedBytes, inactiveSplitBytes } = this;
    return { requestedBytes, allocatedBytes, activeBytes, reservedBytes, inactiveSplitBytes };
  }

  /** The state before `event`: a checkpoint when one is due. */
  before(event: number): void {
    this.#splitBefore = this.inactiveSplitBytes;
    if ((event & (STEP - 1)) !== 0) return;
    for (const name of COUNTER_NAMES) this.#checkpoints[name][event >>> STEP_BITS] = this[name];
  }

  after(event: number): void {
    const delta = this.inactiveSplitBytes - this.#splitBefore;
    if (delta !== 0) this.#keepSplitDelta(event, delta);
    this.raisePeaks(event);
  }

  /** Event -1 stands for the state before the trace. */
  raisePeaks(event: number): void {
    this.#raise(0, this.requestedBytes, event);
    this.#raise(1, this.allocatedBytes, event);
    this.#raise(2, this.activeBytes, event);
    this.#raise(3, this.reservedBytes, event);
    this.#raise(4, this.inactiveSplitBytes, event);
  }

  correct(event: number, change: Counters): void {
    this.#corrections.set(event, change);
  }

  peaks(): { readonly [K in CounterName]: Peak } {
    const peak = (i: number): Peak => ({ bytes: this.#peaks[i], event: this.#peakEvents[i] });
    return {
      requestedBytes: peak(0),
      allocatedBytes: peak(1),
      activeBytes: peak(2),
      reservedBytes: peak(3),
      inactiveSplitBytes: peak(4),
    };
  }

  finish(): CounterLog {
    return {
      checkpoints: this.#checkpoints,
      splitDeltas: this.#splitDeltas,
      corrections: this.#corrections,
    };
  }

  #raise(counter: number, bytes: number, event: number): void {
    if (bytes > this.#peaks[counter]) {
      this.#peaks[counter] = bytes;
      this.#peakEvents[counter] = event;
    }
  }

  #keepSplitDelta(event: number, delta: number): void {
    const units = delta / UNIT;
    if (this.#splitDeltas instanceof Int32Array && (units | 0) !== units) {
      this.#splitDeltas = Float64Array.from(this.#splitDeltas, (u) => u * UNIT);
    }
    this.#splitDeltas[event] = this.#splitDeltas instanceof Int32Array ? units : delta;
  }
}

/** Change of one counter at each event, as far as it follows from the event alone. */
export function regularChange(
  name: CounterName,
  event: number,
  events: EventTable,
  allocations: Pick<AllocationTable, 'sizeBytes' | 'requestedBytes'>,
  allocation: number,
): number {
  const action = events.action[event];
  if (name === 'reservedBytes') {
    if (action === TraceAction.SegmentAlloc || action === TraceAction.SegmentMap)
      return events.sizeBytes[event];
    if (action === TraceAction.SegmentFree || action === TraceAction.SegmentUnmap)
      return -events.sizeBytes[event];
    return 0;
  }
  if (allocation < 0 || name === 'inactiveSplitBytes') return 0;
  const bytes =
    name === 'requestedBytes'
      ? knownBytes(allocations.requestedBytes[allocation])
      : allocations.sizeBytes[allocation];
  if (action === TraceAction.Alloc) return bytes;
  const falls = name === 'allocatedBytes' ? TraceAction.FreeRequested : TraceAction.FreeCompleted;
  return action === falls ? -bytes : 0;
}

/** Bytes asked for count as 0 where they are not known. */
export function knownBytes(bytes: number): number {
  return Number.isNaN(bytes) ? 0 : bytes;
}

/** Read access to the counters after any event. */
export class CounterReader {
  readonly #log: CounterLog;
  readonly #events: EventTable;
  readonly #allocations: AllocationTable;
  readonly #allocationOfEvent: Int32Array;

  constructor(
    log: CounterLog,
    events: EventTable,
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
    return {
      requestedBytes: this.#valueAt('requestedBytes', last),
      allocatedBytes: this.#valueAt('allocatedBytes', last),
      activeBytes: this.#valueAt('activeBytes', last),
      reservedBytes: this.#valueAt('reservedBytes', last),
      inactiveSplitBytes: this.#valueAt('inactiveSplitBytes', last),
    };
  }

  fill(name: CounterName, from: number, out: Float64Array): void {
    let bytes = this.#valueAt(name, from - 1);
    for (let i = 0; i < out.length; i++) {
      bytes += this.#change(name, from + i);
      out[i] = bytes;
    }
  }

  #valueAt(name: CounterName, event: number): number {
    const next = event + 1;
    let bytes = this.#log.checkpoints[name][next >>> STEP_BITS];
    for (let t = next & ~(STEP - 1); t < next; t++) bytes += this.#change(name, t);
    return bytes;
  }

  #change(name: CounterName, event: number): number {
    if (name === 'inactiveSplitBytes') {
      const { splitDeltas } = this.#log;
      return splitDeltas instanceof Int32Array ? splitDeltas[event] * UNIT : splitDeltas[event];
    }
    const { corrections } = this.#log;
    const correction = corrections.size > 0 ? (corrections.get(event)?.[name] ?? 0) : 0;
    const allocation = this.#allocationOfEvent[event];
    return regularChange(name, event, this.#events, this.#allocations, allocation) + correction;
  }
}
