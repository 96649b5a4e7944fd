/**
 * Replays one device's trace. The trace says where each block begins and what was asked for; the free
 * range that begins there, and the allocator's split rule, say how long the block is. So no search for
 * a fit is needed, and the counters come out equal to torch.cuda.memory_stats() to the byte.
 */
import { AddressMap } from '../base/address-map.ts';
import {
  type DeviceTrace,
  type EventIndex,
  type Snapshot,
  TraceAction,
} from '../snapshot/tables.ts';
import { AllocationBuilder, NO_GROUP } from './allocation-builder.ts';
import { CounterReader, CounterRecorder, knownBytes } from './counters.ts';
import { FreeRanges } from './free-ranges.ts';
import { blockBytes, findPreexisting, freeRequestedOf, type Preexisting } from './preexisting.ts';
import { judgeRecording } from './recording.ts';
import {
  type BlockRules,
  blockRules,
  LARGE_PAGE_BYTES,
  SMALL_BYTES,
  SMALL_SEGMENT_BYTES,
  shouldSplit,
} from './rounding.ts';
import { SegmentBook, type SegmentFields } from './segment-book.ts';
import {
  type AllocationIndex,
  type Anomaly,
  BEFORE_TRACE,
  type Counters,
  NEVER,
  type Replay,
} from './types.ts';

/** Anomalies kept with their message; all are counted. */
const MAX_ANOMALIES = 100;
/** After so many, a block outside all free ranges is no longer searched for: the trace is not of this allocator. */
const MAX_SEARCHES = 10_000;

const NOTHING: Preexisting = { blocks: [], segments: [] };

/**
 * Most recordings begin before the first allocation, so that is tried first; it costs half as much. At
 * the first event that contradicts it, or an end that is not the file's, what was there before is
 * worked out and the trace replayed from that.
 * @param settings allocator_settings of the snapshot: they decide rounding and splitting.
 */
export function replayDevice(trace: DeviceTrace, settings: Snapshot['settings']): Replay {
  const rules = blockRules(settings);
  const fromNothing = new DeviceReplay(trace, rules, NOTHING);
  if (trace.events.length > 0 && fromNothing.run(true)) return fromNothing.finish();
  const fromBefore = new DeviceReplay(trace, rules, findPreexisting(trace, rules));
  fromBefore.run(false);
  return fromBefore.finish();
}

class DeviceReplay {
  readonly #trace: DeviceTrace;
  readonly #rules: BlockRules;
  readonly #before: Preexisting;
  readonly #book = new SegmentBook();
  readonly #free = new FreeRanges(this.#book.segmentBytes);
  readonly #counters: CounterRecorder;
  readonly #allocations: AllocationBuilder;
  readonly #allocationOfEvent: Int32Array;
  /** Live and pending allocations by address. */
  readonly #live = new AddressMap();
  /** Row of the final segment table by address, for the pool of segments that are still there at the end. */
  readonly #finalSegments = new AddressMap();
  /** Last event that brought a segment to an address; only where it tells the segment's pool. */
  readonly #lastOpened: AddressMap;
  /** False for a recording that left free_requested out (skip_actions). */
  readonly #hasRequests: boolean;
  readonly #anomalies: Anomaly[] = [];
  #anomalyCount = 0;
  #lastRequested: AllocationIndex = -1;
  #start: Counters = NO_CHANGE;
  #knowsSegments: boolean;

  constructor(trace: DeviceTrace, rules: BlockRules, before: Preexisting) {
    this.#trace = trace;
    this.#rules = rules;
    this.#before = before;
    const { length } = trace.events;
    this.#counters = new CounterRecorder(length);
    this.#allocations = new AllocationBuilder(before.blocks.length, trace.events);
    this.#allocationOfEvent = new Int32Array(length).fill(-1);
    this.#hasRequests = trace.events.action.includes(TraceAction.FreeRequested);
    this.#knowsSegments = trace.segments.length > 0;
    for (let s = 0; s < trace.segments.length; s++) {
      this.#finalSegments.set(trace.segments.address[s], s);
    }
    this.#lastOpened = lastOpened(trace);
  }

