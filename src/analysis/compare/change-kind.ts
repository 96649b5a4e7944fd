/** In which way a call site's live allocations differ. */
import type { SideSite, SizeCount } from './side.ts';
import type { ChangeKind } from './types.ts';

/**
 * Allocations of one size on both sides cancel out; what is left says the kind:
 *
 *   A 4 × 2 MiB              B 6 × 2 MiB              more
 *   A 4 × 2 MiB              B 4 × 4 MiB              larger
 *   A 1 × 1 MiB, 1 × 3 MiB   B 1 × 2 MiB, 1 × 1 MiB   smaller
 *   A 4 × 2 MiB              B 6 × 4 MiB              mixed
 *
 * The same sizes on both sides are 'mixed': callers leave such sites out, for their bytes are equal.
 */
export function changeKind(a: readonly SideSite[], b: readonly SideSite[]): ChangeKind {
  if (a.length === 0) return 'only-b';
  if (b.length === 0) return 'only-a';
  const [sizesA, sizesB] = [sizesOf(a), sizesOf(b)];
  const restA = without(sizesA, sizesB);
  const restB = without(sizesB, sizesA);
  const [countA, countB] = [countOf(restA), countOf(restB)];
  if (countA === 0 && countB > 0) return 'more';
  if (countB === 0 && countA > 0) return 'fewer';
  if (countA !== countB || countA === 0) return 'mixed';
  return direction(restA, restB);
}

type Sizes = ReadonlyMap<number, number>;

function sizesOf(sites: readonly SideSite[]): Sizes {
  const sizes = new Map<number, number>();
  for (const { bytes, count } of sites.flatMap((site) => site.sizes)) {
    sizes.set(bytes, (sizes.get(bytes) ?? 0) + count);
  }
  return sizes;
}

/** Ascending by size. */
function without(sizes: Sizes, others: Sizes): SizeCount[] {
  return Array.from(sizes, ([bytes, count]) => ({ bytes, count: count - (others.get(bytes) ?? 0) }))
    .filter(({ count }) => count > 0)
    .sort((x, y) => x.bytes - y.bytes);
}

const countOf = (sizes: readonly SizeCount[]): number =>
  sizes.reduce((sum, { count }) => sum + count, 0);

/** As many on both sides, compared by their order: the smallest with the smallest. */
function direction(a: readonly SizeCount[], b: readonly SizeCount[]): ChangeKind {
  let grew = false;
  let shrank = false;
  let left = [...a];
  for (const { bytes, count } of b) {
    for (let taken = 0; taken < count; ) {
      const [first, ...others] = left;
      const both = Math.min(first.count, count - taken);
      if (bytes > first.bytes) grew = true;
      else shrank = true;
      taken += both;
      left = first.count > both ? [{ ...first, count: first.count - both }, ...others] : others;
    }
  }
  if (grew && shrank) return 'mixed';
  return grew ? 'larger' : 'smaller';
}
