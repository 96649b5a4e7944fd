/**
 * Reads events from the bytes of a pickle straight into the columns, without the opcode loop, the value stack or a call
 * per value. A large snapshot is 99.9% events, and each is a dictionary with a few memoized keys:
 *
 *   } 94 ( 6a a6 01 00 00   68 2a   6a a8 01 00 00   8a 06 00 00 4c 06 7f 00   …   75
 *   key 'action'            'alloc' key 'addr'       the address                   SETITEMS
 *
 * A row is read whole or not at all. If it holds anything else (a new key or stream, a number beyond 2^52), reading
 * stops at the row's first byte. The opcode loop continues there, with the stack, memo and columns as if it had read
 * all earlier rows. Reading also stops when the stack, the memo or the columns are full, so their bounds still hold.
 */
import type { FastPath } from '../pickle/pickle-decoder.ts';
import { ROWS_PER_SINK, type Tag } from '../pickle/types.ts';
import type { ValueMachine } from '../pickle/value-machine.ts';
import type { EventSink } from './event-sink.ts';
import { type FieldReader, Sink } from './field-reader.ts';
import { HIGH_LIMIT, MAX_SLOTS, RowReader, UINT32, UNREAD } from './row-reader.ts';
import { MAX_TAIL_BYTES } from './row-template.ts';
import type { TraceAction } from './tables.ts';

/** Bytes that must follow: more than a row takes up to its frames, or any key with its value except the frames. */
const SPARE_BYTES = 144 + MAX_TAIL_BYTES;
/** After this many failures in a row, skip as many dictionaries as there were failures. */
const MAX_FAILURES = 8;
const MAX_PAUSE = 64;

export class EventFastPath implements FastPath {
  readonly #machine: ValueMachine;
  readonly #events: EventSink;
  readonly #fields: FieldReader;
  readonly #rows: RowReader;
  #failures = 0;
  #pause = 0;

  constructor(machine: ValueMachine, events: EventSink, fields: FieldReader) {
    this.#machine = machine;
    this.#events = events;
    this.#fields = fields;
    this.#rows = new RowReader(machine, events, fields);
  }

