/**
 * The fast lane for the dictionaries that fill a snapshot: millions of one key sequence, each written
 * by CPython in the same way. Once one was read opcode by opcode, the bytes of its keys are known:
 *
 *   } 94 (  68 0a  <value>  6a a6 01 00 00  <value> …  u
 *   dict    BINGET 10       LONG_BINGET 422            SETITEMS
 *
 * and those that follow are read value by value, without going through the stack machine for every
 * key. Whatever is not as expected goes back to the opcode loop, in the middle of a dictionary too:
 * what was read so far is put on the stack as the loop would have done.
 */
import type { RowLane } from './row-lane.ts';
import type { Shape } from './shape-table.ts';
import { ROWS_PER_SINK, Tag } from './types.ts';
import type { ValueMachine } from './value-machine.ts';

const EMPTY_DICT = 0x7d;
const MEMOIZE = 0x94;
const MARK = 0x28;
const SETITEMS = 0x75;
const BINGET = 0x68;
const LONG_BINGET = 0x6a;
const UINT32 = 2 ** 32;

/** Bytes that one key and one value (a list apart, which looks for itself) can take. */
const MARGIN = 600;

/** How the dictionaries of one key sequence are written. */
interface Template {
  readonly shape: Shape;
  /** Memo slot of each key, and whether it is written as LONG_BINGET. */
  readonly keySlots: Int32Array;
  readonly keyIsLong: Uint8Array;
}

/** Key sequences in use at a time: events, blocks, frames; the last one used in front. */
const MAX_TEMPLATES = 4;

export class RowReader {
  readonly #machine: ValueMachine;
  readonly #templates: Template[] = [];
  #listRows = new Int32Array(1024);
  /** What #readList read. */
  #listTag: Tag = Tag.List;
  #listVal = 0;
  /** Reads rows without the stack machine; undefined until a file is large enough for it. */
  lane: RowLane | undefined;
  /** Where the dictionary begins that `read` has left half read, -1 for none. */
  openAt = -1;

  constructor(machine: ValueMachine) {
    this.#machine = machine;
  }

  /** There is a shape to look for, and the memo slots still hold what they did. */
  get isReady(): boolean {
    const isTaught = this.#templates.length > 0 || this.lane?.isReady === true;
    return isTaught && !this.#machine.memo.isRewritten;
  }

  /**
   * Learns from the dictionary written in buffer[start … end), whose keys the sink of `shape` takes.
   * Does nothing when it is not written in the plain way: keys from the memo, flat values or lists of
   * memo entries.
   */
  learn(shape: Shape, buffer: Uint8Array, start: number, end: number): void {
    this.lane?.learn(shape, buffer, start, end);
    // It is not as its template says, which goes on to fit the others.
    if (start === this.openAt) return;
    const count = shape.keys.length;
    const keySlots = new Int32Array(count);
    const keyIsLong = new Uint8Array(count);
    let pos = start + 3;
    if (count === 0 || buffer[start + 1] !== MEMOIZE || buffer[start + 2] !== MARK) return;
    for (let k = 0; k < count; k++) {
      const op = buffer[pos];
      if (op !== BINGET && op !== LONG_BINGET) return;
      keyIsLong[k] = Number(op === LONG_BINGET);
      keySlots[k] = op === BINGET ? buffer[pos + 1] : int32(buffer, pos + 1);
      const key = this.#machine.memo.get(keySlots[k]);
      if (key?.tag !== Tag.String || key.val !== shape.keys[k]) return;
      pos = skipValue(buffer, pos + (op === BINGET ? 2 : 5));
      if (pos < 0) return;
    }
    if (pos !== end) return;
    const known = this.#templates.findIndex((template) => template.keySlots[0] === keySlots[0]);
    if (known >= 0) this.#templates.splice(known, 1);
    this.#templates.unshift({ shape, keySlots, keyIsLong });
    this.#templates.length = Math.min(this.#templates.length, MAX_TEMPLATES);
  }

  /**
   * Reads the dictionaries from `pos` on that begin before `stop`, while they are of a known shape.
   * Returns where the opcode loop goes on; the machine's stack, marks and memo are as if it had read
   * everything up to there.
   */
  read(buffer: Uint8Array, view: DataView, pos: number, stop: number): number {
    const lastStart = Math.min(buffer.length - MARGIN, stop);
    let at = pos;
    this.openAt = -1;
    while (at < lastStart) {
      if (this.lane !== undefined) at = this.lane.read(buffer, view, at, stop);
      const isDict = buffer[at] === EMPTY_DICT && buffer[at + 1] === MEMOIZE;
      if (at >= lastStart || !isDict || buffer[at + 2] !== MARK) return at;
      const template = this.#templateFor(buffer, view, at + 3);
      if (template === undefined) return at;
      const { memo } = this.#machine;
      // The opcode loop says what is wrong with it.
      if (!memo.reserve(memo.length + template.keySlots.length + 2)) return at;
      const after = this.#readRow(template, buffer, view, at);
      if (after < 0) {
        this.openAt = at;
        return -after;
      }
      this.lane?.learn(template.shape, buffer, at, after - 1);
      at = after;
    }
    return at;
  }

