/**
 * What was there before the first event. The trace does not list it, but it shows: as a free of a
 * block that no event allocated, as a segment that goes without having come, and as what the final
 * segments hold and no event brought. So the events are walked once, and the expandable mappings
 * backwards from the final ones.
 */
import { AddressMap } from '../base/address-map.ts';
import { lowerBound, upperBound } from '../base/binary-search.ts';
import {
  BlockState,
  type DeviceTrace,
  type EventIndex,
  NO_STACK,
  TraceAction,
} from '../snapshot/tables.ts';
import {
  type BlockRules,
  LARGE_PAGE_BYTES,
  roundSize,
  SMALL_BYTES,
  SMALL_SEGMENT_BYTES,
} from './rounding.ts';
import type { SegmentFields } from './segment-book.ts';
import { BEFORE_TRACE, NEVER } from './types.ts';

export interface PreexistingBlock {
  readonly address: number;
  readonly requestedBytes: number;
  /** From the final segments where it is still there, else rounded up from the bytes asked for. */
  readonly sizeBytes: number;
  readonly stream: number;
  readonly stack: number;
  /** Its free was requested before the trace. */
  readonly isPending: boolean;
  /** When it goes, which orders them: what stays is drawn at the bottom. */
  readonly end: EventIndex;
}

export interface Preexisting {
  readonly blocks: readonly PreexistingBlock[];
  readonly segments: readonly SegmentFields[];
}

export function findPreexisting(trace: DeviceTrace, rules: BlockRules): Preexisting {
  const segments = [...findNativeSegments(trace), ...findMappings(trace)];
  const blocks = trueSizes(trace, findBlocks(trace, rules), segments);
  return {
    blocks: blocks.sort((a, b) => b.end - a.end || a.address - b.address),
    segments,
  };
}

/**
 * Blocks of native large segments, with the rest they were not split from. The allocator splits no
 * rest of 1 MiB or less off a large block, so no free range of the large pool is that short: a gap of
 * at most 1 MiB, up to the next block, to the segment's end or to where an alloc then begins, is part
 * of the block. Example: 19 MiB asked for in a segment of 20 MiB is a block of 20 MiB.
 */
function trueSizes(
  trace: DeviceTrace,
  blocks: readonly PreexistingBlock[],
  segments: readonly SegmentFields[],
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
  for (let t = 0; byAddress.length > 0 && t < events.length; t++) {
    if (events.action[t] !== TraceAction.Alloc) continue;
    const before = upperBound(addresses, events.address[t]) - 1;
    if (before >= 0 && byAddress[before].end > t) limit(before, events.address[t]);
  }
  return byAddress.map((block, i) => {
    const rest = limits[i] - ends[i];
    const isPart = isLarge[i] === 1 && rest <= SMALL_BYTES;
    return isPart ? { ...block, sizeBytes: block.sizeBytes + rest } : block;
  });
}

const ALLOCATED = 0;
const PENDING = 1;

function findBlocks(trace: DeviceTrace, rules: BlockRules): PreexistingBlock[] {
  const { events, blocks, segments } = trace;
  const found: PreexistingBlock[] = [];
  const live = new AddressMap();
  const hasRequests = events.action.includes(TraceAction.FreeRequested);
  const fromFree = (event: EventIndex, isPending: boolean): PreexistingBlock => ({
    address: events.address[event],
    requestedBytes: events.sizeBytes[event] > 0 ? events.sizeBytes[event] : Number.NaN,
    sizeBytes: blockBytes(trace, rules, events.sizeBytes[event]),
    stream: events.stream[event],
    stack: NO_STACK,
    isPending,
    end: event,
  });
  for (let t = 0; t < events.length; t++) {
    const address = events.address[t];
    switch (events.action[t]) {
      case TraceAction.Alloc:
        live.set(address, ALLOCATED);
        break;
      case TraceAction.FreeRequested:
        if (live.get(address) < 0) found.push(fromFree(t, false));
        live.set(address, PENDING);
        break;
      case TraceAction.FreeCompleted:
        if (live.get(address) < 0) found.push(fromFree(t, hasRequests));
        live.delete(address);
        break;
      default:
    }
  }
  for (let s = 0; s < segments.length; s++) {
    for (let b = segments.firstBlock[s]; b < segments.firstBlock[s + 1]; b++) {
      if (blocks.state[b] === BlockState.Inactive || live.get(blocks.address[b]) >= 0) continue;
      found.push({
        address: blocks.address[b],
        requestedBytes: blocks.requestedBytes[b],
        sizeBytes: blocks.sizeBytes[b],
        stream: segments.stream[s],
        stack: blocks.stack[b],
        isPending: blocks.state[b] === BlockState.PendingFree,
        end: NEVER,
      });
    }
  }
  return found;
}

