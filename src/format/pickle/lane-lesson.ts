/**
 * Learns the steps of a row from its bytes. The opcode loop has read them before:
 * they are whole and legal, its strings are interned, and the memo slots that it names are filled.
 */
import {
  END_IN_MEMO,
  END_NO_NODE,
  END_NO_PAIR,
  END_NO_TIME,
  type LearnedStep,
} from './lane-steps.ts';
import { Op } from './opcodes.ts';
import { LaneKind, type LaneShape, Tag } from './types.ts';
import type { ValueMachine } from './value-machine.ts';

const MAX_KEYS = 24;
/** Slots that a row takes in the memo at most: one for each value, and its own. */
export const MAX_MEMO_PER_ROW = MAX_KEYS + 1;

/** Rows that are looked at for steps to learn; a file that changes its ways more often is no file of PyTorch's. */
const MAX_LESSONS = 512;
/** Rows that go by unlearned at most after a lesson that taught nothing. */
const MAX_PAUSE = 15;

/** Which rows are looked at: after lessons that taught nothing, ever more of them go by. */
export class LessonPace {
  #lessons = 0;
  #inVain = 0;
  #pause = 0;

  /** Asked once for each row; a lesson that is due counts as in vain until it has succeeded. */
  isDue(): boolean {
    if (this.#lessons >= MAX_LESSONS || this.#pause-- > 0) return false;
    this.#lessons++;
    this.#inVain = Math.min(2 * this.#inVain + 1, MAX_PAUSE);
    this.#pause = this.#inVain;
    return true;
  }

  succeeded(): void {
    this.#inVain = 0;
    this.#pause = 0;
  }
}

/**
 * The steps of the dictionary in buffer[start … end), where `end` is its SETITEMS; undefined when it
 * is not written in a way that the lane reads.
 * @param keys string rows of its keys
 */
export function stepsOf(
  keys: Float64Array,
  lane: LaneShape,
  machine: ValueMachine,
  buffer: Uint8Array,
  start: number,
  end: number,
): readonly LearnedStep[] | undefined {
  if (keys.length > MAX_KEYS) return undefined;
  const lesson = new Lesson(lane, machine, buffer, start);
  if (!lesson.takeStart()) return undefined;
  for (let k = 0; k < keys.length; k++) {
    if (!lesson.takeKey(keys[k]) || !lesson.takeValue(k)) return undefined;
  }
  return lesson.takeEnd(end);
}

class Lesson {
  readonly #lane: LaneShape;
  readonly #machine: ValueMachine;
  readonly #buffer: Uint8Array;
  readonly #steps: LearnedStep[] = [];
  #pos: number;
  #run: number[] = [];
  #memo: (readonly [Tag, number])[] = [];
  #isInMemo = false;

  constructor(lane: LaneShape, machine: ValueMachine, buffer: Uint8Array, start: number) {
    this.#lane = lane;
    this.#machine = machine;
    this.#buffer = buffer;
    this.#pos = start;
  }