  /** Replays all events. With `strict`, gives up (false) at the first anomaly or a wrong end. */
  run(strict: boolean): boolean {
    const counters = this.#counters;
    this.#placePreexisting();
    this.#start = counters.now();
    counters.beforeTrace();
    const { length } = this.#trace.events;
    for (let t = 0; t < length; t++) {
      counters.before(t);
      this.#apply(t);
      counters.inactiveSplitBytes = this.#free.inactiveSplitBytes;
      counters.after(t);
      if (strict && this.#anomalyCount > 0) return false;
    }
    counters.before(length);
    return !strict || this.#endsAsTheFile();
  }

  finish(): Replay {
    const { events } = this.#trace;
    const { table } = this.#allocations;
    const log = this.#counters.finish(
      this.#hasRequests ? TraceAction.FreeRequested : TraceAction.FreeCompleted,
    );
    const reader = new CounterReader(log, events, table, this.#allocationOfEvent);
    const verdict = judgeRecording(this.#trace, this.#before);
    return {
      allocations: table,
      segmentSpans: this.#book.finish(),
      recording: verdict.recording,
      recordingReason: verdict.reason,
      start: this.#start,
      end: this.#counters.now(),
      peaks: this.#counters.peaks(),
      anomalyCount: this.#anomalyCount,
      anomalies: this.#anomalies,
      allocationOfEvent: this.#allocationOfEvent,
      countersAt: (event) => reader.at(event),
      fillCounter: (name, from, out) => reader.fill(name, from, out),
    };
  }

  /** Reserved and active bytes are those of the final segments, where the file has any. */
  #endsAsTheFile(): boolean {
    const { segments } = this.#trace;
    if (segments.length === 0) return true;
    const sum = (column: Float64Array) => column.reduce((total, bytes) => total + bytes, 0);
    const { reservedBytes, activeBytes } = this.#counters;
    return reservedBytes === sum(segments.totalBytes) && activeBytes === sum(segments.activeBytes);
  }

  /** Segments and blocks from before the trace; what lies between the blocks is free. */
  #placePreexisting(): void {
    const blocks = [...this.#before.blocks.entries()].sort(([, a], [, b]) => a.address - b.address);
    const segments = [...this.#before.segments].sort((a, b) => a.address - b.address);
    let next = 0;
    for (const segment of segments) {
      this.#knowsSegments = true;
      const group = this.#book.open(BEFORE_TRACE, segment);
      const end = segment.address + segment.sizeBytes;
      let at = segment.address;
      while (next < blocks.length && blocks[next][1].address < at) next++;
      for (; next < blocks.length && blocks[next][1].address < end; next++) {
        const [row, block] = blocks[next];
        this.#free.add(at, block.address - at, group);
        at = Math.max(at, block.address + block.sizeBytes);
        this.#allocations.setPlace(row, group, segment.isSmall, segment.pool);
      }
      this.#free.add(at, end - at, group);
    }
    this.#before.blocks.forEach((block, row) => {
      this.#allocations.setPreexisting(row, block, freeRequestedOf(block));
      this.#live.set(block.address, row);
      this.#counters.requestedBytes += knownBytes(block.requestedBytes);
      this.#counters.activeBytes += block.sizeBytes;
      if (!block.isPending) this.#counters.allocatedBytes += block.sizeBytes;
    });
    this.#syncSegments();
  }

