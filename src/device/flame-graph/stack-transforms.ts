/**
 * Call stacks, transformed before they are sorted into boxes. This is the only place that does it, so the graph, its
 * table and its downloads always agree. Transforms see the frames that are shown.
 */
import { TupleInterner } from '../../base/interners.ts';
import { EMPTY_STACK, type StackTable } from '../../format/snapshot/tables.ts';
import { keepOnlyFrames } from '../model/stacks.ts';
import type { CollapsedFrame, FrameGroups } from './frame-groups.ts';
import type { FrameLevel, StackTransform } from './transform-text.ts';
import type { FlameGrouping } from './types.ts';

export interface TransformedStacks {
  /** Frames are rows of the table of frames or, beyond it, of `collapsed`. */
  readonly stacks: StackTable;
  /** Recorded stack → row of `stacks`; {@link LEFT_OUT}. */
  readonly rowOf: Int32Array;
  /** Row of `stacks` → a recorded stack that became this. */
  readonly recordedOf: Int32Array;
  readonly collapsed: readonly CollapsedFrame[];
  /** False if allocations without a stack are left out. */
  readonly hasStackless: boolean;
}

export const LEFT_OUT = -1;

const rowsUpTo = (length: number) => Int32Array.from({ length }, (_, row) => row);

export function untransformed(stacks: StackTable): TransformedStacks {
  const rows = rowsUpTo(stacks.length);
  return { stacks, rowOf: rows, recordedOf: rows, collapsed: [], hasStackless: true };
}

/** The boxes of a grouping, if these frames were collapsed before. */
export type GroupsAt = (
  grouping: FlameGrouping,
  collapsed: readonly CollapsedFrame[],
) => FrameGroups;

/** @param frameCount without collapsed frames */
export function transformStacks(
  recorded: StackTable,
  transforms: readonly StackTransform[],
  groupsAt: GroupsAt,
  frameCount: number,
): TransformedStacks {
  if (transforms.length === 0) return untransformed(recorded);
  const shown = groupsAt('line', []);
  const isShown = Uint8Array.from({ length: frameCount }, (_, frame) =>
    Number(shown.groupOf(frame) >= 0),
  );
  let now: TransformedStacks = {
    ...untransformed(recorded),
    ...keepOnlyFrames(recorded, isShown),
  };
  for (const transform of transforms) now = transformed(now, transform, groupsAt, frameCount);
  return now;
}

/** What a transform makes of a table: row → new row, and the new table unless it is the same. */
interface Change {
  readonly at: Int32Array;
  readonly table?: Pick<TransformedStacks, 'stacks' | 'recordedOf'>;
  readonly collapsed?: CollapsedFrame;
}

function transformed(
  before: TransformedStacks,
  transform: StackTransform,
  groupsAt: GroupsAt,
  frameCount: number,
): TransformedStacks {
  const groups = groupsAt(transform.level, before.collapsed);
  const { at, table, collapsed } = change(before, transform, groups, frameCount);
  return {
    ...before,
    ...table,
    rowOf: before.rowOf.map((row) => (row === LEFT_OUT ? LEFT_OUT : at[row])),
    collapsed: collapsed === undefined ? before.collapsed : [...before.collapsed, collapsed],
    hasStackless: before.hasStackless && at[EMPTY_STACK] !== LEFT_OUT,
  };
}

