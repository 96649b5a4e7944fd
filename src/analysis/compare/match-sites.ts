/**
 * Which call sites of B are those of A. First by the whole call stack, with B's lines in A's numbers; of what
 * is left by the innermost line outside of PyTorch, which checkpointing, a compiler or a wrapper leaves as it
 * is. What a model and an optimizer keep is then matched by PyTorch's own line. Last, by class: what has no
 * stack, and call sites with the very same sizes. Always within a class, and never by time or address.
 */
import { getOrMake } from '../../base/memoized.ts';
import { TupleInterner } from '../../base/tuple-interner.ts';
import type { FrameAlignment } from './align-frames.ts';
import type { ComparisonSide, SideSite, SideStacks } from './side.ts';

export interface MatchedSites {
  readonly a: readonly SideSite[];
  readonly b: readonly SideSite[];
}

/** Rows of both sides' stacks as rows of one tree. */
export interface MergedStacks extends SideStacks {
  readonly ofA: Int32Array;
  readonly ofB: Int32Array;
  /** A frame of A, or behind those a frame of B that has no counterpart; -1 for row 0. */
  readonly frame: Int32Array;
}

/** @returns every site of both sides once */
export function matchSites(
  a: ComparisonSide,
  b: ComparisonSide,
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
      // A line of B alone has a number that no line of A has.
      return frame < 0 || toA[frame] >= 0
        ? own(frame < 0 ? -1 : toA[frame], 0)
        : own(frame, a.frames.length);
    },
  );
  const pytorch = (side: ComparisonSide, frameOf: (frame: number) => number) => (site: SideSite) =>
    STATE_CLASSES.has(site.class) && hasPython(side, site.stack)
      ? own(frameOf(side.stacks.frame[site.stack]), 0)
      : undefined;
  match(
    pytorch(a, (frame) => frame),
    pytorch(b, (frame) => toA[frame]),
  );
  const withoutPython = (side: ComparisonSide) => (site: SideSite) =>
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
 * What the user's line says little about: it is where the model is moved to the GPU, or the optimizer is called,
 * and a run of another experiment does that in another function.
 */
const STATE_CLASSES: ReadonlySet<string> = new Set(['parameters', 'optimizer-state', 'gradients']);

type KeyOf = (site: SideSite) => string | undefined;

function keyed<T>(keyOf: KeyOf, site: SideSite, group: (key: string) => T): T | undefined {
  const key = keyOf(site);
  return key === undefined ? undefined : group(`${site.class} ${key}`);
}

/** The innermost frame outside of PyTorch and of Python itself; -1 without one. */
function ownFrame({ frames, stacks }: ComparisonSide, stack: number): number {
  for (let row = stack; row > 0; row = stacks.parent[row]) {
    const { kind } = frames[stacks.frame[row]];
    if (kind === 'user' || kind === 'framework') return stacks.frame[row];
  }
  return -1;
}

function hasPython({ frames, stacks }: ComparisonSide, stack: number): boolean {
  return stack > 0 && frames[stacks.frame[stack]].kind !== 'cpp';
}

/** The same frames, from the outermost in, are the same row. */
export function mergeStacks(
  a: ComparisonSide,
  b: ComparisonSide,
  { toA }: FrameAlignment,
): MergedStacks {
  const rows = new TupleInterner();
  rows.intern(-1, -1, 0);
  const merged = ({ stacks }: ComparisonSide, frameOf: (frame: number) => number) => {
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
