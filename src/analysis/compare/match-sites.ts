/**
 * Matches call sites of B with those of A, within each class: by whole call stack; then by the innermost line outside
 * PyTorch, which checkpointing, compilers and wrappers don't change; then model and optimizer state by PyTorch's own
 * line; last, sites without a stack and sites with identical sizes. Never by time or address.
 */

import { addUp, getOrMake, sumBy } from '../../base/collections.ts';
import { TupleInterner } from '../../base/interners.ts';
import type { FrameAlignment } from './align-frames.ts';
import type { SideSite } from './build-profile.ts';
import { framesOf, lineOf } from './change-text.ts';
import type { Change, ChangeKind, RunProfile, SideEntry } from './types.ts';

interface Matched {
  readonly a: SideSite[];
  readonly b: SideSite[];
}

export type MergedStacks = ReturnType<typeof mergeStacks>;

/** @returns every site of both sides once */
export function matchSites(
  a: RunProfile,
  b: RunProfile,
  { toA }: FrameAlignment,
  merged: MergedStacks,
): Matched[] {
  const found: Matched[] = [];
  let rest: Matched = { a: [...a.sites], b: [...b.sites] };
  const match = (keyA: KeyOf, keyB: KeyOf) => {
    const groups = new Map<string, Matched>();
    const left: Matched = { a: [], b: [] };
    const groupOf = (key: string | number | undefined, site: SideSite) =>
      key === undefined
        ? left
        : getOrMake(groups, `${site.class} ${key}`, () => ({ a: [], b: [] }));
    for (const site of rest.a) groupOf(keyA(site), site).a.push(site);
    for (const site of rest.b) groupOf(keyB(site), site).b.push(site);
    for (const sites of groups.values()) {
      if (sites.a.length > 0 && sites.b.length > 0) found.push(sites);
      else {
        left.a.push(...sites.a);
        left.b.push(...sites.b);
      }
    }
    rest = left;
  };
  match(
    ({ stack }) => (stack > 0 ? merged.ofA[stack] : stack),
    ({ stack }) => (stack > 0 ? merged.ofB[stack] : stack),
  );
  match(
    ({ stack }) => ownFrame(a, stack),
    ({ stack }) => {
      const frame = ownFrame(b, stack);
      // A line that only B has gets a number that no line of A has.
      return frame === undefined || toA[frame] >= 0 ? toA[frame ?? -1] : a.frames.length + frame;
    },
  );
  const pytorch = (side: RunProfile, { class: own, stack }: SideSite) =>
    STATE_CLASSES.has(own) && hasPython(side, stack) ? side.stacks.frame[stack] : undefined;
  match(
    (site) => pytorch(a, site),
    (site) => {
      const frame = toA[pytorch(b, site) ?? -1];
      return frame === -1 ? undefined : frame;
    },
  );
  const withoutPython = (side: RunProfile) => (site: SideSite) =>
    hasPython(side, site.stack) ? undefined : 'any';
  match(withoutPython(a), withoutPython(b));
  const sizes = (site: SideSite) =>
    site.sizes.map(({ bytes, count }) => `${bytes}×${count}`).join() || undefined;
  match(sizes, sizes);
  return [
    ...found,
    ...rest.a.map((site) => ({ a: [site], b: [] })),
    ...rest.b.map((site) => ({ a: [], b: [site] })),
  ];
}

type KeyOf = (site: SideSite) => string | number | undefined;

/**
 * The user's line says little about these: it is where the model moves to the GPU or where the optimizer is called, and
 * another experiment may do that in another function.
 */
const STATE_CLASSES: ReadonlySet<string> = new Set(['parameters', 'optimizer-state', 'gradients']);

/** The innermost frame outside PyTorch and Python itself. */
function ownFrame(side: RunProfile, stack: number): number | undefined {
  for (const frame of framesOf(side, stack)) {
    const { kind } = side.frames[frame];
    if (kind === 'user' || kind === 'framework') return frame;
  }
  return undefined;
}

function hasPython({ frames, stacks }: RunProfile, stack: number): boolean {
  return stack > 0 && frames[stacks.frame[stack]].kind !== 'cpp';
}

