/**
 * Finds what existed before the first event. The trace does not list it but shows it: as a free without an alloc, as a
 * segment that is freed without having been allocated, and as blocks of the final segments without an alloc. So this
 * walks the events once, and the expandable mappings backwards from the final ones.
 */
import { AddressMap } from '../../base/address.ts';
import { lowerBound, upperBound } from '../../base/binary-search.ts';
import {
  BlockState,
  type BlockTable,
  type DeviceTrace,
  type EventIndex,
  type InitialState,
  NO_STACK,
  type SegmentTable,
  TraceAction,
} from '../../format/snapshot/tables.ts';
import { type BlockRules, roundSize, SMALL_BYTES } from './rounding.ts';
import {
  restsOutside,
  type SegmentFields,
  segmentFields,
  segmentOfEvent,
} from './segment-tracker.ts';
import type { TraceKind } from './trace-kind.ts';
import { NEVER } from './types.ts';

export interface PreexistingBlock {
  readonly address: number;
  readonly requestedBytes: number;
  /** From the final segments if it is still there, otherwise the requested bytes rounded up. */
  readonly sizeBytes: number;
  readonly stream: number;
  readonly stack: number;
  /** Its free was requested before the trace. */
  readonly isPending: boolean;
  readonly end: EventIndex;
}

export interface Preexisting {
  readonly blocks: readonly PreexistingBlock[];
  readonly segments: readonly SegmentFields[];
}

/** Blocks that were live and segments that were reserved before event 0, as far as the trace shows them. */
export function findPreexisting(
  trace: DeviceTrace,
  kind: TraceKind,
  rules: BlockRules,
): Preexisting {
  const segments = [...findNativeSegments(trace, rules), ...findMappings(trace, rules)];
  const blocks = trueSizes(trace, findBlocks(trace, kind, rules, segments), segments, rules);
  return { blocks: inOrder(blocks), segments };
}

/**
 * Extends blocks of native large segments by unsplit remainders. The allocator never splits off 1 MiB or less in the
 * large pool, so no free range there is that short. A gap of at most 1 MiB (up to the next block, the segment's end or
 * the start of a later alloc) is part of the block. Example: 19 MiB requested in a segment of 20 MiB is a block of 20
 * MiB. A block of max_split_size or more is never split, and segments of that size hold only such blocks, so it is as
 * long as its segment.
 */
function trueSizes(
  trace: DeviceTrace,
  blocks: readonly PreexistingBlock[],
  segments: readonly SegmentFields[],
  rules: BlockRules,
): PreexistingBlock[] {
  const byAddress = [...blocks].sort((a, b) => a.address - b.address);
  const addresses = byAddress.map((block) => block.address);
  const ends = byAddress.map((block) => block.address + block.sizeBytes);
  const limits = new Array<number>(byAddress.length).fill(Infinity);
  const limit = (block: number, edge: number) => {
    if (block >= 0 && edge >= ends[block]) limits[block] = Math.min(limits[block], edge);
  };
  for (let i = 1; i < byAddress.length; i++) limit(i - 1, addresses[i]);
  const isLarge = new Uint8Array(byAddress.length);
  for (const { address, sizeBytes, isSmall, isExpandable } of segments) {
    for (let i = lowerBound(addresses, address); addresses[i] < address + sizeBytes; i++) {
      isLarge[i] = Number(!isSmall && !isExpandable);
      limit(i, address + sizeBytes);
    }
  }
  const { events } = trace;
  // The final segments give the sizes of blocks that are never freed.
  const lastEnd = blocks.reduce((last, { end }) => Math.max(last, end === NEVER ? -1 : end), -1);
  for (let t = 0; t < lastEnd; t++) {
    if (events.action[t] !== TraceAction.Alloc) continue;
    const before = upperBound(addresses, events.address[t]) - 1;
    if (before >= 0 && byAddress[before].end > t) limit(before, events.address[t]);
  }
  return byAddress.map((block, i) => {
    const rest = limits[i] - ends[i];
    const isPart =
      isLarge[i] === 1 && (rest <= SMALL_BYTES || block.sizeBytes >= rules.maxSplitBytes);
    return isPart ? { ...block, sizeBytes: block.sizeBytes + rest } : block;
  });
}

