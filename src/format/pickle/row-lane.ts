/**
 * The straight-line lane: reads the rows that fill a file (events) from their bytes right into
 * columns. It learns how a row is written from rows that were read before (LaneSteps), and then only
 * compares and copies: no stack, no opcodes, no call for each row.
 *
 *   } 94 ( 6a a6 01 00 00   68 2a   6a a8 01 00 00   8a 06 00 00 4c 06 7f 00   68 15   4a 00 00 10 00  …
 *   as learned              action  as learned       address                   learned size
 *
 * PyTorch writes action, address, size, stream and time first, and the frames last: a row of that
 * order is read here. The rest of a row that is written otherwise is read step by step (StepWalker).
 *
 * A row is taken whole or not at all. Whatever is not as learned (another opcode, a string or stream
 * that is new, a number beyond 2^52) ends the lane at the first byte of that row; the opcode loop
 * goes on there, and stack, memo and columns are as if it had read all rows before. The lane makes
 * no room: where stack, memo or columns are full it ends as well, so their bounds hold as they are.
 */
import { LessonPace, MAX_MEMO_PER_ROW, stepsOf } from './lane-lesson.ts';
import { LaneLists } from './lane-lists.ts';
import {
  END_IN_MEMO,
  END_NO_NODE,
  END_NO_PAIR,
  END_NO_TIME,
  LaneSteps,
  STEP_COLUMN,
  STEP_LAST_MASK,
  STEP_LAST_WORD,
  STEP_MASK0,
  STEP_MASK1,
  STEP_MEMO_END,
  STEP_MEMO_FROM,
  STEP_NEXT,
  STEP_RUN_BYTES,
  STEP_WORD0,
  STEP_WORD1,
  STEP_WORDS_END,
  STEP_WORDS_FROM,
} from './lane-steps.ts';
import type { Shape } from './shape-table.ts';
import { CODES, HIGH_LIMIT, StepWalker, UINT32 } from './step-walker.ts';
import { type LaneRows, ROWS_PER_SINK, Tag } from './types.ts';
import type { ValueMachine } from './value-machine.ts';

/** LONG1 and its count of bytes, as one word. */
const LONG1_OF_5 = 0x058a;
const LONG1_OF_6 = 0x068a;
const LONG1_OF_7 = 0x078a;
const LONG1_OF_8 = 0x088a;
/** Failed attempts in a row after which rows go by untried, as many as there were failures. */
const PATIENCE = 8;
const MAX_PAUSE = 64;

/** What is there once the first row was learned. */
interface Equipment {
  readonly rows: LaneRows;
  readonly lists: LaneLists;
  readonly walker: StepWalker;
}

export class RowLane {
  readonly #machine: ValueMachine;
  readonly #steps = new LaneSteps();
  #equipment: Equipment | undefined;
  readonly #pace = new LessonPace();
  #failures = 0;
  #pause = 0;

  constructor(machine: ValueMachine) {
    this.#machine = machine;
  }

  /** There are steps to follow, and the memo slots still hold what they did. */
  get isReady(): boolean {
    return !this.#steps.isEmpty && !this.#machine.memo.isRewritten;
  }