/** Both sides' stacks as rows of one tree: equal frames, from the outermost in, share a row. */
export function mergeStacks(a: RunProfile, b: RunProfile, { toA }: FrameAlignment) {
  const rows = new TupleInterner();
  rows.intern(-1, -1, 0);
  const merged = ({ stacks }: RunProfile, frameOf: (frame: number) => number) => {
    const rowOf = new Int32Array(stacks.length);
    for (let row = 1; row < stacks.length; row++) {
      rowOf[row] = rows.intern(frameOf(stacks.frame[row]), rowOf[stacks.parent[row]], 0);
    }
    return rowOf;
  };
  const ofA = merged(a, (frame) => frame);
  const ofB = merged(b, (frame) => (toA[frame] < 0 ? a.frames.length + frame : toA[frame]));
  const { length } = rows;
  /** `frame`: of A, or after those a frame of B without a counterpart; -1 for row 0. */
  return { ofA, ofB, length, frame: rows.a.slice(0, length), parent: rows.b.slice(0, length) };
}

export function changeOf(
  a: readonly Pick<SideEntry, 'bytes' | 'count'>[],
  b: readonly Pick<SideEntry, 'bytes' | 'count'>[],
): Change {
  const [bytesA, bytesB] = [a, b].map((parts) => sumBy(parts, ({ bytes }) => bytes));
  const [countA, countB] = [a, b].map((parts) => sumBy(parts, ({ count }) => count));
  return { bytesA, bytesB, differenceBytes: bytesB - bytesA, countA, countB };
}

export const siteChange = (a: RunProfile, b: RunProfile, { a: sitesA, b: sitesB }: Matched) => ({
  kind: changeKind(sitesA, sitesB),
  class: (sitesA[0] ?? sitesB[0]).class,
  a: halfOf(a, sitesA),
  b: halfOf(b, sitesB),
  ...changeOf(sitesA, sitesB),
  sizesA: sitesA.flatMap(({ sizes }) => sizes),
  sizesB: sitesB.flatMap(({ sizes }) => sizes),
});

/** The stack with the most bytes represents the others. */
function halfOf(side: RunProfile, sites: readonly SideSite[]) {
  if (sites.length === 0) return undefined;
  const sorted = sites.toSorted((x, y) => y.bytes - x.bytes);
  const [{ stack, example }] = sorted;
  return {
    /** The line that represents it; undefined if no stack was recorded. */
    frame: lineOf(side, stack),
    /** Where memory was allocated: often a line of PyTorch below `frame`. */
    innermost: stack > 0 ? side.frames[side.stacks.frame[stack]] : undefined,
    /** The stack with the most bytes first. */
    stacks: sorted.map((site) => site.stack),
    /** An allocation from the first stack, by AllocationIndex; -1 if there is none. */
    example,
  };
}

/**
 * Allocations of one size on both sides cancel out; the rest decides the kind:
 *
 *   A 4 × 2 MiB              B 6 × 2 MiB              more
 *   A 4 × 2 MiB              B 4 × 4 MiB              larger
 *   A 1 × 1 MiB, 1 × 3 MiB   B 1 × 2 MiB, 1 × 1 MiB   smaller
 *   A 4 × 2 MiB              B 6 × 4 MiB              mixed
 *
 * Identical sizes on both sides give 'mixed'; callers leave such sites out because their bytes are equal.
 */
function changeKind(a: readonly SideSite[], b: readonly SideSite[]): ChangeKind {
  if (a.length === 0) return 'only-b';
  if (b.length === 0) return 'only-a';
  const [sizesA, sizesB] = [sizesOf(a), sizesOf(b)];
  const restA = without(sizesA, sizesB);
  const restB = without(sizesB, sizesA);
  if (restA.length === 0 && restB.length > 0) return 'more';
  if (restB.length === 0 && restA.length > 0) return 'fewer';
  if (restA.length !== restB.length || restA.length === 0) return 'mixed';
  // The smallest is compared with the smallest.
  const grew = restB.some((bytes, i) => bytes > restA[i]);
  if (grew && restB.some((bytes, i) => bytes < restA[i])) return 'mixed';
  return grew ? 'larger' : 'smaller';
}

type Sizes = ReadonlyMap<number, number>;

function sizesOf(sites: readonly SideSite[]): Sizes {
  const sizes = new Map<number, number>();
  for (const { bytes, count } of sites.flatMap((site) => site.sizes)) addUp(sizes, bytes, count);
  return sizes;
}

/** The size of each allocation that the others lack, ascending. */
const without = (sizes: Sizes, others: Sizes): number[] =>
  [...sizes]
    .flatMap(([bytes, count]) =>
      new Array<number>(Math.max(0, count - (others.get(bytes) ?? 0))).fill(bytes),
    )
    .sort((x, y) => x - y);