  read(buffer: Uint8Array, view: DataView, start: number, stop: number): number {
    // A list's bytes identify one stack only while each memo slot holds one value.
    if (this.#machine.memo.isRewritten) return start;
    if (this.#pause > 0) {
      this.#pause--;
      return start;
    }
    const limit = buffer.length - SPARE_BYTES;
    const lastStart = Math.min(stop, limit);
    let pos = start;
    while (pos < lastStart) {
      const other = this.#readAlike(buffer, view, pos, lastStart, limit);
      if (other > pos) this.#rows.learnings = 0;
      pos = other < lastStart ? this.#rows.read(buffer, view, other, limit) : other;
      if (pos === other) break;
    }
    if (pos > start) this.#failures = 0;
    else if (++this.#failures > MAX_FAILURES) this.#pause = Math.min(this.#failures, MAX_PAUSE);
    return pos;
  }

  /**
   * Reads the rows that are written as the template says, by comparing bytes with it. Returns where the first other one
   * begins. One long function, because everything it reads and writes must stay in local variables.
   */
  #readAlike(
    buffer: Uint8Array,
    view: DataView,
    start: number,
    lastStart: number,
    limit: number,
  ): number {
    const rows = this.#rows;
    const { template } = rows;
    let [tail] = template.tails;
    if (tail === undefined) return start;
    // Local constants: properties of an object would be loaded each time.
    const STRING: typeof Tag.String = 5;
    const NODE: typeof Tag.Node = 10;
    const ROW: typeof Tag.Row = 9;
    const UNKNOWN: typeof TraceAction.Unknown = 11;
    const machine = this.#machine;
    const events = this.#events;
    const { memo, tags, vals } = machine;
    const { tags: memoTags, vals: memoVals } = memo;
    const { action, address, sizeBytes, timeUs, stream, stack, pool } = events.columns;
    const { actionOfString } = events;
    const { words, masks, runBytes, addressDigits, timeDigits, isMemoized } = template;
    const headBytes = runBytes[0];
    const addressBytes = runBytes[1] + addressDigits;
    const sizeKeyBytes = runBytes[2];
    const streamKeyBytes = runBytes[3];
    const timeBytes = runBytes[4] + timeDigits;
    const [w0, w1, w2, w3, w4, w5, w6, w7, w8, w9] = words;
    const [m0, m1, m2, m3, m4, m5, m6, m7, m8, m9] = masks;
    const addressShift = 64 - 8 * addressDigits;
    const timeShift = 64 - 8 * timeDigits;
    const rowSlots = isMemoized ? 1 : 0;
    const lastSlot = memoTags.length - MAX_SLOTS;
    const base = Sink.Event * ROWS_PER_SINK;
    let { sp } = machine;
    let row = events.length;
    const lastRow = Math.min(action.length, row + tags.length - sp - 2);
    let slot = memo.length;
    let pos = start;
    let lastHandle = -1;
    let lastStream = 0;
    let hasPool = false;

    while (pos < lastStart && row < lastRow && slot < lastSlot) {
      let at = pos;
      if (((view.getInt32(at, true) ^ w0) & m0) !== 0) break;
      if (((view.getInt32(at + 4, true) ^ w1) & m1) !== 0) break;
      at += headBytes;
      let op = buffer[at];
      let named = op === 0x6a ? view.getInt32(at + 1, true) : buffer[at + 1];
      at += op === 0x6a ? 5 : 2;
      // The low bits of BINGET and LONG_BINGET differ in one.
      if ((op & 0xfd) !== 0x68 || named < 0 || named >= slot || memoTags[named] !== STRING) break;
      const code = actionOfString[memoVals[named]];
      // Not `>=`: a string row may be out of bounds.
      if (!(code < UNKNOWN)) break;
      action[row] = code;

      if (((view.getInt32(at, true) ^ w2) & m2) !== 0) break;
      if (((view.getInt32(at + 4, true) ^ w3) & m3) !== 0) break;
      at += addressBytes;
      let high = view.getInt32(at - 4, true) >> addressShift;
      if (high < 0 || high >= HIGH_LIMIT) break;
      address[row] = view.getUint32(at - addressDigits, true) + high * UINT32;

      if (((view.getInt32(at, true) ^ w4) & m4) !== 0) break;
      if (((view.getInt32(at + 4, true) ^ w5) & m5) !== 0) break;
      at += sizeKeyBytes;
      op = buffer[at];
      if (op === 0x4a) {
        const bytes = view.getInt32(at + 1, true);
        if (bytes < 0) break;
        sizeBytes[row] = bytes;
        at += 5;
      } else if (op === 0x4d) {
        sizeBytes[row] = view.getUint16(at + 1, true);
        at += 3;
      } else if (op === 0x4b) {
        sizeBytes[row] = buffer[at + 1];
        at += 2;
      } else {
        const digits = buffer[at + 1];
        if (op !== 0x8a || digits < 5 || digits > 8) break;
        at += 2 + digits;
        high = view.getInt32(at - 4, true) >> (64 - 8 * digits);
        if (high < 0 || high >= HIGH_LIMIT) break;
        sizeBytes[row] = view.getUint32(at - digits, true) + high * UINT32;
      }

      if (((view.getInt32(at, true) ^ w6) & m6) !== 0) break;
      if (((view.getInt32(at + 4, true) ^ w7) & m7) !== 0) break;
      at += streamKeyBytes;
      let handle = buffer[at + 1];
      if (buffer[at] === 0x4b) at += 2;
      else {
        handle = rows.number(buffer, view, at);
        if (handle < 0) break;
        at = rows.at;
      }
      if (handle !== lastHandle) {
        const known = this.#fields.knownStream(handle);
        if (known < 0) break;
        lastStream = known;
        lastHandle = handle;
      }
      stream[row] = lastStream;

      if (((view.getInt32(at, true) ^ w8) & m8) !== 0) break;
      if (((view.getInt32(at + 4, true) ^ w9) & m9) !== 0) break;
      at += timeBytes;
      high = view.getInt32(at - 4, true) >> timeShift;
      if (high < 0 || high >= HIGH_LIMIT) break;
      timeUs[row] = view.getUint32(at - timeDigits, true) + high * UINT32;

      if (!tail.isAt(view, at)) {
        const other = template.tailAt(view, at);
        if (other === undefined) break;
        tail = other;
      }
      at += tail.bytes;
      const { memoTags: tailTags, memoVals: tailVals, texts } = tail.values;
      pool[row] = tail.values.pool;
      hasPool ||= tail.values.hasPool;
      let next = slot + rowSlots;
      for (let i = 0; i < tailTags.length; i++) {
        memoTags[next] = tailTags[i];
        memoVals[next++] = tailVals[i];
      }

      op = buffer[at];
      named = op === 0x6a ? view.getInt32(at + 1, true) : buffer[at + 1];
      if ((op & 0xfd) === 0x68 && named >= 0 && named < slot && memoTags[named] === NODE) {
        stack[row] = memoVals[named];
        at += op === 0x6a ? 5 : 2;
      } else {
        const read = rows.frames(buffer, view, at, slot, next, limit);
        if (read === UNREAD) break;
        stack[row] = read;
        at = rows.at;
        next = rows.next;
      }
      if (buffer[at] !== 0x75) break;
      if (isMemoized) {
        memoTags[slot] = ROW;
        memoVals[slot] = base + row;
      }
      for (let i = 0; i < texts.length; i++) events.keepText(texts[i][0], row, texts[i][1]);
      tags[sp] = ROW;
      vals[sp++] = base + row;
      row++;
      slot = next;
      pos = at + 1;
    }
    if (pos === start) return pos;
    memo.length = slot;
    events.took(row, true, hasPool);
    machine.sp = sp;
    return pos;
  }
}
