/** The value machine's types: each value is a tag and a number, never a JavaScript object. Independent of PyTorch. */

/** The kind of a value on the stack, in the memo, in a list or in a dictionary. In brackets: its number. */
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
  /** [dictionary id]: a dictionary that no sink took */
  Dict: 8,
  /** [sink * ROWS_PER_SINK + row]: a dictionary that a sink took */
  Row: 9,
  /** [number from a list sink]: a list of rows that became one number, such as a call stack */
  Node: 10,
  /** [row in `strings`]: a bytes object, a letter for each byte; '' for a long one */
  Bytes: 11,
  /** [row in `strings`]: a class or function, by its name */
  Callable: 12,
  /** [memo slot or -1]: an empty container that may still get items. It closes when something takes it. */
  OpenDict: 13,
  OpenList: 14,
  /** [memo slot or -1]: the same with items gathered so far; see PendingItems. */
  FilledDict: 15,
  FilledList: 16,
} as const;
export type Tag = (typeof Tag)[keyof typeof Tag];

/** Whether a list or dictionary is still open. */
export const isList = (tag: number): boolean => tag === Tag.OpenList || tag === Tag.FilledList;
export const isDict = (tag: number): boolean => tag === Tag.OpenDict || tag === Tag.FilledDict;

/** A row number has 28 bits and a sink 3 (at most eight sinks): together they fit the memo's int32. */
export const ROWS_PER_SINK = 2 ** 28;

/** The values of a dictionary passed to a sink: value k is at `first + 2 * k`. */
export interface ValueView {
  readonly tags: Uint8Array;
  readonly vals: Float64Array;
}

/**
 * Takes the dictionaries of one key sequence. Called once for each, with its values in the order of the bound keys;
 * returns the row it stored them in. Example: keys (name, filename, line) are at first, first + 2, first + 4.
 */
export type DictSink = (view: ValueView, first: number) => number;

/** A sink and the number (0 to MAX_SINKS - 1) that marks its rows. Several key sequences may share a number. */
export interface BoundSink {
  readonly sink: number;
  readonly take: DictSink;
}

/** What the next layer up provides to the machine. */
export interface Schema {
  /** Called once for each new key sequence. Undefined leaves such dictionaries to the machine. */
  bind(keys: readonly string[]): BoundSink | undefined;
  /** The sink whose rows become one number if a list holds nothing else. */
  readonly nodeSink: number;
  /** The number for the rows 0 to count - 1, in list order. The next call reuses `rows`. */
  node(rows: Int32Array, count: number): number;
}

/** Consecutive items of a list with the same tag. Consecutive rows share a run. */
export interface ListRun {
  readonly tag: Tag;
  readonly first: number;
  count: number;
}
