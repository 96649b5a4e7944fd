/**
 * Replays one device's trace. The trace says where each block begins and what was asked for; the free
 * range that begins there, and the allocator's split rule, say how long the block is. So no search for
 * a fit is needed, and the counters come out equal to torch.cuda.memory_stats() to the byte.
 */
import {
  type DeviceTrace,
  type EventIndex,
  type Snapshot,
  TraceAction,
} from '../snapshot/tables.ts';
import { AllocationBuilder, placePreexisting } from './allocation-builder.ts';
import { BlockList, type BlockRow } from './block-list.ts';
import { CounterReader, CounterRecorder, knownBytes } from './counters.ts';
import { findPreexisting, openingOf, type Preexisting } from './preexisting.ts';
import { endDifferences, judgeRecording } from './recording.ts';
import {
  type BlockRules,
  blockRules,
  roundSize,
  SMALL_BYTES,
  SMALL_SEGMENT_BYTES,
  shouldSplit,
} from './rounding.ts';
import { FinalPools, type SegmentFields, SegmentTracker } from './segment-tracker.ts';
import { type TraceKind, traceKindOf } from './trace-kind.ts';
import { type AllocationIndex, type Anomaly, type Counters, NEVER, type Replay } from './types.ts';

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
  const kind = traceKindOf(trace);
  if (trace.opening !== undefined) {
    const fromOpening = new DeviceReplay(trace, kind, rules, openingOf(trace, trace.opening));
    fromOpening.run(false);
    return fromOpening.finish();
  }
  const fromNothing = new DeviceReplay(trace, kind, rules, NOTHING);
  if (trace.events.length > 0 && fromNothing.run(true)) return fromNothing.finish();
  const fromBefore = new DeviceReplay(trace, kind, rules, findPreexisting(trace, kind, rules));
  fromBefore.run(false);
  return fromBefore.finish();
}

class DeviceReplay {
  readonly #trace: DeviceTrace;
  readonly #kind: TraceKind;
  readonly #rules: BlockRules;
  readonly #before: Preexisting;
  readonly #pools: FinalPools;
  readonly #hasPools: boolean;
  readonly #tracker = new SegmentTracker();
  readonly #blocks = new BlockList();
  readonly #counters: CounterRecorder;
  readonly #allocations: AllocationBuilder;
  readonly #allocationOfEvent: Int32Array;
  readonly #anomalies: Anomaly[] = [];
  #anomalyCount = 0;
  #lastRequested: BlockRow = -1;
  #start: Counters = NO_CHANGE;
  /** Blocks are looked for in segments; false where the file lists none, or means nothing by them. */
  #knowsSegments: boolean;

  constructor(trace: DeviceTrace, kind: TraceKind, rules: BlockRules, before: Preexisting) {
    this.#trace = trace;
    this.#kind = kind;
    this.#rules = rules;
    this.#before = before;
    this.#pools = new FinalPools(trace);
    this.#hasPools = trace.pools.length > 1;
    const { length } = trace.events;
    this.#counters = new CounterRecorder(length);
    this.#allocations = new AllocationBuilder(before.blocks.length, kind.allocs);
    this.#allocationOfEvent = new Int32Array(length).fill(-1);
    this.#knowsSegments = trace.segments.length > 0 && !kind.isProfile;
  }