  /** Learns from the row in buffer[start … end), which has been read; `end` is its SETITEMS. */
  learn(shape: Shape, buffer: Uint8Array, start: number, end: number): void {
    const lane = shape.sink?.lane;
    if (lane === undefined || !this.#pace.isDue()) return;
    const steps = stepsOf(shape.keys, lane, this.#machine, buffer, start, end);
    if (steps === undefined || !this.#steps.add(steps)) return;
    this.#pace.succeeded();
    if (this.#equipment !== undefined) return;
    const { rows } = lane;
    const lists = new LaneLists(this.#machine);
    const walker = new StepWalker(this.#machine, this.#steps, lists, rows);
    this.#equipment = { rows, lists, walker };
  }

  /** Reads the rows from `start` on that begin before `stop`. Returns where the first begins that it leaves. */
  read(buffer: Uint8Array, view: DataView, start: number, stop: number): number {
    if (this.#equipment === undefined) return start;
    if (this.#pause > 0) {
      this.#pause--;
      return start;
    }
    const end = this.#run(this.#equipment, buffer, view, start, stop);
    if (end > start) this.#failures = 0;
    else if (++this.#failures > PATIENCE) this.#pause = Math.min(this.#failures, MAX_PAUSE);
    return end;
  }

  // One long function, because all it reads and writes must stay in local variables.
  #run(
    { rows, lists, walker }: Equipment,
    buffer: Uint8Array,
    view: DataView,
    start: number,
    stop: number,
  ): number {
    const machine = this.#machine;
    const { memo, tags, vals } = machine;
    const { tags: memoTags, vals: memoVals } = memo;
    const columns = rows.columns();
    const { codes, indices, pairs, nodes, numbers } = columns;
    const { codeSlot, code } = walker;
    const { steps, words, memoTags: plainTags, memoVals: plainVals } = this.#steps;
    const limit = buffer.length - this.#steps.rowBytes;
    const lastStart = Math.min(stop, limit);
    const lastSlot = memoTags.length - MAX_MEMO_PER_ROW;
    const base = rows.sink * ROWS_PER_SINK;
    const { timeColumn, emptyNode, noNode } = rows;
    let { sp } = machine;
    let row = rows.length;
    const lastRow = Math.min(columns.capacity, row + tags.length - sp - 2);
    let slot = memo.length;
    let pos = start;
    let indexed = Number.NaN;
    let index = 0;

    // What never changes in a row of the usual order.
    const { put, action, address, size, stream, time, tail } = this.#steps.straight;
    const isUsual = action >= 0;
    const isPut = put >= 0;
    const hasTail = tail >= 0;
    const p0 = steps[put + STEP_WORD0];
    const pm0 = steps[put + STEP_MASK0];
    const p1 = steps[put + STEP_WORD1];
    const pm1 = steps[put + STEP_MASK1];
    const pn = steps[put + STEP_RUN_BYTES];
    const a0 = steps[action + STEP_WORD0];
    const am0 = steps[action + STEP_MASK0];
    const a1 = steps[action + STEP_WORD1];
    const am1 = steps[action + STEP_MASK1];
    const an = steps[action + STEP_RUN_BYTES];
    const b0 = steps[address + STEP_WORD0];
    const bm0 = steps[address + STEP_MASK0];
    const b1 = steps[address + STEP_WORD1];
    const bm1 = steps[address + STEP_MASK1];
    const bn = steps[address + STEP_RUN_BYTES];
    const c0 = steps[size + STEP_WORD0];
    const cm0 = steps[size + STEP_MASK0];
    const c1 = steps[size + STEP_WORD1];
    const cm1 = steps[size + STEP_MASK1];
    const cn = steps[size + STEP_RUN_BYTES];
    const d0 = steps[stream + STEP_WORD0];
    const dm0 = steps[stream + STEP_MASK0];
    const d1 = steps[stream + STEP_WORD1];
    const dm1 = steps[stream + STEP_MASK1];
    const dn = steps[stream + STEP_RUN_BYTES];
    const e0 = steps[time + STEP_WORD0];
    const em0 = steps[time + STEP_MASK0];
    const e1 = steps[time + STEP_WORD1];
    const em1 = steps[time + STEP_MASK1];
    const en = steps[time + STEP_RUN_BYTES];
    const t0 = steps[tail + STEP_WORD0];
    const tm0 = steps[tail + STEP_MASK0];
    const t1 = steps[tail + STEP_WORD1];
    const tm1 = steps[tail + STEP_MASK1];
    const tn = steps[tail + STEP_RUN_BYTES];
    const wordsFrom = steps[tail + STEP_WORDS_FROM];
    const wordsEnd = steps[tail + STEP_WORDS_END];
    const lastWord = steps[tail + STEP_LAST_WORD];
    const lastMask = steps[tail + STEP_LAST_MASK];
    const memoFrom = steps[tail + STEP_MEMO_FROM];
    const memoEnd = steps[tail + STEP_MEMO_END];
    const tailFlags = steps[steps[tail + STEP_NEXT] + STEP_COLUMN];
    const restStep = steps[time + STEP_NEXT];
    const rowSlots = isPut || steps[STEP_MEMO_END] > 0 ? 1 : 0;
    const addresses = numbers[steps[address + STEP_COLUMN]];
    const sizes = numbers[steps[size + STEP_COLUMN]];
    const times = numbers[steps[time + STEP_COLUMN]];

    while (pos < lastStart && row < lastRow && slot < lastSlot) {
      let at = pos;
      let next = slot;
      let step = 0;
      let flags = -1;
      // biome-ignore lint/suspicious/noConfusingLabels: the way out of a row that is not as usual
      straight: if (isUsual) {
        // Its own memo slot, where it is written out.
        if (isPut) {
          if (((view.getInt32(at, true) ^ p0) & pm0) !== 0) break straight;
          if (((view.getInt32(at + 4, true) ^ p1) & pm1) !== 0) break straight;
          if (view.getInt32(at + pn, true) !== slot) break straight;
          at += pn + 4;
        }
        // The action.
        if (((view.getInt32(at, true) ^ a0) & am0) !== 0) break straight;
        if (((view.getInt32(at + 4, true) ^ a1) & am1) !== 0) break straight;
        at += an;
        let op = buffer[at];
        let named = 0;
        if (op === 0x6a) {
          named = view.getUint32(at + 1, true);
          at += 5;
        } else if (op === 0x68) {
          named = buffer[at + 1];
          at += 2;
        } else break straight;
        if (codeSlot[named & (CODES - 1)] !== named) break straight;
        codes[row] = code[named & (CODES - 1)];

        // The address.
        if (((view.getInt32(at, true) ^ b0) & bm0) !== 0) break straight;
        if (((view.getInt32(at + 4, true) ^ b1) & bm1) !== 0) break straight;
        at += bn;
        let form = view.getUint16(at, true);
        if (form === LONG1_OF_6) {
          const high = view.getInt16(at + 6, true);
          if (high < 0) break straight;
          addresses[row] = view.getUint32(at + 2, true) + high * UINT32;
          at += 8;
        } else if (form === LONG1_OF_8) {
          const high = view.getInt32(at + 6, true);
          if (high < 0 || high >= HIGH_LIMIT) break straight;
          addresses[row] = view.getUint32(at + 2, true) + high * UINT32;
          at += 10;
        } else break straight;

        // The size.
        if (((view.getInt32(at, true) ^ c0) & cm0) !== 0) break straight;
        if (((view.getInt32(at + 4, true) ^ c1) & cm1) !== 0) break straight;
        at += cn;
        op = buffer[at];
        if (op === 0x4a) {
          const bytes = view.getInt32(at + 1, true);
          if (bytes < 0) break straight;
          sizes[row] = bytes;
          at += 5;
        } else if (op === 0x4d) {
          sizes[row] = view.getUint16(at + 1, true);
          at += 3;
        } else if (op === 0x4b) {
          sizes[row] = buffer[at + 1];
          at += 2;
        } else {
          form = view.getUint16(at, true);
          const high = form === LONG1_OF_5 ? view.getInt8(at + 6) : view.getInt32(at + 6, true);
          if (form !== LONG1_OF_5 && form !== LONG1_OF_8) break straight;
          if (high < 0 || high >= HIGH_LIMIT) break straight;
          sizes[row] = view.getUint32(at + 2, true) + high * UINT32;
          at += form === LONG1_OF_5 ? 7 : 10;
        }

        // The stream.
        if (((view.getInt32(at, true) ^ d0) & dm0) !== 0) break straight;
        if (((view.getInt32(at + 4, true) ^ d1) & dm1) !== 0) break straight;
        at += dn;
        op = buffer[at];
        let handle = 0;
        if (op === 0x4b) {
          handle = buffer[at + 1];
          at += 2;
        } else if (op === 0x4a) {
          handle = view.getInt32(at + 1, true);
          at += 5;
        } else {
          form = view.getUint16(at, true);
          const high =
            form === LONG1_OF_6 ? view.getInt16(at + 6, true) : view.getInt32(at + 6, true);
          if (form !== LONG1_OF_6 && form !== LONG1_OF_8) break straight;
          if (high >= HIGH_LIMIT) break straight;
          handle = view.getUint32(at + 2, true) + high * UINT32;
          at += form === LONG1_OF_6 ? 8 : 10;
        }
        if (handle !== indexed) {
          const found = handle < 0 ? -1 : rows.indexOf(handle);
          if (found < 0) break straight;
          index = found;
          indexed = handle;
        }
        indices[row] = index;

        // The time.
        if (((view.getInt32(at, true) ^ e0) & em0) !== 0) break straight;
        if (((view.getInt32(at + 4, true) ^ e1) & em1) !== 0) break straight;
        at += en;
        form = view.getUint16(at, true);
        const high =
          form === LONG1_OF_7 ? view.getInt32(at + 5, true) >> 8 : view.getInt32(at + 6, true);
        if (form !== LONG1_OF_7 && form !== LONG1_OF_8) break straight;
        if (high < 0 || high >= HIGH_LIMIT) break straight;
        times[row] = view.getUint32(at + 2, true) + high * UINT32;
        at += form === LONG1_OF_7 ? 9 : 10;
        next = slot + rowSlots;
        step = restStep;

        // What is the same in most, up to the frames; and the frames.
        if (!hasTail) break straight;
        if (((view.getInt32(at, true) ^ t0) & tm0) !== 0) break straight;
        if (((view.getInt32(at + 4, true) ^ t1) & tm1) !== 0) break straight;
        let p = at + 8;
        let word = wordsFrom;
        for (; word < wordsEnd && view.getInt32(p, true) === words[word]; word++) p += 4;
        if (word < wordsEnd || ((view.getInt32(p, true) ^ lastWord) & lastMask) !== 0)
          break straight;
        p = at + tn;
        let after = next;
        for (let i = memoFrom; i < memoEnd; i++) {
          memoTags[after] = plainTags[i];
          memoVals[after++] = plainVals[i];
        }
        op = buffer[p];
        if (op === 0x6a || op === 0x68) {
          const list = op === 0x6a ? view.getUint32(p + 1, true) : buffer[p + 1];
          const tag = list < slot ? memoTags[list] : Tag.None;
          p += op === 0x6a ? 5 : 2;
          if (buffer[p] !== 0x75) break straight;
          if (tag === Tag.Node) nodes[row] = memoVals[list];
          else if (tag === Tag.List && memoVals[list] === 0) nodes[row] = emptyNode;
          else break straight;
          p++;
        } else if (op === 0x5d) {
          // CPython remembers a list before its items, C++ after them.
          const listSlot = after;
          p++;
          if (buffer[p] === 0x94) {
            after++;
            p++;
          } else if (buffer[p] === 0x72) {
            if (view.getInt32(p + 1, true) !== after) break straight;
            after++;
            p += 5;
          }
          let node = 0;
          let tag: Tag = Tag.List;
          if (buffer[p] === 0x28) {
            node = lists.find(buffer, view, p + 1, limit, slot);
            if (node < 0) break straight;
            tag = Tag.Node;
            p = lists.end + 1;
            if (after === listSlot && buffer[p] === 0x72) {
              if (view.getInt32(p + 1, true) !== after) break straight;
              after++;
              p += 5;
            }
          }
          if (buffer[p] !== 0x75) break straight;
          nodes[row] = tag === Tag.Node ? node : emptyNode;
          memoTags[listSlot] = tag;
          memoVals[listSlot] = node;
          p++;
        } else break straight;
        at = p;
        next = after;
        flags = tailFlags;
      }
      if (flags < 0) {
        if (step === 0) {
          at = pos;
          next = slot;
        }
        flags = walker.walk(buffer, view, columns, { row, slot, step, at, next, limit });
        if (flags < 0) break;
        ({ at, next } = walker);
      }
      // The row is whole.
      if ((flags & END_IN_MEMO) !== 0) {
        memoTags[slot] = Tag.Row;
        memoVals[slot] = base + row;
      }
      if ((flags & END_NO_TIME) !== 0) numbers[timeColumn][row] = Number.NaN;
      if ((flags & END_NO_NODE) !== 0) nodes[row] = noNode;
      if ((flags & END_NO_PAIR) !== 0) pairs[row] = 0;
      tags[sp] = Tag.Row;
      vals[sp++] = base + row;
      row++;
      slot = next;
      pos = at;
    }
    memo.length = slot;
    rows.length = row;
    machine.sp = sp;
    return pos;
  }
}
