/** What a list of lists holds while its pickle is still being read. Looks, and closes nothing. */
import { type ListRun, Tag } from './types.ts';
import type { ValueMachine } from './value-machine.ts';

/** The rows of one inner list, as numbered on the stack: from `first` (-1 without any) to before `end`. */
export interface RowsSoFar {
  readonly first: number;
  /** Undefined while rows may still be added. */
  readonly end: number | undefined;
}

/** A dictionary has few keys before the one that is looked for. */
const MAX_KEY_SLOT = 64;
const NO_ROWS: RowsSoFar = { first: -1, end: -1 };

/**
 * The lists of rows in the list that follows a key near the bottom of the stack; none where there is no
 * such list. Example: {'device_traces': [[0, 1, 2], [3, 4 while 4 is the last row that was read gives
 * [0, 3) and [3, …).
 */
export function listsUnder(
  machine: ValueMachine,
  isKey: (text: string) => boolean,
): readonly RowsSoFar[] {
  const outer = slotAfterKey(machine, isKey);
  if (outer === undefined || !isList(machine.tags[outer])) return [];
  const lists = machine
    .gathered(outer)
    .flatMap(({ tag, first }) => (tag === Tag.List ? [rowsOf(machine.kept.listRuns(first))] : []));
  for (let slot = outer + 1; slot < machine.sp; slot++) {
    const tag = machine.tags[slot];
    if (tag === Tag.List) lists.push(rowsOf(machine.kept.listRuns(machine.vals[slot])));
    else if (!isList(tag)) break;
    else lists.push(rowsAt(machine, slot));
  }
  return lists;
}

function slotAfterKey(machine: ValueMachine, isKey: (text: string) => boolean): number | undefined {
  const end = Math.min(machine.sp - 1, MAX_KEY_SLOT);
  for (let slot = 0; slot < end; slot++) {
    if (machine.tags[slot] === Tag.String && isKey(machine.strings.get(machine.vals[slot])))
      return slot + 1;
  }
  return undefined;
}

/** Of a list that is still open: rows above it on the stack are its own until another value stands there. */
function rowsAt(machine: ValueMachine, slot: number): RowsSoFar {
  const { first, end } = rowsOf(machine.gathered(slot));
  const above = slot + 1;
  const isTop = above >= machine.sp;
  const holdsRows = !isTop && machine.tags[above] === Tag.Row;
  const isOpen = isTop || holdsRows || machine.tags[above] >= Tag.OpenDict;
  const isFollowed = !isTop && isList(machine.tags[above]);
  return {
    first: first < 0 && holdsRows ? machine.vals[above] : first,
    end: isOpen && !isFollowed ? undefined : end,
  };
}

function rowsOf(runs: readonly ListRun[]): RowsSoFar {
  const [first, last] = [runs[0], runs.at(-1)];
  if (first?.tag !== Tag.Row || last?.tag !== Tag.Row) return NO_ROWS;
  return { first: first.first, end: last.first + last.count };
}

const isList = (tag: number): boolean => tag === Tag.OpenList || tag === Tag.FilledList;