  /** Replays all events. With `strict`, gives up (false) at the first anomaly or a wrong end. */
  run(strict: boolean): boolean {
    const counters = this.#counters;
    this.#begin();
    const { length } = this.#trace.events;
    for (let t = 0; t < length; t++) {
      counters.before(t);
      this.#apply(t);
      counters.inactiveSplitBytes = this.#blocks.inactiveSplitBytes;
      counters.after(t);
      if (strict && this.#anomalyCount > 0) return false;
    }
    counters.before(length);
    if (strict) return this.#endsAsTheFile();
    if (length > 0 && !this.#kind.isProfile) {
      for (const message of endDifferences(this.#trace, this.#blocks)) {
        this.#anomaly(length - 1, message);
      }
    }
    return true;
  }

  finish(): Replay {
    const { events } = this.#trace;
    const { table } = this.#allocations;
    const log = this.#counters.finish(this.#kind.falls);
    const reader = new CounterReader(log, events, table, this.#allocationOfEvent);
    const verdict = judgeRecording(this.#trace, this.#before);
    return {
      allocations: table,
      segmentSpans: this.#tracker.finish(),
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

  /** The state before the first event. */
  #begin(): void {
    const place = this.#setPlace.bind(this);
    const hasMemory = !this.#kind.isProfile;
    placePreexisting(
      this.#before,
      hasMemory,
      this.#tracker,
      this.#blocks,
      this.#allocations,
      place,
    );
    if (this.#before.segments.length > 0) this.#knowsSegments = hasMemory;
    const { sizeBytes, requestedBytes } = this.#allocations.table;
    this.#before.blocks.forEach(({ isPending }, row) => {
      this.#counters.requestedBytes += knownBytes(requestedBytes[row]);
      this.#counters.activeBytes += sizeBytes[row];
      if (!isPending) this.#counters.allocatedBytes += sizeBytes[row];
    });
    this.#syncSegments();
    this.#start = this.#counters.now();
    this.#counters.beforeTrace();
  }

  #setPlace(row: AllocationIndex, group: number): void {
    const isSmall = this.#tracker.isSmall(group);
    this.#allocations.setPlace(row, isSmall, this.#hasPools ? this.#poolOf(row, group) : 0);
  }

  #poolOf(row: AllocationIndex, group: number): number {
    if (group >= 0) return this.#tracker.pool(group);
    return this.#pools.ofMapping(this.#allocations.table.address[row]);
  }

  #syncSegments(): void {
    this.#counters.reservedBytes = this.#tracker.reservedBytes;
    this.#counters.inactiveSplitBytes = this.#blocks.inactiveSplitBytes;
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
    const requestedBytes = events.sizeBytes[t];
    const row = this.#allocations.add(t, events);
    const block = this.#freeBlockFor(t, events.address[t]);
    const isExact = this.#kind.isExact;
    const rounded = isExact ? requestedBytes : roundSize(requestedBytes, this.#rules);
    const bytes = block >= 0 ? this.#blockBytes(t, block, rounded) : rounded;
    if (block >= 0) {
      this.#setPlace(row, this.#blocks.group(block));
      this.#blocks.take(block, bytes, row);
    } else {
      this.#allocations.setPlace(row, bytes <= SMALL_BYTES, 0);
      this.#blocks.addApart(events.address[t], bytes, row);
    }
    this.#allocations.table.sizeBytes[row] = bytes;
    this.#allocationOfEvent[t] = row;
    const counters = this.#counters;
    counters.requestedBytes += requestedBytes;
    counters.allocatedBytes += bytes;
    counters.activeBytes += bytes;
    counters.raiseBlocks(t);
  }

  /** Bytes that the allocator takes of a free block. */
  #blockBytes(t: EventIndex, block: BlockRow, rounded: number): number {
    const available = this.#blocks.bytes(block);
    const group = this.#blocks.group(block);
    const isSmallOrExpandable = group < 0 || this.#tracker.isSmall(group);
    if (shouldSplit(available, rounded, isSmallOrExpandable, this.#rules)) return rounded;
    if (available < rounded) this.#anomaly(t, 'an alloc of more than is free at its address');
    return available;
  }

  /** The free block that begins at an address; -1 when the address lies in no free memory we know of. */
  #freeBlockFor(t: EventIndex, address: number): BlockRow {
    let block = this.#blocks.at(address);
    if (block >= 0 && this.#blocks.allocation(block) >= 0) block = this.#closeStale(block, t);
    else if (block < 0 && this.#knowsSegments) {
      // Inside a free block, or outside all: not what the allocator does.
      this.#anomaly(t, 'an alloc that begins at no free block');
      if (this.#anomalyCount <= MAX_SEARCHES) block = this.#blocks.freeBlockWith(address);
    }
    const isInside = block >= 0 && this.#blocks.address(block) < address;
    return isInside ? this.#blocks.splitAt(block, address) : block;
  }

  #closeStale(stale: BlockRow, t: EventIndex): BlockRow {
    const message = 'an alloc where a block is live: its free is not in the trace';
    let block: BlockRow = -1;
    this.#irregular(t, message, () => {
      block = this.#endBlock(stale, t);
    });
    return block;
  }

  #freeRequested(t: EventIndex): void {
    const { table } = this.#allocations;
    const block = this.#blocks.at(this.#trace.events.address[t]);
    const row = block < 0 ? -1 : this.#blocks.allocation(block);
    if (row < 0 || table.freeRequested[row] !== NEVER) {
      this.#anomaly(t, 'a free is requested of a block that is not allocated');
      return;
    }
    this.#allocationOfEvent[t] = row;
    this.#lastRequested = block;
    table.freeRequested[row] = t;
    this.#counters.allocatedBytes -= table.sizeBytes[row];
    if (this.#kind.completesOnRequest) this.#endBlock(block, t);
  }

  #freeCompleted(t: EventIndex): void {
    const { table } = this.#allocations;
    const address = this.#trace.events.address[t];
    // Mostly the free was requested just before: no need to look for the block again.
    const last = this.#lastRequested;
    const isLast = last >= 0 && this.#blocks.address(last) === address;
    const block = isLast ? last : this.#blocks.at(address);
    const row = block < 0 ? -1 : this.#blocks.allocation(block);
    this.#lastRequested = -1;
    if (row < 0) {
      this.#anomaly(t, 'a free is completed of a block that is not live');
      return;
    }
    this.#allocationOfEvent[t] = row;
    if (table.freeRequested[row] === NEVER && this.#kind.hasFreeRequested) {
      this.#anomaly(t, 'a free is completed that was not requested');
      this.#counters.correct(t, { allocatedBytes: -table.sizeBytes[row] });
    }
    this.#endBlock(block, t);
  }

