/**
 * Matches call sites of B with those of A, within each class: by whole call stack; then by the innermost line outside
 * PyTorch, which checkpointing, compilers and wrappers don't change; then model and optimizer state by PyTorch's own
 * line; last, sites without a stack and sites with identical sizes. Never by time or address.
 */

import { TupleInterner } from '../../base/interners.ts';
import { getOrMake } from '../../base/memoized.ts';
import type { FrameAlignment } from './align-frames.ts';
import type { RunProfile, SideSite, SideStacks, SizeCount } from './run-profile.ts';
import type { ChangeKind } from './types.ts';

export interface MatchedSites {
  readonly a: readonly SideSite[];
  readonly b: readonly SideSite[];
}

/** Rows of both sides' stacks as rows of one tree. */
export interface MergedStacks extends SideStacks {
  readonly ofA: Int32Array;
  readonly ofB: Int32Array;
  /** A frame of A, or after those a frame of B without a counterpart; -1 for row 0. */
  readonly frame: Int32Array;
}

/** @returns every site of both sides once */
export function matchSites(
  a: RunProfile,
  b: RunProfile,
  { toA }: FrameAlignment,
  merged: MergedStacks,
): MatchedSites[] {
  const found: MatchedSites[] = [];
  let restA = a.sites;
  let restB = b.sites;
  const match = (keyA: KeyOf, keyB: KeyOf) => {
    const groups = new Map<string, { a: SideSite[]; b: SideSite[] }>();
    const group = (key: string) => getOrMake(groups, key, () => ({ a: [], b: [] }));
    const unkeyed: { a: SideSite[]; b: SideSite[] } = { a: [], b: [] };
    for (const site of restA) (keyed(keyA, site, group) ?? unkeyed).a.push(site);
    for (const site of restB) (keyed(keyB, site, group) ?? unkeyed).b.push(site);
    for (const sites of groups.values()) {
      if (sites.a.length > 0 && sites.b.length > 0) found.push(sites);
      else {
        unkeyed.a.push(...sites.a);
        unkeyed.b.push(...sites.b);
      }
    }
    restA = unkeyed.a;
    restB = unkeyed.b;
  };
  match(
    ({ stack }) => `${stack > 0 ? merged.ofA[stack] : stack}`,
    ({ stack }) => `${stack > 0 ? merged.ofB[stack] : stack}`,
  );
  const own = (frame: number, offset: number) => (frame < 0 ? undefined : `${frame + offset}`);
  match(
    ({ stack }) => own(ownFrame(a, stack), 0),
    ({ stack }) => {
      const frame = ownFrame(b, stack);
      // A line that only B has gets a number that no line of A has.
      return frame < 0 || toA[frame] >= 0
        ? own(frame < 0 ? -1 : toA[frame], 0)
        : own(frame, a.frames.length);
    },
  );
  const pytorch = (side: RunProfile, frameOf: (frame: number) => number) => (site: SideSite) =>
    STATE_CLASSES.has(site.class) && hasPython(side, site.stack)
      ? own(frameOf(side.stacks.frame[site.stack]), 0)
      : undefined;
  match(
    pytorch(a, (frame) => frame),
    pytorch(b, (frame) => toA[frame]),
  );
  const withoutPython = (side: RunProfile) => (site: SideSite) =>
    hasPython(side, site.stack) ? undefined : 'any';
  match(withoutPython(a), withoutPython(b));
  const sizes = (site: SideSite) =>
    site.sizes.map(({ bytes, count }) => `${bytes}×${count}`).join() || undefined;
  match(sizes, sizes);
  for (const site of restA) found.push({ a: [site], b: [] });
  for (const site of restB) found.push({ a: [], b: [site] });
  return found;
}

/**
 * The user's line says little about these: it is where the model moves to the GPU or where the optimizer is called, and
 * another experiment may do that in another function.
 */
const STATE_CLASSES: ReadonlySet<string> = new Set(['parameters', 'optimizer-state', 'gradients']);

type KeyOf = (site: SideSite) => string | undefined;

function keyed<T>(keyOf: KeyOf, site: SideSite, group: (key: string) => T): T | undefined {
  const key = keyOf(site);
  return key === undefined ? undefined : group(`${site.class} ${key}`);
}

/** The innermost frame outside PyTorch and Python itself; -1 without one. */
function ownFrame({ frames, stacks }: RunProfile, stack: number): number {
  for (let row = stack; row > 0; row = stacks.parent[row]) {
    const { kind } = frames[stacks.frame[row]];
    if (kind === 'user' || kind === 'framework') return stacks.frame[row];
  }
  return -1;
}

function hasPython({ frames, stacks }: RunProfile, stack: number): boolean {
  return stack > 0 && frames[stacks.frame[stack]].kind !== 'cpp';
}

/** Equal frames, from the outermost in, share a row. */
export function mergeStacks(a: RunProfile, b: RunProfile, { toA }: FrameAlignment): MergedStacks {
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
  return { ofA, ofB, length, frame: rows.a.slice(0, length), parent: rows.b.slice(0, length) };
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

function without(sizes: Sizes, others: Sizes): SizeCount[] {
  return Array.from(sizes, ([bytes, count]) => ({ bytes, count: count - (others.get(bytes) ?? 0) }))
    .filter(({ count }) => count > 0)
    .sort((x, y) => x.bytes - y.bytes);
}

const countOf = (sizes: readonly SizeCount[]): number =>
  sizes.reduce((sum, { count }) => sum + count, 0);

/** For equal counts: compares sizes in order, the smallest with the smallest. */
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
