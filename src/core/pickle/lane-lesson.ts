/**
 * Learns the steps of a row from its bytes. The opcode loop or the row reader has read them before:
 * they are whole and legal, its strings are interned, and the memo slots that it names are filled.
 */
import {
  END_IN_MEMO,
  END_NO_NODE,
  END_NO_PAIR,
  END_NO_TIME,
  type LearnedStep,
} from './lane-steps.ts';
import { LaneKind, type LaneShape, Tag } from './types.ts';
import type { ValueMachine } from './value-machine.ts';

const BINGET = 0x68;
const LONG_BINGET = 0x6a;
const MEMOIZE = 0x94;
const LONG_BINPUT = 0x72;
const BINPUT = 0x71;
const MARK = 0x28;
const NONE = 0x4e;
const BININT1 = 0x4b;
const BININT2 = 0x4d;
const BININT = 0x4a;
const LONG1 = 0x8a;
const TUPLE2 = 0x86;
const EMPTY_LIST = 0x5d;
const APPENDS = 0x65;
const SETITEMS = 0x75;
const SHORT_BINUNICODE = 0x8c;
const BINUNICODE = 0x58;

const MAX_KEYS = 24;
/** Slots that a row takes in the memo at most: one for each value, and its own. */
export const MAX_MEMO_PER_ROW = MAX_KEYS + 1;

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
    this.#isInMemo = put === MEMOIZE || put === LONG_BINPUT;
    if (put === MEMOIZE) this.#memo.push([Tag.OpenDict, 0]);
    if (this.#isInMemo) this.#same(1);
    if (put === LONG_BINPUT) {
      this.#close(LaneKind.Slot, 0);
      this.#pos += 4;
    }
    const isMark = this.#buffer[this.#pos] === MARK;
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
    if (this.#buffer[this.#pos] !== SETITEMS || this.#pos !== end) return undefined;
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
      return named !== undefined || op === BININT1 || op === BININT2 || op === BININT;
    if (kind !== LaneKind.Text) return false;
    if (named !== undefined)
      return named.tag === Tag.String && this.#lane.rows.isPlainText(named.val);
    if (op === SHORT_BINUNICODE) return this.#isPlainText();
    const isEmptyList = op === EMPTY_LIST && this.#buffer[this.#pos + 1] === MEMOIZE;
    if (!isEmptyList || this.#buffer[this.#pos + 2] === MARK) return op === NONE;
    this.#memo.push([Tag.List, 0]);
    return true;
  }

  #isPlainText(): boolean {
    const from = this.#pos + 2;
    const end = from + this.#buffer[this.#pos + 1];
    if (this.#buffer[end] !== MEMOIZE) return false;
    const text = this.#machine.strings.intern(this.#buffer, from, end);
    if (!this.#lane.rows.isPlainText(text)) return false;
    this.#memo.push([Tag.String, text]);
    return true;
  }

  /** What the BINGET or LONG_BINGET at hand names. */
  #named() {
    const buffer = this.#buffer;
    const at = this.#pos;
    if (buffer[at] === BINGET) return this.#machine.memo.get(buffer[at + 1]);
    if (buffer[at] !== LONG_BINGET) return undefined;
    const view = new DataView(buffer.buffer, buffer.byteOffset, buffer.byteLength);
    return this.#machine.memo.get(view.getUint32(at + 1, true));
  }
}

/** Bytes of BINGET or LONG_BINGET. */
const getBytes = (buffer: Uint8Array, pos: number): number => (buffer[pos] === BINGET ? 2 : 5);

/** Where the value at `pos` ends, with what puts it in the memo; -1 for one that the lane does not read. */
function valueEnd(buffer: Uint8Array, pos: number): number {
  switch (buffer[pos]) {
    case NONE:
      return pos + 1;
    case BINGET:
      return pos + 2;
    case BININT1: {
      const isPair = buffer[pos + 2] === BININT1 && buffer[pos + 4] === TUPLE2;
      return isPair ? afterPut(buffer, pos + 5) : pos + 2;
    }
    case BININT2:
      return pos + 3;
    case LONG_BINGET:
    case BININT:
      return pos + 5;
    case LONG1:
      return pos + 2 + buffer[pos + 1];
    case SHORT_BINUNICODE:
      return afterPut(buffer, pos + 2 + buffer[pos + 1]);
    case BINUNICODE: {
      const isShort = buffer[pos + 2] + buffer[pos + 3] + buffer[pos + 4] === 0;
      return isShort ? afterPut(buffer, pos + 5 + buffer[pos + 1]) : -1;
    }
    case EMPTY_LIST:
      return listEnd(buffer, afterPut(buffer, pos + 1));
    default:
      return -1;
  }
}

/** Where a list ends whose items, if any, begin with the MARK at `pos`; -1 for items that are not from the memo. */
function listEnd(buffer: Uint8Array, pos: number): number {
  if (buffer[pos] !== MARK) return pos;
  let at = pos + 1;
  while (buffer[at] === BINGET || buffer[at] === LONG_BINGET) at += getBytes(buffer, at);
  return buffer[at] === APPENDS ? afterPut(buffer, at + 1) : -1;
}

function afterPut(buffer: Uint8Array, pos: number): number {
  if (buffer[pos] === MEMOIZE) return pos + 1;
  if (buffer[pos] === BINPUT) return pos + 2;
  return buffer[pos] === LONG_BINPUT ? pos + 5 : pos;
}
