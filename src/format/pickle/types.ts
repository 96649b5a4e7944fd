/**
 * What the value machine holds: a tag and a number for each value, never a JavaScript object.
 * Knows no PyTorch.
 */

/** Kind of a value on the stack, in the memo, in a list or in a dictionary. In brackets: the number beside it. */
export const Tag = {
  None: 0,
  /** [0 or 1] */
  Bool: 1,
  /** [the integer, exact, |n| <= 2^53] */
  Int: 2,
  /** [row in `bigInts`: integers beyond 2^53] */
  BigInt: 3,
  Float: 4,
  /** [row in `strings`] */
  String: 5,
  /** [list id, see `listRuns`; 0 is the empty list] */
  List: 6,
  /** [tuple id; equal tuples have one id] */
  Tuple: 7,
  /** [dictionary id]: a dictionary no sink took */
  Dict: 8,
  /** [sink * ROWS_PER_SINK + row]: a dictionary that a sink took */
  Row: 9,
  /** [number a list sink gave]: a list of rows that became one number, such as a call stack */
  Node: 10,
  /** Bytes object; its content is not kept. */
  Bytes: 11,
  /** [memo slot or -1]: a container that may still get items and has none yet. Closed when something takes it. */
  OpenDict: 12,
  OpenList: 13,
  /** [memo slot or -1]: the same with items gathered so far, see ValueMachine's pending items. */
  FilledDict: 14,
  FilledList: 15,
} as const;
export type Tag = (typeof Tag)[keyof typeof Tag];

/** A row number has 28 bits, a sink 3 (eight sinks at most): together they fit the memo's int32. */
export const ROWS_PER_SINK = 2 ** 28;

/** Where a sink reads the values of the dictionary it is given: value k is at `first + 2 * k`. */
export interface ValueView {
  readonly tags: Uint8Array;
  readonly vals: Float64Array;
}

/**
 * Takes the dictionaries of one key sequence. Called once for each, with its values in the order of
 * the keys it was bound to; returns the row it stored them in.
 * Example: keys (name, filename, line) are at first, first + 2, first + 4.
 */
export type DictSink = (view: ValueView, first: number) => number;

/** A sink and its number (0 to MAX_SINKS - 1), which marks its rows. Several key sequences may share a number. */
export interface BoundSink {
  readonly sink: number;
  readonly take: DictSink;
  /** How the lane may read these dictionaries itself; see RowLane. */
  readonly lane?: LaneShape | undefined;
}

/** What the value of a key is, for the lane. Where a value is none of its kind the sink reads the row. */
export const LaneKind = {
  /** A whole number from 0 to 2^52, into a number column. */
  Whole: 0,
  /** Such a number that stands for a row of another table: a stream. */
  Index: 1,
  /** A string of a few, as a small number: the action. */
  Code: 2,
  /** A list of rows that is one number: the frames. */
  Node: 3,
  /** A text that is mostly at its default. */
  Text: 4,
  /** A tuple of two numbers that stands for a row of another table: a pool. */
  Pair: 5,
  /** The memo slot of the row itself, where it is written out. */
  Slot: 6,
  End: 7,
  /** Ignored, and the same in nearly all rows. */
  Same: 8,
} as const;
export type LaneKind = (typeof LaneKind)[keyof typeof LaneKind];

export interface LaneField {
  readonly kind: LaneKind;
  /** Which number column, or which text column. */
  readonly column: number;
}

/** The keys of one shape, in order (undefined for one that only the sink reads), and where their rows go. */
export interface LaneShape {
  readonly fields: readonly (LaneField | undefined)[];
  readonly rows: LaneRows;
}

/** Columns that the lane writes, from row `length` on. */
export interface LaneColumns {
  readonly capacity: number;
  readonly numbers: readonly Float64Array[];
  readonly codes: Uint8Array;
  readonly indices: Uint16Array;
  readonly pairs: Uint16Array;
  readonly nodes: Int32Array;
}

/** A sink's side of the lane. What it says of a value does not change; -1 is "not known yet". */
export interface LaneRows {
  readonly sink: number;
  /** Rows so far; the lane counts on. */
  length: number;
  /** The number column that is NaN in rows without its key. */
  readonly timeColumn: number;
  /** Node of an empty list, and of a row without the key. */
  readonly emptyNode: number;
  readonly noNode: number;
  columns(): LaneColumns;
  /** Code of a string row, -1 for one that the sink has not met. */
  codeOf(text: number): number;
  indexOf(value: number): number;
  pairIndexOf(tuple: number): number;
  /** The text is a default, which need not be kept. */
  isPlainText(text: number): boolean;
  /** Called for whole rows only, in their order. */
  keepText(column: number, row: number, text: number): void;
}

/** What the layer above tells the machine. */
export interface Schema {
  /** Called once for each new key sequence; undefined leaves such dictionaries to the machine. */
  bind(keys: readonly string[]): BoundSink | undefined;
  /** The sink whose rows, in a list of nothing else, become one number. */
  readonly nodeSink: number;
  /** The number for the rows 0 to count - 1, in list order. `rows` is reused by the next call. */
  node(rows: Int32Array, count: number): number;
}

/** Consecutive items of a list with one tag; rows that follow each other share a run. */
export interface ListRun {
  readonly tag: Tag;
  readonly first: number;
  count: number;
}

/** A legal pickle that holds what the columnar machine does not do; the general decoder may. */
export class DeclinedError extends Error {
  override readonly name = 'DeclinedError';
  readonly byte: number;
  readonly reason: string;
  /** It names a class or function (GLOBAL, REDUCE, …): unpickling it in Python would run code. */
  readonly holdsCode: boolean;
  /** 'os.system', where it is known. */
  readonly callable: string | undefined;

  constructor(reason: string, byte: number, callable?: string, holdsCode = callable !== undefined) {
    super(reason);
    this.reason = reason;
    this.byte = byte;
    this.callable = callable;
    this.holdsCode = holdsCode;
  }
}