function change(
  before: TransformedStacks,
  { kind, level, key }: StackTransform,
  groups: FrameGroups,
  frameCount: number,
): Change {
  const { frame, parent, length } = before.stacks;
  const group = groups.find(key);
  const isTarget = (own: number) => group !== undefined && groups.groupOf(own) === group;
  switch (kind) {
    case 'merge':
      return rewritten(before, EMPTY_STACK, (row, above, put) =>
        isTarget(frame[row]) ? above : put(frame[row], above),
      );
    case 'collapse': {
      if (group === undefined) return { at: rowsUpTo(length) };
      const one = frameCount + before.collapsed.length;
      const collapsed = { frame: groups.frameOf(group), level };
      const change = rewritten(before, EMPTY_STACK, (row, above, put, frameAt) => {
        if (!isTarget(frame[row])) return put(frame[row], above);
        return frameAt(above) === one ? above : put(one, above);
      });
      return { ...change, collapsed };
    }
    case 'focus':
      return rewritten(before, LEFT_OUT, (row, above, put) => {
        if (above !== LEFT_OUT) return put(frame[row], above);
        return isTarget(frame[row]) ? put(frame[row], EMPTY_STACK) : LEFT_OUT;
      });
    case 'callers':
    case 'drop': {
      /** The outermost row with the target. */
      const first = new Int32Array(length).fill(LEFT_OUT);
      for (let row = 1; row < length; row++) {
        first[row] = first[parent[row]];
        if (first[row] === LEFT_OUT && isTarget(frame[row])) first[row] = row;
      }
      const isKept = (row: number) => first[row] === LEFT_OUT;
      return { at: kind === 'callers' ? first : first.map((_, row) => (isKept(row) ? row : -1)) };
    }
    case 'subtree':
      return below(before, pathIn(groups, key), groups, level);
    case 'tail':
      return { at: above(before.stacks, pathIn(groups, key), groups, level) };
  }
}

/** Of a path's boxes; -1 for one that this file has not. */
const pathIn = (groups: FrameGroups, path: string): readonly number[] =>
  path.split('.').map((key) => groups.find(key) ?? -1);

/** A box of a function, a file or a module also has its frames that call each other. */
const joinsRepeats = (level: FrameLevel): boolean => level !== 'line';

function below(
  before: TransformedStacks,
  path: readonly number[],
  groups: FrameGroups,
  level: FrameLevel,
): Change {
  const { frame, parent, length } = before.stacks;
  /** How many boxes of the path lead to the row; -1 beside it. */
  const walked = new Int32Array(length);
  return rewritten(before, LEFT_OUT, (row, above, put) => {
    const so = walked[parent[row]];
    const own = groups.groupOf(frame[row]);
    if (above !== LEFT_OUT) {
      walked[row] = so;
      return put(frame[row], above);
    }
    const isRepeat = joinsRepeats(level) && so > 0 && own === path[so - 1];
    walked[row] = so < 0 ? -1 : isRepeat ? so : own === path[so] ? so + 1 : -1;
    return walked[row] === path.length ? put(frame[row], EMPTY_STACK) : LEFT_OUT;
  });
}

/** Where each stack's path from its innermost frame ends: the last box of the path with its callers. */
function above(
  { frame, parent, length }: StackTable,
  path: readonly number[],
  groups: FrameGroups,
  level: FrameLevel,
): Int32Array {
  const at = new Int32Array(length).fill(LEFT_OUT);
  for (let stack = 1; stack < length; stack++) {
    let walked = 0;
    for (let row = stack; row > EMPTY_STACK; row = parent[row]) {
      const own = groups.groupOf(frame[row]);
      if (own === path[walked]) walked++;
      else if (!joinsRepeats(level) || walked === 0 || own !== path[walked - 1]) break;
      if (walked < path.length) continue;
      at[stack] = row;
      break;
    }
  }
  return at;
}

/** @returns the new row: `above`, what `put` makes of a frame, or {@link LEFT_OUT} */
type Place = (
  row: number,
  above: number,
  put: (frame: number, above: number) => number,
  frameAt: (row: number) => number,
) => number;

/** Builds a new table from the callers down. @param root what becomes of the empty stack */
function rewritten({ stacks, recordedOf }: TransformedStacks, root: number, place: Place): Change {
  const rows = new TupleInterner();
  rows.intern(-1, -1, 0);
  const recorded = new Int32Array(stacks.length);
  const at = new Int32Array(stacks.length);
  at[EMPTY_STACK] = root;
  let from = EMPTY_STACK;
  const put = (frame: number, above: number): number => {
    const { length } = rows;
    const row = rows.intern(frame, above, 0);
    if (row === length) recorded[row] = recordedOf[from];
    return row;
  };
  const frameAt = (row: number) => rows.a[row];
  for (from = 1; from < stacks.length; from++) {
    at[from] = place(from, at[stacks.parent[from]], put, frameAt);
  }
  const { length } = rows;
  const made = { length, frame: rows.a.slice(0, length), parent: rows.b.slice(0, length) };
  return { at, table: { stacks: made, recordedOf: recorded.slice(0, length) } };
}