  /** The template whose first key is written at `pos`. */
  #templateFor(buffer: Uint8Array, view: DataView, pos: number): Template | undefined {
    const op = buffer[pos];
    if (op !== BINGET && op !== LONG_BINGET) return undefined;
    const slot = op === BINGET ? buffer[pos + 1] : view.getInt32(pos + 1, true);
    const templates = this.#templates;
    for (let i = 0; i < templates.length; i++) {
      const template = templates[i];
      if (template.keySlots[0] !== slot) continue;
      if (i > 0) {
        templates[i] = templates[0];
        templates[0] = template;
      }
      return template;
    }
    return undefined;
  }

  /** One dictionary. Minus the position at which the opcode loop must take over, when it must. */
  #readRow(template: Template, buffer: Uint8Array, view: DataView, start: number): number {
    const machine = this.#machine;
    const { memo } = machine;
    const { shape, keySlots, keyIsLong } = template;
    const count = keySlots.length;
    const dict = machine.sp;
    while (dict + 2 * count + 4 > machine.tags.length) machine.grow();
    const dictSlot = memo.length;
    const { tags, vals } = machine;
    const { tags: memoTags, vals: memoVals } = memo;
    const lastPos = buffer.length - MARGIN;
    let nextSlot = dictSlot + 1;
    let pos = start + 3;
    for (let k = 0; k < count; k++) {
      const at = dict + 2 + 2 * k;
      const keyBytes = keyIsLong[k] === 1 ? 5 : 2;
      const isKey =
        keyBytes === 5
          ? buffer[pos] === LONG_BINGET && view.getInt32(pos + 1, true) === keySlots[k]
          : buffer[pos] === BINGET && buffer[pos + 1] === keySlots[k];
      if (!isKey || pos > lastPos) return this.#handOver(shape, dict, k, false, nextSlot, pos);
      pos += keyBytes;
      switch (buffer[pos]) {
        case 0x68: // BINGET
        case 0x6a: {
          // LONG_BINGET
          const isLong = buffer[pos] === LONG_BINGET;
          const slot = isLong ? view.getUint32(pos + 1, true) : buffer[pos + 1];
          const tag = slot < memo.length ? memoTags[slot] : Tag.OpenDict;
          if (tag >= Tag.OpenDict) return this.#handOver(shape, dict, k, true, nextSlot, pos);
          tags[at] = tag;
          vals[at] = memoVals[slot];
          pos += isLong ? 5 : 2;
          break;
        }
        case 0x8a: {
          // LONG1: six bytes are an address, seven a time
          const bytes = buffer[pos + 1];
          if (bytes === 6 && buffer[pos + 7] < 0x80) {
            vals[at] = view.getUint32(pos + 2, true) + view.getUint16(pos + 6, true) * UINT32;
          } else if (bytes === 7 && buffer[pos + 8] < 0x20) {
            const high = view.getUint16(pos + 6, true) + buffer[pos + 8] * 65_536;
            vals[at] = view.getUint32(pos + 2, true) + high * UINT32;
          } else {
            return this.#handOver(shape, dict, k, true, nextSlot, pos);
          }
          tags[at] = Tag.Int;
          pos += 2 + bytes;
          break;
        }
        case 0x4b: // BININT1
          tags[at] = Tag.Int;
          vals[at] = buffer[pos + 1];
          pos += 2;
          break;
        case 0x4d: // BININT2
          tags[at] = Tag.Int;
          vals[at] = view.getUint16(pos + 1, true);
          pos += 3;
          break;
        case 0x4a: // BININT
          tags[at] = Tag.Int;
          vals[at] = view.getInt32(pos + 1, true);
          pos += 5;
          break;
        case 0x8c: {
          // SHORT_BINUNICODE, then MEMOIZE
          const end = pos + 2 + buffer[pos + 1];
          if (buffer[end] !== MEMOIZE) return this.#handOver(shape, dict, k, true, nextSlot, pos);
          tags[at] = Tag.String;
          vals[at] = machine.strings.intern(buffer, pos + 2, end);
          memoTags[nextSlot] = Tag.String;
          memoVals[nextSlot++] = vals[at];
          pos = end + 1;
          break;
        }
        case 0x5d: {
          // EMPTY_LIST, then MEMOIZE
          const end = this.#readList(buffer, view, pos, k === count - 1);
          if (end < 0) return this.#handOver(shape, dict, k, true, nextSlot, pos);
          tags[at] = this.#listTag;
          vals[at] = this.#listVal;
          memoTags[nextSlot] = this.#listTag;
          memoVals[nextSlot++] = this.#listVal;
          pos = end;
          break;
        }
        default:
          return this.#handOver(shape, dict, k, true, nextSlot, pos);
      }
    }
    if (buffer[pos] !== SETITEMS || shape.sink === undefined) {
      return this.#handOver(shape, dict, count, false, nextSlot, pos);
    }
    machine.opcodeAt = pos;
    const row = shape.sink.take(machine, dict + 2) + shape.sink.sink * ROWS_PER_SINK;
    tags[dict] = Tag.Row;
    vals[dict] = row;
    memoTags[dictSlot] = Tag.Row;
    memoVals[dictSlot] = row;
    memo.length = nextSlot;
    machine.sp = dict + 1;
    return pos + 1;
  }

  /**
   * A list of rows that are all named from the memo, into #listTag and #listVal. Returns where it
   * ends, -1 for any other list. (An empty one is only sure before SETITEMS: else an item may follow.)
   */
  #readList(buffer: Uint8Array, view: DataView, start: number, isLastValue: boolean): number {
    if (buffer[start + 1] !== MEMOIZE) return -1;
    let pos = start + 2;
    if (buffer[pos] !== MARK) {
      if (!isLastValue || buffer[pos] !== SETITEMS) return -1;
      this.#listTag = Tag.List;
      this.#listVal = 0;
      return pos;
    }
    const { memo } = this.#machine;
    const lastPos = buffer.length - 16;
    let count = 0;
    for (pos++; buffer[pos] !== 0x65; count++) {
      const op = buffer[pos];
      if ((op !== BINGET && op !== LONG_BINGET) || pos > lastPos) return -1;
      if (count === this.#listRows.length) return -1;
      const slot = op === BINGET ? buffer[pos + 1] : view.getUint32(pos + 1, true);
      const val =
        slot < memo.length ? memo.vals[slot] - this.#machine.nodeSink * ROWS_PER_SINK : -1;
      if (val < 0 || val >= ROWS_PER_SINK || memo.tags[slot] !== Tag.Row) return -1;
      this.#listRows[count] = val;
      pos += op === BINGET ? 2 : 5;
    }
    if (count === 0) return -1;
    this.#listTag = Tag.Node;
    this.#listVal = this.#machine.node(this.#listRows, count);
    return pos + 1;
  }

  /** Leaves the first `values` pairs (and the next key) on the stack, as the opcode loop would have. */
  #handOver(
    shape: Shape,
    dict: number,
    values: number,
    withKey: boolean,
    memoLength: number,
    pos: number,
  ): number {
    const machine = this.#machine;
    const { tags, vals, memo } = machine;
    for (let k = 0; k < values + Number(withKey); k++) {
      tags[dict + 1 + 2 * k] = Tag.String;
      vals[dict + 1 + 2 * k] = shape.keys[k];
    }
    const dictSlot = memo.length;
    tags[dict] = Tag.OpenDict;
    vals[dict] = dictSlot;
    memo.tags[dictSlot] = Tag.OpenDict;
    memo.vals[dictSlot] = -1;
    memo.length = memoLength;
    machine.marks.push(dict + 1);
    machine.sp = dict + 1 + 2 * values + Number(withKey);
    return -pos;
  }
}

/** Where the value at `pos` ends: one opcode with its MEMOIZE, or a list of memo entries. -1 for others. */
function skipValue(buffer: Uint8Array, pos: number): number {
  switch (buffer[pos]) {
    case BINGET:
    case 0x4b:
      return pos + 2;
    case 0x4d:
      return pos + 3;
    case LONG_BINGET:
    case 0x4a:
      return pos + 5;
    case 0x8a:
      return pos + 2 + buffer[pos + 1];
    case 0x8c: {
      const end = pos + 2 + buffer[pos + 1];
      return buffer[end] === MEMOIZE ? end + 1 : end;
    }
    case 0x5d: {
      if (buffer[pos + 1] !== MEMOIZE) return -1;
      if (buffer[pos + 2] !== MARK) return pos + 2;
      let at = pos + 3;
      while (buffer[at] === BINGET || buffer[at] === LONG_BINGET)
        at += buffer[at] === BINGET ? 2 : 5;
      return buffer[at] === 0x65 ? at + 1 : -1;
    }
    default:
      return -1;
  }
}

function int32(buffer: Uint8Array, from: number): number {
  return (
    buffer[from] | (buffer[from + 1] << 8) | (buffer[from + 2] << 16) | (buffer[from + 3] << 24)
  );
}
