/**
 * Reads a row by its learned steps, whatever their order: compares the bytes that never change, takes
 * the value, goes to the next step. What PyTorch writes in its usual order the lane reads faster; see
 * RowLane.
 */
import type { LaneLists } from './lane-lists.ts';
import {
  type LaneSteps,
  STEP_COLUMN,
  STEP_KIND,
  STEP_LAST_MASK,
  STEP_LAST_WORD,
  STEP_MASK0,
  STEP_MASK1,
  STEP_MEMO_END,
  STEP_MEMO_FROM,
  STEP_NEXT,
  STEP_OTHER,
  STEP_RUN_BYTES,
  STEP_WORD0,
  STEP_WORD1,
  STEP_WORDS_END,
  STEP_WORDS_FROM,
} from './lane-steps.ts';
import { type LaneColumns, LaneKind, type LaneRows, Tag } from './types.ts';
import type { ValueMachine } from './value-machine.ts';

export const UINT32 = 2 ** 32;
/** Upper halves from here on make numbers of 2^52 and more, which address keys are not equal to. */
export const HIGH_LIMIT = 0x100000;
const PAIRS = 64;
/** Slots of the cache of strings that are codes. */
export const CODES = 64;

/** Where a row's rest begins that is to be read. */
export interface RowPlace {
  readonly row: number;
  /** Memo slots filled before the row: what it names lies below. */
  readonly slot: number;
  readonly step: number;
  readonly at: number;
  /** The memo slot that comes next. */
  readonly next: number;
  /** Lists end before this byte. */
  readonly limit: number;
}

export class StepWalker {
  /** After a row: where it ends, and the memo slot after it. */
  at = 0;
  next = 0;
  /** Memo slot of each code's string, by the slot's low bits, and the code. */
  readonly codeSlot = new Int32Array(CODES).fill(-1);
  readonly code = new Uint8Array(CODES);

  readonly #machine: ValueMachine;
  readonly #steps: LaneSteps;
  readonly #lists: LaneLists;
  readonly #rows: LaneRows;
  /** Pairs (a, b) as 256 a + b, the tuple and the index of each. */
  readonly #pair = new Int32Array(PAIRS).fill(-1);
  readonly #pairTuple = new Int32Array(PAIRS);
  readonly #pairIndex = new Int32Array(PAIRS);
  #number = 0;
  /** Texts of the row in hand that are to be kept once it is whole. */
  readonly #textColumns: number[] = [];
  readonly #texts: number[] = [];

  constructor(machine: ValueMachine, steps: LaneSteps, lists: LaneLists, rows: LaneRows) {
    this.#machine = machine;
    this.#steps = steps;
    this.#lists = lists;
    this.#rows = rows;
  }

  /** Reads the rest of a row into the columns; the flags of its last step, or -1 where it is not as learned. */
  walk(buffer: Uint8Array, view: DataView, columns: LaneColumns, place: RowPlace): number {
    const { steps } = this.#steps;
    const { row, slot, limit } = place;
    this.at = place.at;
    this.next = place.next;
    this.#texts.length = 0;
    this.#textColumns.length = 0;
    for (let step = place.step; ; step = steps[step + STEP_NEXT]) {
      while (!this.#fits(view, step)) {
        step = steps[step + STEP_OTHER];
        if (step === 0) return -1;
      }
      this.#takeRun(step);
      const column = steps[step + STEP_COLUMN];
      const kind = steps[step + STEP_KIND];
      if (kind === LaneKind.End) {
        for (const [i, text] of this.#texts.entries()) {
          this.#rows.keepText(this.#textColumns[i], row, text);
        }
        return column;
      }
      let value = 0;
      if (kind === LaneKind.Whole || kind === LaneKind.Index) {
        if (!this.#readNumber(buffer, view)) return -1;
        if (kind === LaneKind.Whole) columns.numbers[column][row] = this.#number;
        else {
          value = this.#rows.indexOf(this.#number);
          columns.indices[row] = value;
        }
      } else if (kind === LaneKind.Code) {
        value = this.#readCode(buffer, view, slot);
        columns.codes[row] = value;
      } else if (kind === LaneKind.Node) {
        const node = this.#readNode(buffer, view, slot, limit);
        if (node === undefined) return -1;
        columns.nodes[row] = node;
      } else if (kind === LaneKind.Text) value = this.#readText(buffer, view, slot, column);
      else if (kind === LaneKind.Pair) {
        value = this.#readPair(buffer, view, slot);
        columns.pairs[row] = value;
      } else value = this.#readSlot(view);
      if (value < 0) return -1;
    }
  }

  /** The run of a step is written at `at`. */
  #fits(view: DataView, step: number): boolean {
    const { steps, words } = this.#steps;
    let { at } = this;
    if (((view.getInt32(at, true) ^ steps[step + STEP_WORD0]) & steps[step + STEP_MASK0]) !== 0)
      return false;
    if (((view.getInt32(at + 4, true) ^ steps[step + STEP_WORD1]) & steps[step + STEP_MASK1]) !== 0)
      return false;
    at += 8;
    const end = steps[step + STEP_WORDS_END];
    for (let word = steps[step + STEP_WORDS_FROM]; word < end; word++, at += 4) {
      if (view.getInt32(at, true) !== words[word]) return false;
    }
    const lastMask = steps[step + STEP_LAST_MASK];
    if (lastMask === 0) return true;
    return ((view.getInt32(at, true) ^ steps[step + STEP_LAST_WORD]) & lastMask) === 0;
  }

