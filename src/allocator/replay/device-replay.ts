/**
 * The allocator's state while a trace is replayed. The trace says where each block begins and what was asked for; the free
 * range that begins there, and the allocator's split rule, say how long the block is. So no search for
 * a fit is needed, and the counters come out equal to torch.cuda.memory_stats() to the byte.
 *
 * Events may come in parts, in order, while their file is still being read: what is known then of the
 * events so far is what the whole replay says of them, but for allocations that end later.
 */
import { enlarged } from '../../base/growable.ts';
import { createTable } from '../../base/table.ts';
import { type DeviceTrace, type EventIndex, TraceAction } from '../../format/snapshot/tables.ts';
import { AllocationBuilder, placePreexisting } from './allocation-builder.ts';
import type { BlockRow } from './block-chain.ts';
import { BlockList, endDifferences } from './block-list.ts';
import { CounterRecorder, knownBytes } from './counters.ts';
import type { Preexisting } from './preexisting.ts';
import { type BlockRules, roundSize, SMALL_BYTES, shouldSplit } from './rounding.ts';
import {
  type FinalPools,
  type SegmentFields,
  SegmentTracker,
  segmentOfEvent,
} from './segment-tracker.ts';
import type { TraceKind } from './trace-kind.ts';
import {
  type AllocationIndex,
  type Anomaly,
  type Counters,
  NEVER,
  REPLAYED_COLUMNS,
  type ReplayedEvents,
} from './types.ts';

/** Anomalies kept with their message; all are counted. */
const MAX_ANOMALIES = 100;
/** After so many, a block outside all free ranges is no longer searched for: the trace is not of this allocator. */
const MAX_SEARCHES = 10_000;

/** What is known of a trace before its first event. */
interface ReplayPlan {
  readonly kind: TraceKind;
  readonly rules: BlockRules;
  readonly before: Preexisting;
  /** Pools of the final segments; undefined where they are not known, or not needed. */
  readonly pools: FinalPools | undefined;
  /** There may be private pools. */
  readonly hasPools: boolean;
  /** The file lists segments: blocks are looked for in them from the first event on. */
  readonly hasSegments: boolean;
}

/** What was replayed. */
export type ReplayTables = ReturnType<DeviceReplay['tables']>;

export class DeviceReplay {
  readonly #plan: ReplayPlan;
  readonly #tracker = new SegmentTracker();
  readonly #blocks = new BlockList();
  readonly #counters = new CounterRecorder();
  readonly #allocations: AllocationBuilder;
  readonly #anomalies: Anomaly[] = [];
  /** The part that is replayed: event t is in row t - #offset. */
  #events = createTable(REPLAYED_COLUMNS, 0) as ReplayedEvents;
  #offset = 0;
  #allocationOfEvent = new Int32Array(0);
  #lastRequested: BlockRow = -1;
  readonly #start: Counters;
  /** Blocks are looked for in segments; false where the file lists none, or means nothing by them. */
  #knowsSegments: boolean;
  /** Events replayed so far. */
  length = 0;
  anomalyCount = 0;

  constructor(plan: ReplayPlan) {
    const { before, hasSegments, kind } = plan;
    this.#plan = plan;
    this.#allocations = new AllocationBuilder(before.blocks.length);
    this.#knowsSegments = (hasSegments || before.segments.length > 0) && !kind.isProfile;
    this.#start = this.#begin();
  }

  /** Allocs so far, and how many there is room for. */
  get allocs(): number {
    return this.#allocations.length - this.#plan.before.blocks.length;
  }

  get allocRoom(): number {
    return this.#allocations.table.length - this.#plan.before.blocks.length;
  }

  /** Makes room for so many events and allocs in all: exactly so many, where there is too little. */
  reserve(events: number, allocs: number): void {
    if (events > this.#allocationOfEvent.length) {
      this.#allocationOfEvent = enlarged(this.#allocationOfEvent, events);
      this.#counters.reserve(events);
    }
    this.#allocations.reserve(this.#plan.before.blocks.length + allocs);
  }

  /**
   * Replays the events up to before `to`, for which there must be room. With `strict`, gives up (false) at
   * the first anomaly: the rest may then be replayed no more.
   * @param events holds them, event t in row t - `offset`
   */
  advance(events: ReplayedEvents, offset: number, to: EventIndex, strict: boolean): boolean {
    this.#events = events;
    this.#offset = offset;
    const counters = this.#counters;
    this.#allocationOfEvent.fill(-1, this.length, to);
    for (let t = this.length; t < to; t++) {
      counters.before(t);
      this.#apply(t);
      counters.inactiveSplitBytes = this.#blocks.inactiveSplitBytes;
      counters.after(t);
      if (strict && this.anomalyCount > 0) return false;
    }
    this.length = to;
    counters.before(to);
    return true;
  }