  /** The block's memory is free again. Returns the free block that it is part of now, -1 for none. */
  #endBlock(block: BlockRow, t: EventIndex): BlockRow {
    const { table } = this.#allocations;
    const row = this.#blocks.allocation(block);
    const bytes = table.sizeBytes[row];
    const counters = this.#counters;
    if (table.freeRequested[row] === NEVER) {
      table.freeRequested[row] = t;
      counters.allocatedBytes -= bytes;
    }
    table.end[row] = t;
    counters.activeBytes -= bytes;
    counters.requestedBytes -= knownBytes(table.requestedBytes[row]);
    return this.#blocks.release(block);
  }

  #openSegment(t: EventIndex): void {
    const fields = this.#segmentFields(t);
    this.#knowsSegments = true;
    if (!fields.isExpandable) {
      const known = this.#tracker.nativeAt(fields.address);
      if (known >= 0) {
        this.#irregular(t, 'a segment is allocated where one is', () =>
          this.#dropSegment(known, t),
        );
      }
    }
    const group = this.#tracker.open(t, fields);
    this.#blocks.addMemory(fields.address, fields.sizeBytes, group);
    this.#syncSegments();
    this.#counters.raiseReserved(t);
  }

  #segmentFields(t: EventIndex): SegmentFields {
    const { events } = this.#trace;
    const address = events.address[t];
    const sizeBytes = events.sizeBytes[t];
    const isExpandable = events.action[t] === TraceAction.SegmentMap;
    const pool = isExpandable ? this.#pools.ofMapping(address) : this.#pools.ofSegment(t);
    return {
      address,
      sizeBytes,
      stream: events.stream[t],
      pool: events.pool?.[t] ?? pool,
      isSmall: isExpandable
        ? sizeBytes % this.#rules.largeSegmentBytes !== 0
        : sizeBytes === SMALL_SEGMENT_BYTES,
      isExpandable,
      stack: events.stack[t],
    };
  }

  #closeSegment(t: EventIndex): void {
    const { events } = this.#trace;
    const row = this.#tracker.nativeAt(events.address[t]);
    if (row < 0) {
      this.#irregular(t, 'a segment is freed that is not there', () => undefined);
      return;
    }
    const block = this.#blocks.at(events.address[t]);
    const isWhole =
      block >= 0 &&
      this.#blocks.allocation(block) < 0 &&
      this.#blocks.bytes(block) === this.#tracker.sizeBytes(row);
    if (isWhole && events.sizeBytes[t] === this.#tracker.sizeBytes(row)) this.#dropSegment(row, t);
    else this.#irregular(t, 'a segment is freed that is in use', () => this.#dropSegment(row, t));
  }

  /** A segment goes away; what lives in it has been freed, though the trace does not say so. */
  #dropSegment(row: number, t: EventIndex): void {
    const head = this.#blocks.at(this.#tracker.address(row));
    if (head >= 0 && this.#blocks.group(head) === row) {
      for (const block of this.#blocks.liveFrom(head)) this.#endBlock(block, t);
      this.#blocks.removeSegment(this.#blocks.at(this.#tracker.address(row)));
    }
    this.#tracker.closeNative(row, t);
    this.#syncSegments();
  }

  #unmap(t: EventIndex): void {
    const { events } = this.#trace;
    const address = events.address[t];
    const bytes = events.sizeBytes[t];
    const block = this.#blocks.freeBlockWith(address);
    const offset = block < 0 ? 0 : address - this.#blocks.address(block);
    const isFree =
      block >= 0 && this.#blocks.group(block) < 0 && offset + bytes <= this.#blocks.bytes(block);
    if (isFree && bytes > 0) {
      const upper = offset > 0 ? this.#blocks.splitAt(block, address) : block;
      if (bytes < this.#blocks.bytes(upper)) this.#blocks.splitAt(upper, address + bytes);
      this.#blocks.removeMemory(upper);
    }
    const reserved = this.#tracker.reservedBytes;
    this.#tracker.unmap(t, address, bytes);
    const unmapped = reserved - this.#tracker.reservedBytes;
    this.#syncSegments();
    if (!isFree) this.#anomaly(t, 'memory is unmapped that is not free');
    if (unmapped !== bytes) this.#counters.correct(t, { reservedBytes: bytes - unmapped });
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
    });
  }

  #anomaly(event: EventIndex, message: string): void {
    if (this.#anomalyCount++ < MAX_ANOMALIES) this.#anomalies.push({ event, message });
  }
}

const NO_CHANGE: Counters = {
  requestedBytes: 0,
  allocatedBytes: 0,
  activeBytes: 0,
  reservedBytes: 0,
  inactiveSplitBytes: 0,
};