  #takeRun(step: number): void {
    const { steps, memoTags, memoVals } = this.#steps;
    const { memo } = this.#machine;
    this.at += steps[step + STEP_RUN_BYTES];
    for (let i = steps[step + STEP_MEMO_FROM]; i < steps[step + STEP_MEMO_END]; i++) {
      memo.tags[this.next] = memoTags[i];
      memo.vals[this.next++] = memoVals[i];
    }
  }

  /** A whole number from 0 to 2^52, into #number. */
  #readNumber(buffer: Uint8Array, view: DataView): boolean {
    const { at } = this;
    switch (buffer[at]) {
      case 0x4b: // BININT1
        this.#number = buffer[at + 1];
        this.at = at + 2;
        return true;
      case 0x4d: // BININT2
        this.#number = view.getUint16(at + 1, true);
        this.at = at + 3;
        return true;
      case 0x4a: // BININT
        this.#number = view.getInt32(at + 1, true);
        this.at = at + 5;
        return this.#number >= 0;
      case 0x8a: {
        // LONG1
        const bytes = buffer[at + 1];
        let high = -1;
        if (bytes === 5) high = view.getInt8(at + 6);
        else if (bytes === 6) high = view.getInt16(at + 6, true);
        else if (bytes === 7) high = view.getInt32(at + 5, true) >> 8;
        else if (bytes === 8) high = view.getInt32(at + 6, true);
        this.#number = view.getUint32(at + 2, true) + high * UINT32;
        this.at = at + 2 + bytes;
        return high >= 0 && high < HIGH_LIMIT;
      }
      default:
        return false;
    }
  }

  /** The code of a string from the memo, -1 for any other value or a string without one. */
  #readCode(buffer: Uint8Array, view: DataView, slot: number): number {
    const named = this.#readNamed(buffer, view);
    if (named < 0 || named >= slot || this.#machine.memo.tags[named] !== Tag.String) return -1;
    const code = this.#rows.codeOf(this.#machine.memo.vals[named]);
    if (code < 0) return -1;
    this.codeSlot[named & (CODES - 1)] = named;
    this.code[named & (CODES - 1)] = code;
    return code;
  }

  /** The node of a list; undefined for any other value. */
  #readNode(buffer: Uint8Array, view: DataView, slot: number, limit: number): number | undefined {
    const { memo } = this.#machine;
    const named = this.#readNamed(buffer, view);
    if (named >= 0) {
      const tag = named < slot ? memo.tags[named] : Tag.None;
      if (tag === Tag.Node) return memo.vals[named];
      return tag === Tag.List && memo.vals[named] === 0 ? this.#rows.emptyNode : undefined;
    }
    if (buffer[this.at++] !== 0x5d) return undefined;
    // CPython remembers a list before its items, C++ after them.
    const put = this.next;
    if (!this.#put(buffer, view, Tag.List, 0)) return undefined;
    if (buffer[this.at] !== 0x28) return this.#rows.emptyNode;
    let tag: Tag = Tag.List;
    let node = 0;
    if (buffer[this.at + 1] === 0x65) this.at += 2;
    else {
      tag = Tag.Node;
      node = this.#lists.find(buffer, view, this.at + 1, limit, slot);
      if (node < 0) return undefined;
      this.at = this.#lists.end + 1;
    }
    if (this.next > put) {
      memo.tags[put] = tag;
      memo.vals[put] = node;
    } else if (!this.#put(buffer, view, tag, node)) return undefined;
    return tag === Tag.Node ? node : this.#rows.emptyNode;
  }

  /** A text of at most 255 bytes, or one from the memo. -1 for any other value. */
  #readText(buffer: Uint8Array, view: DataView, slot: number, column: number): number {
    const { memo, strings } = this.#machine;
    const op = buffer[this.at];
    if (op === 0x4e) {
      this.at++;
      return 0;
    }
    const named = this.#readNamed(buffer, view);
    let text = 0;
    if (named >= 0) {
      if (named >= slot || memo.tags[named] !== Tag.String) return -1;
      text = memo.vals[named];
    } else {
      if (op !== 0x8c && (op !== 0x58 || view.getUint32(this.at + 1, true) > 255)) return -1;
      const from = this.at + (op === 0x8c ? 2 : 5);
      this.at = from + buffer[this.at + 1];
      text = strings.intern(buffer, from, this.at);
      if (!this.#put(buffer, view, Tag.String, text)) return -1;
    }
    if (!this.#rows.isPlainText(text)) {
      this.#texts.push(text);
      this.#textColumns.push(column);
    }
    return 0;
  }

  /** The index of a pair of small integers, as (0, 7), or of one from the memo. -1 for one not met before. */
  #readPair(buffer: Uint8Array, view: DataView, slot: number): number {
    const { memo, kept } = this.#machine;
    const named = this.#readNamed(buffer, view);
    if (named >= 0) {
      const isTuple = named < slot && memo.tags[named] === Tag.Tuple;
      return isTuple ? this.#rows.pairIndexOf(memo.vals[named]) : -1;
    }
    const { at } = this;
    if (buffer[at] !== 0x4b || buffer[at + 2] !== 0x4b || buffer[at + 4] !== 0x86) return -1;
    const pair = buffer[at + 1] * 256 + buffer[at + 3];
    const i = (buffer[at + 1] * 31 + buffer[at + 3]) & (PAIRS - 1);
    if (this.#pair[i] !== pair) {
      const tuple = kept.pairId(buffer[at + 1], buffer[at + 3]);
      const index = this.#rows.pairIndexOf(tuple);
      if (index < 0) return -1;
      this.#pair[i] = pair;
      this.#pairTuple[i] = tuple;
      this.#pairIndex[i] = index;
    }
    this.at = at + 5;
    return this.#put(buffer, view, Tag.Tuple, this.#pairTuple[i]) ? this.#pairIndex[i] : -1;
  }

  /** The row's own memo slot, which must be the next. */
  #readSlot(view: DataView): number {
    const written = view.getInt32(this.at, true);
    this.at += 4;
    return written === this.next++ ? 0 : -1;
  }

  /** The slot that a BINGET or LONG_BINGET names, -1 where there is none. */
  #readNamed(buffer: Uint8Array, view: DataView): number {
    const { at } = this;
    if (buffer[at] === 0x6a) {
      this.at = at + 5;
      return view.getUint32(at + 1, true);
    }
    if (buffer[at] !== 0x68) return -1;
    this.at = at + 2;
    return buffer[at + 1];
  }

  /** Puts a value in the memo where MEMOIZE or LONG_BINPUT says so. False for a slot out of turn. */
  #put(buffer: Uint8Array, view: DataView, tag: Tag, val: number): boolean {
    const op = buffer[this.at];
    if (op === 0x72) {
      if (view.getInt32(this.at + 1, true) !== this.next) return false;
      this.at += 5;
    } else if (op === 0x94) this.at++;
    else return op !== 0x71;
    const { memo } = this.#machine;
    memo.tags[this.next] = tag;
    memo.vals[this.next++] = val;
    return true;
  }
}