// What the first walk knows about an address: nothing yet (-1), something from the trace, something from before it that
// is gone by now, or (> 0) row + 1 of a block from before that is still there.
const UNKNOWN = -1;
const FROM_TRACE = 0;
const GONE = -2;

function findBlocks(
  trace: DeviceTrace,
  kind: TraceKind,
  rules: BlockRules,
  segments: readonly SegmentFields[],
): PreexistingBlock[] {
  const { events } = trace;
  const found: PreexistingBlock[] = [];
  const live = new AddressMap();
  const fromFree = (event: EventIndex, isPending: boolean): PreexistingBlock => ({
    address: events.address[event],
    requestedBytes: events.sizeBytes[event] > 0 ? events.sizeBytes[event] : Number.NaN,
    sizeBytes: kind.isExact ? events.sizeBytes[event] : roundSize(events.sizeBytes[event], rules),
    stream: events.stream[event],
    stack: NO_STACK,
    isPending,
    end: event,
  });
  for (let t = 0; t < events.length; t++) {
    const action = events.action[t];
    if (action > TraceAction.FreeCompleted) continue;
    const address = events.address[t];
    const known = live.get(address);
    // Only the first event at an address shows what was there before the trace.
    if (known === FROM_TRACE || known === GONE) continue;
    const isRequest = action === TraceAction.FreeRequested;
    if (action === TraceAction.Alloc) live.set(address, FROM_TRACE);
    else {
      const isPending = !isRequest && kind.hasFreeRequested;
      const row = known === UNKNOWN ? found.push(fromFree(t, isPending)) : known;
      live.set(address, isRequest && !kind.completesOnRequest ? row : GONE);
    }
  }
  addFinalBlocks(trace, found, live, segments);
  return found;
}

/**
 * Adds blocks of the final segments that no event allocated. If such a block lies in a segment that the trace
 * allocated, it is not from before: it was allocated between the end of the trace and the writing of the segments.
 */
function addFinalBlocks(
  { blocks, segments }: DeviceTrace,
  found: PreexistingBlock[],
  live: AddressMap,
  before: readonly SegmentFields[],
): void {
  const places = [...before].sort((a, b) => a.address - b.address);
  const starts = places.map((place) => place.address);
  const wasThere = (address: number): boolean => {
    const place = places[upperBound(starts, address) - 1];
    return place !== undefined && address < place.address + place.sizeBytes;
  };
  for (let s = 0; s < segments.length; s++) {
    for (let b = segments.firstBlock[s]; b < segments.firstBlock[s + 1]; b++) {
      const address = blocks.address[b];
      const known = live.get(address);
      if (blocks.state[b] === BlockState.Inactive) continue;
      if (known === FROM_TRACE || known === GONE) continue;
      if (known === UNKNOWN && !wasThere(address)) continue;
      const block = blockFields(segments, s, blocks, b, NEVER);
      // The trace requested this free, so it was not pending before the trace.
      if (known > 0) found[known - 1] = { ...block, isPending: false };
      else found.push(block);
    }
  }
}

function findNativeSegments(trace: DeviceTrace, rules: BlockRules): SegmentFields[] {
  const { events, segments } = trace;
  const found: SegmentFields[] = [];
  const live = new AddressMap();
  for (let t = 0; t < events.length; t++) {
    const action = events.action[t];
    if (action !== TraceAction.SegmentAlloc && action !== TraceAction.SegmentFree) continue;
    const address = events.address[t];
    if (action === TraceAction.SegmentAlloc) live.set(address, FROM_TRACE);
    else {
      if (live.get(address) === UNKNOWN) {
        found.push({ ...segmentOfEvent(events, t, rules), stack: NO_STACK });
      }
      live.set(address, GONE);
    }
  }
  for (let s = 0; s < segments.length; s++) {
    if (segments.isExpandable[s] === 0 && live.get(segments.address[s]) === UNKNOWN) {
      found.push(segmentFields(segments, s));
    }
  }
  return found;
}

