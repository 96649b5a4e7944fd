/** Segments and their free ranges after one event, and what fragments them: pinning blocks and ever-changing sizes. */

import { liveAt } from '../../allocator/replay/trace-events.ts';
import { type AllocationIndex, isPrivatePool, NEVER } from '../../allocator/replay/types.ts';
import { mappedRangesAt } from '../../allocator/state/allocator-state.ts';
import { addUp, countOne, getOrMake, sumBy } from '../../base/collections.ts';
import { highest, lowest } from '../../base/extremes.ts';
import { formatBytes, plural } from '../../base/format.ts';
import { reservedOverhead } from '../../device/model/main-device.ts';
import type { EventIndex, StackIndex } from '../../format/snapshot/tables.ts';
import type { AnalysisInput } from '../findings/analysis-input.ts';
import { type SiteSum, sitePart, sumByStack } from '../findings/finding-parts.ts';
import type { AddressGap, FindingPart } from '../findings/types.ts';
import { forEachMade, MIN_STEPS, stepCount } from '../steps/step-sequence.ts';

/** A segment, or a contiguous piece of expandable memory: freed as a whole. */
export interface SegmentState {
  readonly address: number;
  readonly sizeBytes: number;
  readonly isSmall: boolean;
  readonly isExpandable: boolean;
  /** In a private pool (CUDA graph, MemPool): no request outside that pool can use its free memory. */
  readonly isPrivate: boolean;
  readonly freeBytes: number;
  readonly largestFreeBytes: number;
  /** Of what is expandable, its first page; -1: before the trace. */
  readonly takenAt: EventIndex;
  /** Its blocks, active or pending. The allocator could give back a segment without any. */
  readonly live: readonly AllocationIndex[];
  readonly gaps: readonly AddressGap[];
}

/** The segments after `event`, with their live blocks and gaps; everything sorted by address. */
export function segmentsAt(context: AnalysisInput, event: EventIndex): SegmentState[] {
  const { allocations: table, segmentSpans } = context.input.replay;
  const live = liveAt(table, event).sort((a, b) => table.address[a] - table.address[b]);
  let next = 0;
  return mappedRangesAt(segmentSpans, event).map(({ address, sizeBytes, spans: [row] }) => {
    const end = address + sizeBytes;
    while (next < live.length && table.address[live[next]] < address) next++;
    const inside: AllocationIndex[] = [];
    const gaps: AddressGap[] = [];
    let at = address;
    for (; next < live.length && table.address[live[next]] < end; next++) {
      const id = live[next];
      inside.push(id);
      if (table.address[id] > at) gaps.push({ address: at, sizeBytes: table.address[id] - at });
      at = Math.max(at, table.address[id] + table.sizeBytes[id]);
    }
    if (end > at) gaps.push({ address: at, sizeBytes: end - at });
    return {
      address,
      sizeBytes,
      isSmall: segmentSpans.isSmall[row] === 1,
      isExpandable: segmentSpans.isExpandable[row] === 1,
      isPrivate: isPrivatePool(context.input.trace.pools[segmentSpans.pool[row]]),
      takenAt: segmentSpans.start[row],
      live: inside,
      gaps,
      freeBytes: gaps.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
      largestFreeBytes: gaps.reduce((most, { sizeBytes }) => Math.max(most, sizeBytes), 0),
    };
  });
}

/** Free memory that requests in the default pool can't use. */
export const strandedBytes = (segments: readonly SegmentState[]): number =>
  sumBy(segments, ({ isPrivate, freeBytes }) => (isPrivate ? freeBytes : 0));

const strandedAtPeak = (context: AnalysisInput): number =>
  context.input.trace.pools.some(isPrivatePool)
    ? strandedBytes(segmentsAt(context, context.input.replay.peaks.reservedBytes.event))
    : 0;

/**
 * See `reservedOverhead`. Free memory of private pools is not part of it: replays of a CUDA graph write there, and an
 * allocator that can sleep keeps it.
 */
export function overheadOf(context: AnalysisInput, ooms: number) {
  const { reservedBytes, activeBytes } = context.input.replay.peaks;
  const stranded = context.once(strandedAtPeak);
  const bytes = Math.max(activeBytes.bytes, reservedBytes.bytes - stranded);
  return {
    ...reservedOverhead({ reservedBytes: { ...reservedBytes, bytes }, activeBytes }, ooms),
    stranded,
  };
}

const MAX_GAPS = 200;

/** The largest gaps of all segments, as many as a finding shows. */
export function largestGaps(segments: readonly SegmentState[]): AddressGap[] {
  const gaps = segments.flatMap((segment) => segment.gaps);
  return gaps.sort((a, b) => b.sizeBytes - a.sizeBytes).slice(0, MAX_GAPS);
}

