/**
 * Caches lists of rows by their bytes. A trace has millions of frame lists but only a few thousand different ones: once
 * `6a a1 00 00 00 68 0b` is known to be rows 7 and 3 and thus node 12, those bytes mean node 12 until a memo slot is
 * filled again.
 */
import { enlarged } from '../../base/growable.ts';
import { ROWS_PER_SINK, Tag } from './types.ts';
import type { ValueMachine } from './value-machine.ts';

const SLOTS = 1 << 14;
/** Slots tried per list: a hostile file could make all lists hash to the same slot. */
const PROBES = 8;
/** Words of all lists together: 4 MB. */
const MAX_WORDS = 1 << 20;
/** Longest list that ends in one APPENDS with no other after it; see ValueMachine.appends. */
const MAX_ITEMS = 999;

export class NodeLists {
  /** Position of the APPENDS that ends the list found last. */
  end = 0;

  readonly #machine: ValueMachine;
  readonly #hash = new Int32Array(SLOTS);
  readonly #bytes = new Int32Array(SLOTS);
  readonly #from = new Int32Array(SLOTS);
  readonly #node = new Int32Array(SLOTS).fill(-1);
  /** The list that followed this one last time; usually it follows again. */
  readonly #next = new Int32Array(SLOTS).fill(-1);
  #words = new Int32Array(1 << 12);
  #used = 0;
  #last = 0;
  readonly #rows = new Int32Array(MAX_ITEMS);

  constructor(machine: ValueMachine) {
    this.#machine = machine;
  }

  /**
   * The node of the list whose items begin at `from` and end before `limit`. Also sets `end`. Returns -1, and changes
   * nothing, for a list of anything except rows that become a node.
   * @param slot number of filled memo slots
   */
  find(buffer: Uint8Array, view: DataView, from: number, limit: number, slot: number): number {
    const guess = this.#next[this.#last];
    if (guess >= 0 && this.#isAt(guess, view, from, limit)) {
      const end = from + this.#bytes[guess];
      if (buffer[end] === 0x65) {
        this.#last = guess;
        this.end = end;
        return this.#node[guess];
      }
    }
    let at = from;
    let hash = 0;
    while (at < limit) {
      const op = buffer[at];
      if (op === 0x6a) {
        hash = Math.imul(hash ^ view.getInt32(at + 1, true), 0x9e3779b1);
        at += 5;
      } else if (op === 0x68) {
        hash = Math.imul(hash ^ buffer[at + 1], 0x85ebca6b);
        at += 2;
      } else break;
      hash ^= hash >>> 15;
    }
    if (at >= limit || buffer[at] !== 0x65) return -1;
    this.end = at;
    return this.#look(view, from, at, hash, slot);
  }

  /** The node of the items in view[from … to), cached or new. */
  #look(view: DataView, from: number, to: number, hash: number, slot: number): number {
    let free = -1;
    for (let probe = 0; probe < PROBES; probe++) {
      const i = (hash + probe) & (SLOTS - 1);
      if (this.#node[i] < 0) {
        free = i;
        break;
      }
      if (this.#hash[i] === hash && this.#bytes[i] === to - from && this.#isAt(i, view, from, to)) {
        this.#follow(i);
        return this.#node[i];
      }
    }
    const node = this.#resolve(view, from, to, slot);
    if (node >= 0 && free >= 0) this.#keep(free, view, from, to, hash, node);
    return node;
  }

  #follow(i: number): void {
    this.#next[this.#last] = i;
    this.#last = i;
  }

  /** Whether the bytes at `from` are those of list i and end by `limit`. */
  #isAt(i: number, view: DataView, from: number, limit: number): boolean {
    const bytes = this.#bytes[i];
    if (from + bytes > limit) return false;
    const words = this.#words;
    let w = this.#from[i];
    let at = from;
    for (const end = w + (bytes >> 2); w < end; w++, at += 4) {
      if (words[w] !== view.getInt32(at, true)) return false;
    }
    return (bytes & 3) === 0 || words[w] === (view.getInt32(at, true) & tailMask(bytes));
  }

  #resolve(view: DataView, from: number, to: number, slot: number): number {
    const { memo, nodeSink } = this.#machine;
    const base = nodeSink * ROWS_PER_SINK;
    let count = 0;
    for (let at = from; at < to; ) {
      const isLong = view.getUint8(at) === 0x6a;
      const named = isLong ? view.getUint32(at + 1, true) : view.getUint8(at + 1);
      if (named >= slot || memo.tags[named] !== Tag.Row || count === MAX_ITEMS) return -1;
      const row = memo.vals[named] - base;
      if (row < 0 || row >= ROWS_PER_SINK) return -1;
      this.#rows[count++] = row;
      at += isLong ? 5 : 2;
    }
    return count === 0 ? -1 : this.#machine.node(this.#rows, count);
  }

  #keep(i: number, view: DataView, from: number, to: number, hash: number, node: number): void {
    const bytes = to - from;
    const count = (bytes + 3) >> 2;
    if (this.#used + count > MAX_WORDS) return;
    while (this.#used + count > this.#words.length) this.#words = enlarged(this.#words);
    this.#hash[i] = hash;
    this.#bytes[i] = bytes;
    this.#from[i] = this.#used;
    this.#node[i] = node;
    for (let at = from; at < to; at += 4) {
      const mask = at + 4 <= to ? -1 : tailMask(bytes);
      this.#words[this.#used++] = view.getInt32(at, true) & mask;
    }
    this.#follow(i);
  }
}

/** Mask of the last word's bytes that belong to a list of `bytes` bytes. */
const tailMask = (bytes: number): number => (1 << (8 * (bytes & 3))) - 1;