  /** Keeps as anomalies what the final segments and the state after all events do not have in common. */
  compareEnd(trace: DeviceTrace): void {
    if (this.length === 0 || this.#plan.kind.isProfile) return;
    for (const message of endDifferences(trace, this.#blocks)) {
      this.#anomaly(this.length - 1, message);
    }
  }

  /** What the events so far say, as views that hold until more are replayed. */
  soFar() {
    return {
      allocations: this.#allocations.soFar(),
      allocationOfEvent: this.#allocationOfEvent.subarray(0, this.length),
      start: this.#start,
      end: this.#counters.now(),
      peaks: this.#counters.peaks(),
      anomalyCount: this.anomalyCount,
      anomalies: this.#anomalies,
      log: this.#counters.finish(this.#plan.kind.falls),
    };
  }

  /** All of it, once: replay no more after it. */
  tables() {
    const allocations = this.#allocations.finish();
    return { ...this.soFar(), allocations, segmentSpans: this.#tracker.finish() };
  }

  /** Lays out the state before the first event. */
  #begin(): Counters {
    const { before, kind } = this.#plan;
    const counters = this.#counters;
    placePreexisting(
      before,
      !kind.isProfile,
      this.#tracker,
      this.#blocks,
      this.#allocations,
      (row, group) => this.#setPlace(row, group),
    );
    const { sizeBytes, requestedBytes } = this.#allocations.table;
    before.blocks.forEach(({ isPending }, row) => {
      counters.requestedBytes += knownBytes(requestedBytes[row]);
      counters.activeBytes += sizeBytes[row];
      if (!isPending) counters.allocatedBytes += sizeBytes[row];
    });
    this.#syncSegments();
    counters.beforeTrace();
    return counters.now();
  }

  #setPlace(row: AllocationIndex, group: number): void {
    const isSmall = this.#tracker.isSmall(group);
    this.#allocations.setPlace(row, isSmall, this.#plan.hasPools ? this.#poolOf(row, group) : 0);
  }

  #poolOf(row: AllocationIndex, group: number): number {
    if (group >= 0) return this.#tracker.span(group).pool;
    return this.#plan.pools?.ofMapping(this.#allocations.table.address[row]) ?? 0;
  }