  #syncSegments(): void {
    this.#counters.reservedBytes = this.#book.reservedBytes;
    this.#counters.inactiveSplitBytes = this.#free.inactiveSplitBytes;
  }

  #apply(t: EventIndex): void {
    switch (this.#trace.events.action[t]) {
      case TraceAction.Alloc:
        this.#alloc(t);
        return;
      case TraceAction.FreeRequested:
        this.#freeRequested(t);
        return;
      case TraceAction.FreeCompleted:
        this.#freeCompleted(t);
        return;
      case TraceAction.SegmentAlloc:
      case TraceAction.SegmentMap:
        this.#openSegment(t);
        return;
      case TraceAction.SegmentFree:
        this.#closeSegment(t);
        return;
      case TraceAction.SegmentUnmap:
        this.#unmap(t);
        return;
      default:
        return;
    }
  }

  #alloc(t: EventIndex): void {
    const { events } = this.#trace;
    const address = events.address[t];
    const row = this.#allocations.add(t, events);
    const stale = this.#live.set(address, row);
    if (stale >= 0) this.#closeStale(stale, row, t);
    const requestedBytes = events.sizeBytes[t];
    let bytes = blockBytes(this.#trace, this.#rules, requestedBytes);
    let range = this.#free.startingAt(address);
    if (range < 0 && this.#knowsSegments) range = this.#makeRange(t, address);
    if (range >= 0) {
      const group = this.#free.group(range);
      const available = this.#free.bytes(range);
      const isSmall = this.#book.isSmall(group);
      if (!shouldSplit(available, bytes, isSmall || group < 0, this.#rules)) bytes = available;
      this.#allocations.setPlace(row, group, isSmall, this.#book.pool(group));
      this.#free.takeFront(range, bytes);
    } else {
      this.#allocations.setPlace(row, NO_GROUP, bytes <= SMALL_BYTES, 0);
    }
    this.#allocations.table.sizeBytes[row] = bytes;
    this.#allocationOfEvent[t] = row;
    const counters = this.#counters;
    counters.requestedBytes += requestedBytes;
    counters.allocatedBytes += bytes;
    counters.activeBytes += bytes;
    counters.raiseBlocks(t);
  }

  #closeStale(stale: AllocationIndex, row: AllocationIndex, t: EventIndex): void {
    const message = 'an alloc where a block is live: its free is not in the trace';
    this.#irregular(t, message, () => this.#endBlock(stale, t));
    this.#live.set(this.#allocations.table.address[row], row);
  }

  /** The block begins inside a free range, or outside all: not what the allocator does. */
  #makeRange(t: EventIndex, address: number): number {
    this.#anomaly(t, 'an alloc that begins at no free range');
    if (this.#anomalyCount > MAX_SEARCHES) return -1;
    const range = this.#free.containing(address);
    if (range < 0) return -1;
    const group = this.#free.group(range);
    const start = this.#free.start(range);
    const end = start + this.#free.bytes(range);
    this.#free.remove(range);
    // Two groups of one: added apart so that they do not merge again.
    this.#free.insert(start, address - start, group);
    this.#free.insert(address, end - address, group);
    return this.#free.startingAt(address);
  }

  #freeRequested(t: EventIndex): void {
    const { table } = this.#allocations;
    const row = this.#live.get(this.#trace.events.address[t]);
    if (row < 0 || table.freeRequested[row] !== NEVER) {
      this.#anomaly(t, 'a free is requested of a block that is not allocated');
      return;
    }
    this.#allocationOfEvent[t] = row;
    this.#lastRequested = row;
    table.freeRequested[row] = t;
    this.#counters.allocatedBytes -= table.sizeBytes[row];
  }

  #freeCompleted(t: EventIndex): void {
    const { table } = this.#allocations;
    const address = this.#trace.events.address[t];
    // Mostly the free was requested just before: no need to look for the block again.
    const last = this.#lastRequested;
    const isLast = last >= 0 && table.address[last] === address && table.end[last] === NEVER;
    const row = isLast ? last : this.#live.get(address);
    if (row < 0) {
      this.#anomaly(t, 'a free is completed of a block that is not live');
      return;
    }
    this.#allocationOfEvent[t] = row;
    if (table.freeRequested[row] === NEVER && this.#hasRequests) {
      // Its own free_requested is missing: allocated falls here too.
      this.#counters.correct(t, { ...NO_CHANGE, allocatedBytes: -table.sizeBytes[row] });
    }
    this.#endBlock(row, t);
  }

  /** The block's memory is free again. */
  #endBlock(row: AllocationIndex, t: EventIndex): void {
    const { table } = this.#allocations;
    const bytes = table.sizeBytes[row];
    const address = table.address[row];
    const counters = this.#counters;
    if (table.freeRequested[row] === NEVER) {
      table.freeRequested[row] = t;
      counters.allocatedBytes -= bytes;
    }
    table.end[row] = t;
    this.#live.delete(address);
    counters.activeBytes -= bytes;
    counters.requestedBytes -= knownBytes(table.requestedBytes[row]);
    const group = this.#allocations.group[row];
    if (group !== NO_GROUP && this.#book.isOpen(group)) this.#free.add(address, bytes, group);
  }

  #openSegment(t: EventIndex): void {
    const fields = this.#segmentFields(t);
    this.#knowsSegments = true;
    if (!fields.isExpandable) {
      const known = this.#book.nativeAt(fields.address);
      if (known >= 0) {
        this.#irregular(t, 'a segment is allocated where one is', () =>
          this.#dropSegment(known, t),
        );
      }
    }
    const group = this.#book.open(t, fields);
    this.#free.add(fields.address, fields.sizeBytes, group);
    this.#syncSegments();
    this.#counters.raiseReserved(t);
  }

  #segmentFields(t: EventIndex): SegmentFields {
    const { events, segments } = this.#trace;
    const address = events.address[t];
    const sizeBytes = events.sizeBytes[t];
    const isExpandable = events.action[t] === TraceAction.SegmentMap;
    const final = this.#finalSegments.get(address);
    // An address may be used again: that of an ordinary segment by a private pool, say.
    const stays =
      final >= 0 && segments.totalBytes[final] === sizeBytes && this.#lastOpened.get(address) === t;
    return {
      address,
      sizeBytes,
      stream: events.stream[t],
      pool: events.pool?.[t] ?? (stays ? segments.pool[final] : 0),
      isSmall: isExpandable
        ? sizeBytes % LARGE_PAGE_BYTES !== 0
        : sizeBytes === SMALL_SEGMENT_BYTES,
      isExpandable,
      stack: events.stack[t],
    };
  }

  #closeSegment(t: EventIndex): void {
    const { events } = this.#trace;
    const row = this.#book.nativeAt(events.address[t]);
    if (row < 0) {
      this.#irregular(t, 'a segment is freed that is not there', () => undefined);
      return;
    }
    const range = this.#free.startingAt(events.address[t]);
    const isWhole = range >= 0 && this.#free.bytes(range) === this.#book.sizeBytes(row);
    if (isWhole && events.sizeBytes[t] === this.#book.sizeBytes(row)) this.#dropSegment(row, t);
    else this.#irregular(t, 'a segment is freed that is in use', () => this.#dropSegment(row, t));
  }

  #dropSegment(row: number, t: EventIndex): void {
    this.#free.removeSegment(row, this.#book.address(row), this.#book.sizeBytes(row));
    this.#book.closeNative(row, t);
    this.#syncSegments();
  }

  #unmap(t: EventIndex): void {
    const { events } = this.#trace;
    const address = events.address[t];
    const bytes = events.sizeBytes[t];
    const range = this.#free.containing(address);
    const isFree =
      range >= 0 && address + bytes <= this.#free.start(range) + this.#free.bytes(range);
    if (isFree) this.#free.cut(range, address, bytes);
    const reserved = this.#book.reservedBytes;
    this.#book.unmap(t, address, bytes);
    const unmapped = reserved - this.#book.reservedBytes;
    this.#syncSegments();
    if (!isFree) this.#anomaly(t, 'memory is unmapped that is not free');
    if (unmapped !== bytes)
      this.#counters.correct(t, { ...NO_CHANGE, reservedBytes: bytes - unmapped });
  }

  /** Does what an event implies beyond itself, and keeps what that changes in the counters. */
  #irregular(t: EventIndex, message: string, mend: () => void): void {
    this.#anomaly(t, message);
    const was = this.#counters.now();
    mend();
    this.#syncSegments();
    const now = this.#counters.now();
    // What a segment_free takes off by itself is not counted twice.
    const isFree = this.#trace.events.action[t] === TraceAction.SegmentFree;
    const regular = isFree ? this.#trace.events.sizeBytes[t] : 0;
    this.#counters.correct(t, {
      requestedBytes: now.requestedBytes - was.requestedBytes,
      allocatedBytes: now.allocatedBytes - was.allocatedBytes,
      activeBytes: now.activeBytes - was.activeBytes,
      reservedBytes: now.reservedBytes - was.reservedBytes + regular,
      inactiveSplitBytes: 0,
    });
  }

  #anomaly(event: EventIndex, message: string): void {
    if (this.#anomalyCount++ < MAX_ANOMALIES) this.#anomalies.push({ event, message });
  }
}

/** Empty where events carry their pool, and where all are the default pool's. */
function lastOpened({ events, pools }: DeviceTrace): AddressMap {
  const opened = new AddressMap();
  if (events.pool !== undefined || pools.length < 2) return opened;
  for (let t = 0; t < events.length; t++) {
    const action = events.action[t];
    if (action === TraceAction.SegmentAlloc || action === TraceAction.SegmentMap) {
      opened.set(events.address[t], t);
    }
  }
  return opened;
}

const NO_CHANGE: Counters = {
  requestedBytes: 0,
  allocatedBytes: 0,
  activeBytes: 0,
  reservedBytes: 0,
  inactiveSplitBytes: 0,
};