/** Expandable memory mapped before the trace: the final mappings, minus what was mapped, plus what was unmapped. */
function findMappings(trace: DeviceTrace, rules: BlockRules): SegmentFields[] {
  const { events, segments } = trace;
  const mapped: SegmentFields[] = [];
  for (let s = 0; s < segments.length; s++) {
    if (segments.isExpandable[s] === 1) mapped.push(segmentFields(segments, s));
  }
  for (let t = events.length - 1; t >= 0; t--) {
    const action = events.action[t];
    if (action !== TraceAction.SegmentMap && action !== TraceAction.SegmentUnmap) continue;
    const address = events.address[t];
    const sizeBytes = events.sizeBytes[t];
    if (action === TraceAction.SegmentMap) takeOut(mapped, address, sizeBytes);
    else {
      const own = segmentOfEvent(events, t, rules);
      // Ten small pages are as long as a large one. Adjacent mappings tell which they are.
      const touching = mapped.find(
        (piece) =>
          piece.stream === own.stream &&
          (piece.address + piece.sizeBytes === address || piece.address === address + sizeBytes),
      );
      mapped.push({
        ...own,
        pool: events.pool?.[t] ?? touching?.pool ?? 0,
        isSmall: touching?.isSmall ?? own.isSmall,
        stack: NO_STACK,
      });
    }
  }
  return mapped;
}

/** Removes [address, address + sizeBytes) from the pieces that overlap it and keeps the rest of them. */
function takeOut(mapped: SegmentFields[], address: number, sizeBytes: number): void {
  const end = address + sizeBytes;
  for (let i = mapped.length - 1; i >= 0; i--) {
    const piece = mapped[i];
    if (piece.address + piece.sizeBytes <= address || piece.address >= end) continue;
    mapped.splice(i, 1, ...restsOutside(piece, address, end));
  }
}

/** Reads the same from a part that was cut out of a recording: it stores its opening state. */
export function openingOf(trace: DeviceTrace, { segments, blocks }: InitialState): Preexisting {
  const ends = firstFrees(trace);
  const found: PreexistingBlock[] = [];
  for (let s = 0; s < segments.length; s++) {
    for (let b = segments.firstBlock[s]; b < segments.firstBlock[s + 1]; b++) {
      if (blocks.state[b] === BlockState.Inactive) continue;
      const end = ends.get(blocks.address[b]);
      found.push(blockFields(segments, s, blocks, b, end < 0 ? NEVER : end));
    }
  }
  return {
    blocks: inOrder(found),
    segments: Array.from({ length: segments.length }, (_, s) => segmentFields(segments, s)),
  };
}

/** Blocks that stay are drawn at the bottom. */
const inOrder = (blocks: PreexistingBlock[]): PreexistingBlock[] =>
  blocks.sort((a, b) => b.end - a.end || a.address - b.address);

/** The file's data on block `b`, which lies in segment `s`. */
function blockFields(
  segments: SegmentTable,
  s: number,
  blocks: BlockTable,
  b: number,
  end: EventIndex,
): PreexistingBlock {
  return {
    address: blocks.address[b],
    requestedBytes: blocks.requestedBytes[b],
    sizeBytes: blocks.sizeBytes[b],
    stream: segments.stream[s],
    stack: blocks.stack[b],
    isPending: blocks.state[b] === BlockState.PendingFree,
    end,
  };
}

/** The first free_completed at each address: no other block can use the address before that. */
function firstFrees({ events }: DeviceTrace): AddressMap {
  const first = new AddressMap();
  for (let t = 0; t < events.length; t++) {
    if (events.action[t] !== TraceAction.FreeCompleted) continue;
    if (first.get(events.address[t]) < 0) first.set(events.address[t], t);
  }
  return first;
}