/** Pinned host memory is not rounded by the CUDA allocator's rules. */
export function blockBytes(trace: DeviceTrace, rules: BlockRules, requestedBytes: number): number {
  return trace.kind === 'host' ? requestedBytes : roundSize(requestedBytes, rules);
}

function findNativeSegments(trace: DeviceTrace): SegmentFields[] {
  const { events, segments } = trace;
  const found: SegmentFields[] = [];
  const live = new AddressMap();
  for (let t = 0; t < events.length; t++) {
    const action = events.action[t];
    const address = events.address[t];
    if (action === TraceAction.SegmentAlloc) live.set(address, t);
    else if (action === TraceAction.SegmentFree) {
      if (live.get(address) < 0) {
        const sizeBytes = events.sizeBytes[t];
        found.push({
          address,
          sizeBytes,
          stream: events.stream[t],
          pool: events.pool?.[t] ?? 0,
          isSmall: sizeBytes === SMALL_SEGMENT_BYTES,
          isExpandable: false,
          stack: NO_STACK,
        });
      }
      live.delete(address);
    }
  }
  for (let s = 0; s < segments.length; s++) {
    if (segments.isExpandable[s] === 0 && live.get(segments.address[s]) < 0) {
      found.push(finalSegment(trace, s));
    }
  }
  return found;
}

/** Expandable memory mapped before the trace: the final mappings, less what was mapped, plus what was unmapped. */
function findMappings(trace: DeviceTrace): SegmentFields[] {
  const { events, segments } = trace;
  let mapped: SegmentFields[] = [];
  for (let s = 0; s < segments.length; s++) {
    if (segments.isExpandable[s] === 1) mapped.push(finalSegment(trace, s));
  }
  for (let t = events.length - 1; t >= 0; t--) {
    const address = events.address[t];
    const sizeBytes = events.sizeBytes[t];
    if (events.action[t] === TraceAction.SegmentMap) mapped = without(mapped, address, sizeBytes);
    else if (events.action[t] === TraceAction.SegmentUnmap) {
      const isSmall = sizeBytes % LARGE_PAGE_BYTES !== 0;
      const stream = events.stream[t];
      mapped.push({
        address,
        sizeBytes,
        stream,
        pool: 0,
        isSmall,
        isExpandable: true,
        stack: NO_STACK,
      });
    }
  }
  return mapped;
}

function without(
  mapped: readonly SegmentFields[],
  address: number,
  sizeBytes: number,
): SegmentFields[] {
  const end = address + sizeBytes;
  return mapped.flatMap((piece) => {
    const to = piece.address + piece.sizeBytes;
    if (to <= address || piece.address >= end) return [piece];
    const rests: SegmentFields[] = [];
    if (piece.address < address) rests.push({ ...piece, sizeBytes: address - piece.address });
    if (to > end) rests.push({ ...piece, address: end, sizeBytes: to - end });
    return rests;
  });
}

function finalSegment({ segments }: DeviceTrace, s: number): SegmentFields {
  return {
    address: segments.address[s],
    sizeBytes: segments.totalBytes[s],
    stream: segments.stream[s],
    pool: segments.pool[s],
    isSmall: segments.isSmall[s] === 1,
    isExpandable: segments.isExpandable[s] === 1,
    stack: segments.stack[s],
  };
}

/** Start states for the replay: BEFORE_TRACE allocations that are pending were freed before it too. */
export function freeRequestedOf(block: PreexistingBlock): EventIndex {
  return block.isPending ? BEFORE_TRACE : NEVER;
}