export interface Pin {
  /** The call site, with the bytes of the gaps that it pins. */
  readonly part: FindingPart;
  readonly allocations: readonly AllocationIndex[];
}

/**
 * A segment returns to the driver only when it is empty. The blocks still in it share its free bytes evenly, so the
 * sums stay correct.
 */
export function pinningSites(context: AnalysisInput, segments: readonly SegmentState[]): Pin[] {
  const { stack, preexisting } = context.input.replay.allocations;
  const bySite = new Map<number, { bytes: number; ids: number[]; segments: number }>();
  for (const { live, freeBytes, isSmall } of segments) {
    if (live.length === 0 || freeBytes === 0 || isSmall) continue;
    const counted = new Set<number>();
    for (const id of live) {
      const site = bySite.get(stack[id]) ?? { bytes: 0, ids: [], segments: 0 };
      bySite.set(stack[id], site);
      site.bytes += freeBytes / live.length;
      site.ids.push(id);
      if (!counted.has(stack[id])) site.segments++;
      counted.add(stack[id]);
    }
  }
  return [...bySite]
    .map(([site, { bytes, ids, segments: count }]) => ({
      part: sitePart(
        context,
        {
          stack: site,
          bytes: Math.round(bytes),
          count: ids.length,
          isFromBefore: highest(ids) < preexisting,
        },
        `pins ${plural(count, 'segment')}`,
      ),
      allocations: ids,
    }))
    .sort((a, b) => b.part.bytes - a.part.bytes);
}

/** Who had the large segments taken that are empty now, the largest first: what it needed then, nothing needs at this moment. */
export function takersOfEmpty(
  { input }: AnalysisInput,
  segments: readonly SegmentState[],
): SiteSum[] {
  const empty = segments.filter(
    ({ live, isSmall, isExpandable, takenAt }) =>
      live.length === 0 && !isSmall && !isExpandable && takenAt >= 0,
  );
  const events = empty.map(({ takenAt }) => takenAt).sort((a, b) => a - b);
  return sumByStack(input.trace.events, events);
}

/** Share of the steps. */
const ALIKE_SHARE = 0.75;

/** Whether most steps ask for the same large sizes in the same order: then padding and sorting change nothing. */
export function asksAlike(context: AnalysisInput): boolean {
  const [primary] = context.stepSequences;
  if (primary === undefined || stepCount(primary) < MIN_STEPS) return false;
  const { requestedBytes } = context.input.replay.allocations;
  // By step, a hash of its sizes in order.
  const hashes = new Int32Array(stepCount(primary));
  forEachMade(context.input.replay.allocations, primary, (id, step) => {
    if (requestedBytes[id] > LARGE_BYTES)
      hashes[step] = Math.imul(hashes[step], 31) + (requestedBytes[id] % 2 ** 31);
  });
  const counts = new Map<number, number>();
  for (const hash of hashes) countOne(counts, hash);
  return highest([...counts.values()]) >= ALIKE_SHARE * hashes.length;
}

export interface VaryingSizes {
  readonly stack: StackIndex;
  /** Number of different sizes above the small pool's limit. */
  readonly sizes: number;
  readonly smallestBytes: number;
  readonly largestBytes: number;
  readonly bytes: number;
}

/** Follows the line's name: 'asked for 12 different sizes from 2 MiB to 48 MiB, and …' */
export const sizesText = ({ sizes, smallestBytes, largestBytes }: VaryingSizes): string =>
  `asked for ${plural(sizes, 'different size')} from ${formatBytes(smallestBytes)} to ${formatBytes(largestBytes)}, and blocks cached for one do not fit the next.`;

/** Smaller requests share 2 MiB segments and pin little. */
const LARGE_BYTES = 2 ** 20;
const MIN_SIZES = 4;

export function varyingSites(context: AnalysisInput): VaryingSizes[] {
  const { stack, requestedBytes, freeRequested, length, preexisting } =
    context.input.replay.allocations;
  const freed = new Set<StackIndex>();
  const sizes = new Map<StackIndex, Set<number>>();
  const bytes = new Map<StackIndex, number>();
  for (let id = preexisting; id < length; id++) {
    if (requestedBytes[id] <= LARGE_BYTES) continue;
    getOrMake(sizes, stack[id], () => new Set()).add(requestedBytes[id]);
    addUp(bytes, stack[id], requestedBytes[id]);
    if (freeRequested[id] !== NEVER) freed.add(stack[id]);
  }
  // Of data that stays no block is ever cached.
  return [...sizes]
    .filter(([site, seen]) => seen.size >= MIN_SIZES && freed.has(site))
    .map(([site, seen]) => ({
      stack: site,
      sizes: seen.size,
      smallestBytes: lowest([...seen]),
      largestBytes: highest([...seen]),
      bytes: bytes.get(site) ?? 0,
    }))
    .sort((a, b) => b.sizes - a.sizes || b.bytes - a.bytes);
}
