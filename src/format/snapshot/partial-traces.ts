/** The traces of a snapshot that is still being read. */
import { isList, type ListRun, ROWS_PER_SINK, Tag } from '../pickle/types.ts';
import type { ValueMachine } from '../pickle/value-machine.ts';
import { TRACE_KEYS } from './assemble.ts';
import { Sink } from './field-reader.ts';
import type { SnapshotSchema } from './schema.ts';

/** A trace that is still being read: its event rows, and whether the file lists segments of its device. */
export interface PartialTraceRows {
  readonly first: number;
  readonly length: number;
  readonly hasSegments: boolean;
}

const EVENT_ROWS = Sink.Event * ROWS_PER_SINK;

/** In file order; valid until more is read. */
export function partialTraces({ machine, segments, events }: SnapshotSchema): PartialTraceRows[] {
  const endRow = EVENT_ROWS + events.length;
  const lists = listsUnder(machine, (key) => TRACE_KEYS.includes(key));
  return lists.map(({ first, end = endRow }, device) => {
    const hasSegments = segments.segments.some((segment) => segment.device === device);
    const isEvents = first >= EVENT_ROWS && end >= first && end <= endRow;
    return isEvents
      ? { first: first - EVENT_ROWS, length: end - first, hasSegments }
      : { first: 0, length: 0, hasSegments };
  });
}

/** The rows of one inner list, as numbered on the stack: from `first` (-1 if empty) to before `end`. */
interface PartialRows {
  readonly first: number;
  /** Undefined while rows may still be added. */
  readonly end: number | undefined;
}

/** The key is among the first few of its dictionary. */
const MAX_KEY_SLOT = 64;
const NO_ROWS: PartialRows = { first: -1, end: -1 };

/**
 * The lists of rows inside the list that follows a key near the bottom of the stack; empty if there is no such list.
 * Example: after row 4 in {'device_traces': [[0, 1, 2], [3, 4 this gives [0, 3) and [3, …).
 */
function listsUnder(
  machine: ValueMachine,
  isKey: (text: string) => boolean,
): readonly PartialRows[] {
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

/** For a list that is still open: the rows above it on the stack are its own, up to the first other value. */
function rowsAt(machine: ValueMachine, slot: number): PartialRows {
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

function rowsOf(runs: readonly ListRun[]): PartialRows {
  const [first, last] = [runs[0], runs.at(-1)];
  if (first?.tag !== Tag.Row || last?.tag !== Tag.Row) return NO_ROWS;
  return { first: first.first, end: last.first + last.count };
}
