/**
 * A caching allocator written for clarity, not speed: sorted lists of blocks, counters by adding up. It plays the
 * programs that tests draw, as an independent check of the replay: the allocator knows what it did, and the replay
 * must find it out.
 */
import type { Counters } from '../allocator/replay/types.ts';

const KI = 1024;
const MI = KI * KI;
const SMALL_PAGE = 2 * MI;
const LARGE_PAGE = 20 * MI;
/** Expandable segments begin at multiples of this, and their pages count from there. */
export const RESERVED = 2 ** 32;

export interface NaiveBlock {
  address: number;
  bytes: number;
  state: 'inactive' | 'active_allocated' | 'active_pending_free';
  requestedBytes: number;
  frames: readonly object[] | undefined;
}

export interface SegmentPlace {
  readonly stream: number;
  readonly pool: readonly [number, number];
  readonly isSmall: boolean;
  readonly isExpandable: boolean;
}

/** One cudaMalloc, or one unbroken range of mapped pages of an expandable segment. */
export interface NaiveSegment extends SegmentPlace {
  address: number;
  blocks: NaiveBlock[];
  readonly frames: readonly object[] | undefined;
}

const endOf = (block: NaiveBlock): number => block.address + block.bytes;
export const segmentBytes = (segment: NaiveSegment): number => sum(segment.blocks, (b) => b.bytes);
export const isSmallRequest = (bytes: number): boolean => roundUp(bytes) <= MI;

/** Bytes of the cudaMalloc for a request: 2 MiB, 20 MiB, or the request rounded up to 2 MiB. */
export function segmentBytesFor(bytes: number): number {
  if (isSmallRequest(bytes)) return 2 * MI;
  return roundUp(bytes) < 10 * MI ? 20 * MI : Math.ceil(bytes / (2 * MI)) * 2 * MI;
}

export class NaiveAllocator {
  readonly segments: NaiveSegment[] = [];
  /** Requests of this size or more split nothing. */
  maxSplitBytes = Infinity;

  /** A new segment, or new pages, which join an adjacent mapped range. */
  grow(address: number, bytes: number, place: SegmentPlace, frames?: readonly object[]): void {
    const block = freeBlock(address, bytes);
    this.segments.push({ ...place, address, blocks: [block], frames });
    this.segments.sort((a, b) => a.address - b.address);
    if (place.isExpandable) this.#joinMappings();
  }

  /** Returns memory: a whole segment, or pages in the middle of a free block. */
  shrink(address: number, bytes: number): void {
    const { segment, block } = this.#freeBlockWith(address, bytes);
    const { blocks, ...place } = segment;
    const before = blocks.filter((b) => b.address < block.address);
    const after = blocks.filter((b) => b.address > block.address);
    if (block.address < address) before.push(freeBlock(block.address, address - block.address));
    const rest = endOf(block) - address - bytes;
    if (rest > 0) after.unshift(freeBlock(address + bytes, rest));
    const parts = [before, after].filter((part) => part.length > 0);
    const kept = parts.map((part) => ({ ...place, address: part[0].address, blocks: part }));
    this.segments.splice(this.segments.indexOf(segment), 1, ...kept);
  }

  /** What empty_cache returns: completely free segments, and whole pages of mapped ranges. */
  releasable(): { address: number; bytes: number; isExpandable: boolean }[] {
    return this.segments.flatMap(({ blocks, isExpandable, isSmall }) =>
      blocks
        .filter((b) => b.state === 'inactive' && (isExpandable || blocks.length === 1))
        .map((b) => {
          if (!isExpandable) return { address: b.address, bytes: b.bytes, isExpandable };
          const page = isSmall ? SMALL_PAGE : LARGE_PAGE;
          const base = Math.floor(b.address / RESERVED) * RESERVED;
          const address = base + Math.ceil((b.address - base) / page) * page;
          const end = base + Math.floor((endOf(b) - base) / page) * page;
          return { address, bytes: end - address, isExpandable };
        })
        .filter(({ bytes }) => bytes > 0),
    );
  }

