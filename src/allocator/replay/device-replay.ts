/**
 * The allocator's state during replay. The trace gives each block's start and requested size. The free range there and
 * the allocator's split rule give the block's length. So no fit has to be searched for, and the counters equal
 * torch.cuda.memory_stats() to the byte.
 *
 * Events may arrive in parts, in order, while their file is still being read. The results so far equal those of the
 * whole replay, except for allocations that end later.
 */
import { enlarged } from '../../base/growable.ts';
import { createTable } from '../../base/table.ts';
import { type DeviceTrace, type EventIndex, TraceAction } from '../../format/snapshot/tables.ts';
import { AllocationBuilder, placePreexisting } from './allocation-builder.ts';
import type { BlockRow } from './block-list.ts';
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

/** Most anomalies kept with their message. All are counted. */
const MAX_ANOMALIES = 100;
/** After this many failed searches for a containing free range, stop searching: the trace is not of this allocator. */
const MAX_SEARCHES = 10_000;

interface ReplayPlan {
  readonly kind: TraceKind;
  readonly rules: BlockRules;
  readonly before: Preexisting;
  /** Pools of the final segments; undefined if not known or not needed. */
  readonly pools: FinalPools | undefined;
  readonly hasPools: boolean;
  /** The file lists segments, so blocks are looked up in them from the first event on. */
  readonly hasSegments: boolean;
}

export type ReplayTables = ReturnType<DeviceReplay['tables']>;

export class DeviceReplay {
  readonly #plan: ReplayPlan;
  readonly #tracker = new SegmentTracker();
  readonly #blocks = new BlockList();
  readonly #counters = new CounterRecorder();
  readonly #allocations: AllocationBuilder;
  readonly #anomalies: Anomaly[] = [];
  /** The current part of the events: event t is row t - #offset. */
  #events = createTable(REPLAYED_COLUMNS, 0) as ReplayedEvents;
  #offset = 0;
  #allocationOfEvent = new Int32Array(0);
  #lastRequested: BlockRow = -1;
  readonly #start: Counters;
  /** Look blocks up in segments. False if the file lists none, or they have no meaning. */
  #knowsSegments: boolean;
  length = 0;
  anomalyCount = 0;

  constructor(plan: ReplayPlan) {
    const { before, hasSegments, kind } = plan;
    this.#plan = plan;
    this.#allocations = new AllocationBuilder(before.blocks.length);
    this.#knowsSegments = (hasSegments || before.segments.length > 0) && !kind.isProfile;
    this.#start = this.#begin();
  }

  /** Allocs so far, and the number there is room for. */
  get allocs(): number {
    return this.#allocations.length - this.#plan.before.blocks.length;
  }

  /** Events that there is room for. */
  get room(): number {
    return this.#allocationOfEvent.length;
  }

  get allocRoom(): number {
    return this.#allocations.table.length - this.#plan.before.blocks.length;
  }

  /** Makes room for this many events and allocs in total, and no more than that. */
  reserve(events: number, allocs: number): void {
    if (events > this.#allocationOfEvent.length) {
      this.#allocationOfEvent = enlarged(this.#allocationOfEvent, events);
      this.#counters.reserve(events);
    }
    this.#allocations.reserve(this.#plan.before.blocks.length + allocs);
  }

