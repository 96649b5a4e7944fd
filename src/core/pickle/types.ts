/**
 * The value machine's contract: how a layer above gets the values out of a pickle (or JSON) without
 * an object per value. Knows no PyTorch.
 */

/** What a stack slot, memo slot, list item or dictionary value holds. The number beside it is in brackets. */
export const Tag = {
  None: 0,
  /** [0 or 1] */
  Bool: 1,
  /** [the integer; exact, |n| <= 2^53] */
  Int: 2,
  /** [row in ValueMachine.bigInts: integers beyond 2^53] */
  BigInt: 3,
  /** [the float] */
  Float: 4,
  /** [row in ValueMachine.strings] */
  String: 5,
  /** [list id, see ValueMachine.listItems] */
  List: 6,
  /** [tuple id, equal tuples have one id] */
  Tuple: 7,
  /** [dictionary id, see ValueMachine.dictEntries]: a dictionary that no sink took. */
  Dict: 8,
  /** [sink number * 2^28 + row that the sink gave]: a dictionary that a sink took. */
  Row: 9,
  /** [node]: a list whose items a list sink turned into one number (a call stack). */
  Node: 10,
  /** Bytes object; content not kept. */
  Bytes: 11,
} as const;
export type Tag = (typeof Tag)[keyof typeof Tag];