  /** The free block that a request would get: the smallest that fits, at the lowest address. */
  bestFit(bytes: number, place: Omit<SegmentPlace, 'isExpandable'>): NaiveBlock | undefined {
    const fits = this.segments
      .filter((s) => s.stream === place.stream && s.isSmall === place.isSmall)
      .filter((s) => s.pool[0] === place.pool[0] && s.pool[1] === place.pool[1])
      .flatMap((s) => s.blocks)
      .filter((b) => b.state === 'inactive' && b.bytes >= roundUp(bytes));
    return fits.sort((a, b) => a.bytes - b.bytes || a.address - b.address)[0];
  }

  /** Takes the front of a free block, or all of it if the rest is not split off. */
  take(block: NaiveBlock, requestedBytes: number, frames: readonly object[] | undefined): void {
    const segment = this.#segmentOf(block);
    const rounded = roundUp(requestedBytes);
    const rest = block.bytes - rounded;
    const splits =
      segment.isSmall || segment.isExpandable
        ? rest >= 512
        : rest > MI && rounded < this.maxSplitBytes;
    if (splits) {
      const at = segment.blocks.indexOf(block) + 1;
      segment.blocks.splice(at, 0, freeBlock(block.address + rounded, rest));
      block.bytes = rounded;
    }
    Object.assign(block, { state: 'active_allocated', requestedBytes, frames });
  }

  requestFree(block: NaiveBlock): void {
    block.state = 'active_pending_free';
  }

  completeFree(block: NaiveBlock): void {
    const segment = this.#segmentOf(block);
    Object.assign(block, freeBlock(block.address, block.bytes));
    segment.blocks = mergeFree(segment.blocks);
  }

  /** The five counters of memory_stats(), by adding up. */
  counters(): Counters {
    const blocks = this.segments.flatMap((s) => s.blocks);
    const active = blocks.filter((b) => b.state !== 'inactive');
    const split = this.segments
      .filter((s) => !s.isExpandable && s.blocks.length > 1)
      .flatMap((s) => s.blocks.filter((b) => b.state === 'inactive'));
    return {
      requestedBytes: sum(active, (b) => b.requestedBytes),
      allocatedBytes: sum(active, (b) => (b.state === 'active_allocated' ? b.bytes : 0)),
      activeBytes: sum(active, (b) => b.bytes),
      reservedBytes: sum(this.segments, segmentBytes),
      inactiveSplitBytes: sum(split, (b) => b.bytes),
    };
  }

  #segmentOf(block: NaiveBlock): NaiveSegment {
    const segment = this.segments.find((s) => s.blocks.includes(block));
    if (segment === undefined) throw new Error(`No segment holds 0x${block.address.toString(16)}`);
    return segment;
  }

  #freeBlockWith(address: number, bytes: number): { segment: NaiveSegment; block: NaiveBlock } {
    for (const segment of this.segments) {
      const block = segment.blocks.find(
        (b) => b.address <= address && address + bytes <= endOf(b) && b.state === 'inactive',
      );
      if (block !== undefined) return { segment, block };
    }
    throw new Error(`No free memory at 0x${address.toString(16)}`);
  }

  #joinMappings(): void {
    for (let i = this.segments.length - 1; i > 0; i--) {
      const [low, high] = [this.segments[i - 1], this.segments[i]];
      const touch = low.address + segmentBytes(low) === high.address;
      const same = low.stream === high.stream && low.isSmall === high.isSmall;
      if (!touch || !same || !low.isExpandable || !high.isExpandable) continue;
      low.blocks = mergeFree([...low.blocks, ...high.blocks]);
      this.segments.splice(i, 1);
    }
  }
}

function mergeFree(blocks: readonly NaiveBlock[]): NaiveBlock[] {
  const merged: NaiveBlock[] = [];
  for (const block of blocks) {
    const last = merged.at(-1);
    if (last?.state === 'inactive' && block.state === 'inactive') last.bytes += block.bytes;
    else merged.push(block);
  }
  return merged;
}

const freeBlock = (address: number, bytes: number): NaiveBlock => ({
  address,
  bytes,
  state: 'inactive',
  requestedBytes: 0,
  frames: undefined,
});

function roundUp(bytes: number): number {
  return Math.max(512, Math.ceil(bytes / 512) * 512);
}

function sum<T>(items: readonly T[], of: (item: T) => number): number {
  return items.reduce((total, item) => total + of(item), 0);
}