  #syncSegments(): void {
    this.#counters.reservedBytes = this.#tracker.reservedBytes;
    this.#counters.inactiveSplitBytes = this.#blocks.inactiveSplitBytes;
  }

  #apply(t: EventIndex): void {
    switch (this.#events.action[t - this.#offset]) {
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
    const events = this.#events;
    const at = t - this.#offset;
    const requestedBytes = events.sizeBytes[at];
    const row = this.#allocations.add(t, events, at);
    const block = this.#freeBlockFor(t, events.address[at]);
    const isExact = this.#plan.kind.isExact;
    const rounded = isExact ? requestedBytes : roundSize(requestedBytes, this.#plan.rules);
    const bytes = block >= 0 ? this.#blockBytes(t, block, rounded) : rounded;
    if (block >= 0) {
      this.#setPlace(row, this.#blocks.owner[block]);
      this.#blocks.take(block, bytes, row);
    } else {
      this.#allocations.setPlace(row, bytes <= SMALL_BYTES, 0);
      this.#blocks.addApart(events.address[at], bytes, row);
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
    const available = this.#blocks.sizeBytes[block];
    const group = this.#blocks.owner[block];
    const isSmallOrExpandable = group < 0 || this.#tracker.isSmall(group);
    if (shouldSplit(available, rounded, isSmallOrExpandable, this.#plan.rules)) return rounded;
    if (available < rounded) this.#anomaly(t, 'an alloc of more than is free at its address');
    return available;
  }

  /** The free block that begins at an address; -1 when the address lies in no free memory we know of. */
  #freeBlockFor(t: EventIndex, address: number): BlockRow {
    let block = this.#blocks.at(address);
    if (block >= 0 && this.#blocks.allocation[block] >= 0) {
      this.#irregular(t, 'an alloc where a block is live: its free is not in the trace', () => {
        block = this.#endBlock(block, t);
      });
    } else if (block < 0 && this.#knowsSegments) {
      // Inside a free block, or outside all: not what the allocator does.
      this.#anomaly(t, 'an alloc that begins at no free block');
      if (this.anomalyCount <= MAX_SEARCHES) block = this.#blocks.freeBlockWith(address);
    }
    const isInside = block >= 0 && this.#blocks.address[block] < address;
    return isInside ? this.#blocks.splitAt(block, address) : block;
  }

  #freeRequested(t: EventIndex): void {
    const { table } = this.#allocations;
    const block = this.#blocks.at(this.#events.address[t - this.#offset]);
    const row = block < 0 ? -1 : this.#blocks.allocation[block];
    if (row < 0 || table.freeRequested[row] !== NEVER) {
      this.#anomaly(t, 'a free is requested of a block that is not allocated');
      return;
    }
    this.#allocationOfEvent[t] = row;
    this.#lastRequested = block;
    table.freeRequested[row] = t;
    this.#counters.allocatedBytes -= table.sizeBytes[row];
    if (this.#plan.kind.completesOnRequest) this.#endBlock(block, t);
  }

  #freeCompleted(t: EventIndex): void {
    const { table } = this.#allocations;
    const address = this.#events.address[t - this.#offset];
    // Mostly the free was requested just before: no need to look for the block again.
    const last = this.#lastRequested;
    const isLast = last >= 0 && this.#blocks.address[last] === address;
    const block = isLast ? last : this.#blocks.at(address);
    const row = block < 0 ? -1 : this.#blocks.allocation[block];
    this.#lastRequested = -1;
    if (row < 0) {
      this.#anomaly(t, 'a free is completed of a block that is not live');
      return;
    }
    this.#allocationOfEvent[t] = row;
    if (table.freeRequested[row] === NEVER && this.#plan.kind.hasFreeRequested) {
      this.#anomaly(t, 'a free is completed that was not requested');
      this.#counters.correct(t, { allocatedBytes: -table.sizeBytes[row] });
    }
    this.#endBlock(block, t);
  }

  /** The block's memory is free again. Returns the free block that it is part of now, -1 for none. */
  #endBlock(block: BlockRow, t: EventIndex): BlockRow {
    const { table } = this.#allocations;
    const row = this.#blocks.allocation[block];
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
    const known = fields.isExpandable ? -1 : this.#tracker.nativeAt(fields.address);
    const dropKnown = () => this.#dropSegment(known, t);
    if (known >= 0) this.#irregular(t, 'a segment is allocated where one is', dropKnown);
    const group = this.#tracker.open(t, fields);
    this.#blocks.addMemory(fields.address, fields.sizeBytes, group);
    this.#syncSegments();
    this.#counters.raiseReserved(t);
  }

  #segmentFields(t: EventIndex): SegmentFields {
    const fields = segmentOfEvent(this.#events, t - this.#offset, this.#plan.rules);
    if (this.#events.pool !== undefined || this.#plan.pools === undefined) return fields;
    const { isExpandable, address } = fields;
    const pool = isExpandable ? this.#plan.pools.ofMapping(address) : this.#plan.pools.ofSegment(t);
    return { ...fields, pool };
  }

  #closeSegment(t: EventIndex): void {
    const events = this.#events;
    const at = t - this.#offset;
    const row = this.#tracker.nativeAt(events.address[at]);
    if (row < 0) {
      this.#irregular(t, 'a segment is freed that is not there', () => undefined);
      return;
    }
    const block = this.#blocks.at(events.address[at]);
    const bytes = this.#tracker.span(row).sizeBytes;
    const isFree = block >= 0 && this.#blocks.allocation[block] < 0;
    const isWhole = isFree && this.#blocks.sizeBytes[block] === bytes;
    if (isWhole && events.sizeBytes[at] === bytes) this.#dropSegment(row, t);
    else this.#irregular(t, 'a segment is freed that is in use', () => this.#dropSegment(row, t));
  }

  /** A segment goes away; what lives in it has been freed, though the trace does not say so. */
  #dropSegment(row: number, t: EventIndex): void {
    const head = this.#blocks.at(this.#tracker.span(row).address);
    if (head >= 0 && this.#blocks.owner[head] === row) {
      for (const block of this.#blocks.liveFrom(head)) this.#endBlock(block, t);
      this.#blocks.removeSegment(this.#blocks.at(this.#tracker.span(row).address));
    }
    this.#tracker.closeNative(row, t);
    this.#syncSegments();
  }

  #unmap(t: EventIndex): void {
    const address = this.#events.address[t - this.#offset];
    const bytes = this.#events.sizeBytes[t - this.#offset];
    const isFree = this.#blocks.unmap(address, bytes);
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
    const at = t - this.#offset;
    const isFree = this.#events.action[at] === TraceAction.SegmentFree;
    this.#counters.correctAll(t, isFree ? this.#events.sizeBytes[at] : 0, () => {
      mend();
      this.#syncSegments();
    });
  }

  #anomaly(event: EventIndex, message: string): void {
    if (this.anomalyCount++ < MAX_ANOMALIES) this.#anomalies.push({ event, message });
  }
}