  /**
   * Replays the events before `to`, for which there must be room. With `strict`, returns false at the first anomaly; do
   * not continue after that.
   * @param events contains event t in row t - `offset`
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

  /** Records differences between the final segments and the state after all events as anomalies. */
  compareEnd(trace: DeviceTrace): void {
    if (this.length === 0 || this.#plan.kind.isProfile) return;
    for (const message of endDifferences(trace, this.#blocks)) {
      this.#anomaly(this.length - 1, message);
    }
  }

  /** The results so far, as views that are valid until more events are replayed. */
  soFar() {
    return {
      allocations: this.#allocations.soFar(),
      allocationOfEvent: this.#allocationOfEvent.subarray(0, this.length),
      segmentSpans: this.#tracker.table(),
      start: this.#start,
      end: this.#counters.now(),
      peaks: this.#counters.peaks(),
      anomalyCount: this.anomalyCount,
      anomalies: this.#anomalies,
      log: this.#counters.log,
    };
  }

  /** All results. Call it once; replay no more afterwards. */
  tables() {
    return { ...this.soFar(), allocations: this.#allocations.finish() };
  }

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

  #blockBytes(t: EventIndex, block: BlockRow, rounded: number): number {
    const available = this.#blocks.sizeBytes[block];
    const group = this.#blocks.owner[block];
    const isSmallOrExpandable = group < 0 || this.#tracker.isSmall(group);
    if (shouldSplit(available, rounded, isSmallOrExpandable, this.#plan.rules)) return rounded;
    if (available < rounded)
      this.#anomaly(t, 'an alloc is larger than the free memory at its address');
    return available;
  }

  /** The free block that begins at an address; -1 if the address is in no known free memory. */
  #freeBlockFor(t: EventIndex, address: number): BlockRow {
    let block = this.#blocks.at(address);
    if (block >= 0 && this.#blocks.allocation[block] >= 0) {
      this.#anomaly(t, 'an alloc where a block is live: its free is not in the trace');
      block = this.#endBlock(block, t);
    } else if (block < 0 && this.#knowsSegments) {
      // Inside a free block or outside all of them: the allocator never does this.
      this.#anomaly(t, 'an alloc does not begin at a free block');
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
      this.#anomaly(t, 'a free is requested for a block that is not allocated');
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
    // Usually the free was requested just before, so skip the look-up.
    const last = this.#lastRequested;
    const isLast = last >= 0 && this.#blocks.address[last] === address;
    const block = isLast ? last : this.#blocks.at(address);
    const row = block < 0 ? -1 : this.#blocks.allocation[block];
    this.#lastRequested = -1;
    if (row < 0) {
      this.#anomaly(t, 'a free is completed for a block that is not live');
      return;
    }
    this.#allocationOfEvent[t] = row;
    if (table.freeRequested[row] === NEVER && this.#plan.kind.hasFreeRequested) {
      this.#anomaly(t, 'a free is completed that was not requested');
    }
    this.#endBlock(block, t);
  }

  /** Frees the block's memory. Returns the free block that now contains it, or -1. */
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
    if (known >= 0) {
      this.#anomaly(t, 'a segment is allocated where one already exists');
      this.#dropSegment(known, t);
    }
    const group = this.#tracker.open(t, fields);
    this.#blocks.addMemory(fields.address, fields.sizeBytes, group);
    this.#syncSegments();
    this.#counters.raiseReserved(t);
  }

  #segmentFields(t: EventIndex): SegmentFields {
    const fields = segmentOfEvent(this.#events, t - this.#offset, this.#plan.rules);
    const { pools } = this.#plan;
    if (!pools?.isNeeded) return fields;
    if (!fields.isExpandable) return { ...fields, pool: pools.ofSegment(t) };
    const pool = pools.ofMapping(fields.address) ?? this.#tracker.poolBeside(fields);
    return { ...fields, pool };
  }

  #closeSegment(t: EventIndex): void {
    const events = this.#events;
    const at = t - this.#offset;
    const row = this.#tracker.nativeAt(events.address[at]);
    if (row < 0) {
      this.#anomaly(t, 'a segment is freed that does not exist');
      return;
    }
    const block = this.#blocks.at(events.address[at]);
    const bytes = this.#tracker.span(row).sizeBytes;
    const isFree = block >= 0 && this.#blocks.allocation[block] < 0;
    const isWhole = isFree && this.#blocks.sizeBytes[block] === bytes;
    if (!isWhole || events.sizeBytes[at] !== bytes)
      this.#anomaly(t, 'a segment is freed that is in use');
    this.#dropSegment(row, t);
  }

  /** Removes a segment. Its live blocks have been freed, although the trace does not say so. */
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
    this.#tracker.unmap(t, address, bytes);
    this.#syncSegments();
    if (!isFree) this.#anomaly(t, 'memory is unmapped that is not free');
  }

  #anomaly(event: EventIndex, message: string): void {
    if (this.anomalyCount++ < MAX_ANOMALIES) this.#anomalies.push({ event, message });
  }
}