  /** EMPTY_DICT, in the memo or not, and MARK. C++ remembers only what it names again. */
  takeStart(): boolean {
    this.#same(1);
    const put = this.#buffer[this.#pos];
    this.#isInMemo = put === Op.Memoize || put === Op.LongBinPut;
    if (put === Op.Memoize) this.#memo.push([Tag.OpenDict, 0]);
    if (this.#isInMemo) this.#same(1);
    if (put === Op.LongBinPut) {
      this.#close(LaneKind.Slot, 0);
      this.#pos += 4;
    }
    const isMark = this.#buffer[this.#pos] === Op.Mark;
    this.#same(1);
    return isMark;
  }

  /** A key that is written by its memo slot. */
  takeKey(key: number): boolean {
    const named = this.#named();
    if (named?.tag !== Tag.String || named.val !== key) return false;
    this.#same(getBytes(this.#buffer, this.#pos));
    return true;
  }

  /** The value of key k: more bytes of the run, or the end of a step. */
  takeValue(k: number): boolean {
    const field = this.#lane.fields[k];
    const end = valueEnd(this.#buffer, this.#pos);
    if (field === undefined || end < 0) return false;
    if (this.#isPlain(field.kind)) this.#same(end - this.#pos);
    else if (field.kind === LaneKind.Same) return false;
    else {
      this.#close(field.kind, field.column);
      this.#pos = end;
    }
    return true;
  }

  takeEnd(end: number): readonly LearnedStep[] | undefined {
    if (this.#buffer[this.#pos] !== Op.SetItems || this.#pos !== end) return undefined;
    this.#same(1);
    this.#close(LaneKind.End, this.#endFlags());
    return this.#steps;
  }

  #same(count: number): void {
    for (const end = this.#pos + count; this.#pos < end; this.#pos++) {
      this.#run.push(this.#buffer[this.#pos]);
    }
  }

  #close(kind: LaneKind, column: number): void {
    this.#steps.push({ kind, column, run: this.#run, memo: this.#memo });
    this.#run = [];
    this.#memo = [];
  }

  #endFlags(): number {
    const { timeColumn } = this.#lane.rows;
    const has = (wanted: LaneKind, of?: number) =>
      this.#steps.some(({ kind, column }) => kind === wanted && (of ?? column) === column);
    return (
      (has(LaneKind.Whole, timeColumn) ? 0 : END_NO_TIME) |
      (has(LaneKind.Node) ? 0 : END_NO_NODE) |
      (has(LaneKind.Pair) ? 0 : END_NO_PAIR) |
      (this.#isInMemo ? END_IN_MEMO : 0)
    );
  }

  /**
   * The value may be part of the run: of an ignored key any small one; a text at its default, None,
   * an empty list. What it puts in the memo is noted.
   */
  #isPlain(kind: LaneKind): boolean {
    const op = this.#buffer[this.#pos];
    const named = this.#named();
    if (kind === LaneKind.Same)
      return named !== undefined || op === Op.BinInt1 || op === Op.BinInt2 || op === Op.BinInt;
    if (kind !== LaneKind.Text) return false;
    if (named !== undefined)
      return named.tag === Tag.String && this.#lane.rows.isPlainText(named.val);
    if (op === Op.ShortBinUnicode) return this.#isPlainText();
    const isEmptyList = op === Op.EmptyList && this.#buffer[this.#pos + 1] === Op.Memoize;
    if (!isEmptyList || this.#buffer[this.#pos + 2] === Op.Mark) return op === Op.None;
    this.#memo.push([Tag.List, 0]);
    return true;
  }

  #isPlainText(): boolean {
    const from = this.#pos + 2;
    const end = from + this.#buffer[this.#pos + 1];
    if (this.#buffer[end] !== Op.Memoize) return false;
    const text = this.#machine.strings.intern(this.#buffer, from, end);
    if (!this.#lane.rows.isPlainText(text)) return false;
    this.#memo.push([Tag.String, text]);
    return true;
  }

  /** What the BINGET or LONG_BINGET at hand names. */
  #named() {
    const buffer = this.#buffer;
    const at = this.#pos;
    if (buffer[at] === Op.BinGet) return this.#machine.memo.get(buffer[at + 1]);
    if (buffer[at] !== Op.LongBinGet) return undefined;
    const view = new DataView(buffer.buffer, buffer.byteOffset, buffer.byteLength);
    return this.#machine.memo.get(view.getUint32(at + 1, true));
  }
}

/** Bytes of BINGET or LONG_BINGET. */
const getBytes = (buffer: Uint8Array, pos: number): number => (buffer[pos] === Op.BinGet ? 2 : 5);

/** Where the value at `pos` ends, with what puts it in the memo; -1 for one that the lane does not read. */
function valueEnd(buffer: Uint8Array, pos: number): number {
  switch (buffer[pos]) {
    case Op.None:
      return pos + 1;
    case Op.BinGet:
      return pos + 2;
    case Op.BinInt1: {
      const isPair = buffer[pos + 2] === Op.BinInt1 && buffer[pos + 4] === Op.Tuple2;
      return isPair ? afterPut(buffer, pos + 5) : pos + 2;
    }
    case Op.BinInt2:
      return pos + 3;
    case Op.LongBinGet:
    case Op.BinInt:
      return pos + 5;
    case Op.Long1:
      return pos + 2 + buffer[pos + 1];
    case Op.ShortBinUnicode:
      return afterPut(buffer, pos + 2 + buffer[pos + 1]);
    case Op.BinUnicode: {
      const isShort = buffer[pos + 2] + buffer[pos + 3] + buffer[pos + 4] === 0;
      return isShort ? afterPut(buffer, pos + 5 + buffer[pos + 1]) : -1;
    }
    case Op.EmptyList:
      return listEnd(buffer, afterPut(buffer, pos + 1));
    default:
      return -1;
  }
}

/** Where a list ends whose items, if any, begin with the MARK at `pos`; -1 for items that are not from the memo. */
function listEnd(buffer: Uint8Array, pos: number): number {
  if (buffer[pos] !== Op.Mark) return pos;
  let at = pos + 1;
  while (buffer[at] === Op.BinGet || buffer[at] === Op.LongBinGet) at += getBytes(buffer, at);
  return buffer[at] === Op.Appends ? afterPut(buffer, at + 1) : -1;
}

function afterPut(buffer: Uint8Array, pos: number): number {
  if (buffer[pos] === Op.Memoize) return pos + 1;
  if (buffer[pos] === Op.BinPut) return pos + 2;
  return buffer[pos] === Op.LongBinPut ? pos + 5 : pos;
}
