/**
 * Reads events from the bytes of a pickle straight into the columns, without the opcode loop, the value stack or a call
 * per row. A large snapshot is 99.9% events, and each is a dictionary with a few memoized keys:
 *
 *   } 94 ( 6a a6 01 00 00   68 2a   6a a8 01 00 00   8a 06 00 00 4c 06 7f 00   …   75
 *   key 'action'            'alloc' key 'addr'       the address                   SETITEMS
 *
 * A row is read whole or not at all. If it holds anything else (a new key or stream, a number beyond 2^52), reading
 * stops at the row's first byte. The opcode loop continues there, with the stack, memo and columns as if it had read
 * all earlier rows. Reading also stops when the stack, the memo or the columns are full, so their bounds still hold.
 */
import { NodeLists } from '../pickle/node-lists.ts';
import type { FastPath } from '../pickle/pickle-decoder.ts';
import { ROWS_PER_SINK, Tag } from '../pickle/types.ts';
import type { ValueMachine } from '../pickle/value-machine.ts';
import type { EventSink } from './event-sink.ts';
import { type FieldReader, Sink } from './field-reader.ts';
import { EMPTY_STACK, NO_STACK, type TraceAction } from './tables.ts';

/** Numbers of the keys after the first five. Texts that most events lack follow from FIRST_TEXT on. */
const FIELDS: ReadonlyMap<string, number> = new Map([
  ['frames', 1],
  ['pool_id', 2],
  // Redundant: the trace's place in the file gives the device.
  ['device', 3],
]);
const FIRST_TEXT = 4;
/** Rows with any other key are left to the opcode loop. */
const OTHER = 31;

/** Numbers from 2^52 on may be addresses that are not their own key. This is the upper half of 2^52. */
const HIGH_LIMIT = 0x100000;
/** Bytes that must follow: more than the first five keys and their values take, or any later key except the frames. */
const SPARE_BYTES = 400;
/** Most memo slots of a row: one for itself and one per key. */
const MAX_SLOTS = 32;
/** After this many failures in a row, skip as many dictionaries as there were failures. */
const MAX_FAILURES = 8;
const MAX_PAUSE = 64;

export class EventFastPath implements FastPath {
  readonly #machine: ValueMachine;
  readonly #events: EventSink;
  readonly #fields: FieldReader;
  readonly #lists: NodeLists;
  /** By string row; 0 means not looked up yet. */
  readonly #fieldOf = new Uint8Array(1 << 16);
  readonly #textKeys: readonly string[];
  /** Texts of the current row, stored once it is complete. */
  readonly #texts = new Int32Array(MAX_SLOTS);
  readonly #textFields = new Int32Array(MAX_SLOTS);
  #failures = 0;
  #pause = 0;

  constructor(machine: ValueMachine, events: EventSink, fields: FieldReader) {
    this.#machine = machine;
    this.#events = events;
    this.#fields = fields;
    this.#lists = new NodeLists(machine);
    this.#textKeys = events.textKeys.slice(0, OTHER - FIRST_TEXT);
  }

  read(buffer: Uint8Array, view: DataView, start: number, stop: number): number {
    // A list's bytes identify one stack only while each memo slot holds one value.
    if (this.#machine.memo.isRewritten) return start;
    if (this.#pause > 0) {
      this.#pause--;
      return start;
    }
    const end = this.#run(buffer, view, start, stop);
    if (end > start) this.#failures = 0;
    else if (++this.#failures > MAX_FAILURES) this.#pause = Math.min(this.#failures, MAX_PAUSE);
    return end;
  }

  // One long function, because everything it reads and writes must stay in local variables.
  #run(buffer: Uint8Array, view: DataView, start: number, stop: number): number {
    // Local constants: properties of an object would be loaded each time.
    const STRING: typeof Tag.String = 5;
    const LIST: typeof Tag.List = 6;
    const TUPLE: typeof Tag.Tuple = 7;
    const NODE: typeof Tag.Node = 10;
    const UNKNOWN: typeof TraceAction.Unknown = 11;
    const UINT32 = 0x1_0000_0000;
    const FRAMES = 1;
    const POOL = 2;
    const DEVICE = 3;
    const TEXT = 4;
    const machine = this.#machine;
    const events = this.#events;
    const fields = this.#fields;
    const texts = this.#texts;
    const textFields = this.#textFields;
    const { memo, tags, vals, strings, kept } = machine;
    const { tags: memoTags, vals: memoVals } = memo;
    const { action, address, sizeBytes, timeUs, stream, stack, pool } = events.columns;
    const fieldOf = this.#fieldOf;
    const { actionOfString } = events;
    const limit = buffer.length - SPARE_BYTES;
    const lastStart = Math.min(stop, limit);
    const lastSlot = memoTags.length - MAX_SLOTS;
    const base = Sink.Event * ROWS_PER_SINK;
    let { sp } = machine;
    let row = events.length;
    const lastRow = Math.min(action.length, row + tags.length - sp - 2);
    let slot = memo.length;
    let pos = start;
    // Memo slots of the first five keys.
    let actionKey = -2;
    let addressKey = -2;
    let sizeKey = -2;
    let streamKey = -2;
    let timeKey = -2;
    let lastHandle = -1;
    let lastStream = 0;
    let hasTime = false;
    let hasPool = false;

    rows: while (pos < lastStart && row < lastRow && slot < lastSlot && buffer[pos] === 0x7d) {
      let at = pos + 1;
      // CPython memoizes each container; C++ only what it references again.
      const put = putBytes(buffer, view, at, slot);
      at += put;
      if (put < 0 || buffer[at++] !== 0x28) break;
      let next = put > 0 ? slot + 1 : slot;
      let named = -1;
      let high = -1;

      // The low bits of BINGET and LONG_BINGET differ in one.
      let op = buffer[at];
      named = op === 0x6a ? view.getInt32(at + 1, true) : buffer[at + 1];
      at += op === 0x6a ? 5 : 2;
      if ((op & 0xfd) !== 0x68) break;
      if (named !== actionKey && !this.#isKey(named, slot, 'action')) break;
      actionKey = named;
      op = buffer[at];
      named = op === 0x6a ? view.getInt32(at + 1, true) : buffer[at + 1];
      at += op === 0x6a ? 5 : 2;
      if ((op & 0xfd) !== 0x68 || named < 0 || named >= slot || memoTags[named] !== STRING) break;
      const code = actionOfString[memoVals[named]];
      // Not `>=`: a string row may be out of bounds.
      if (!(code < UNKNOWN)) break;
      action[row] = code;

      op = buffer[at];
      named = op === 0x6a ? view.getInt32(at + 1, true) : buffer[at + 1];
      at += op === 0x6a ? 5 : 2;
      if ((op & 0xfd) !== 0x68) break;
      if (named !== addressKey && !this.#isKey(named, slot, 'addr')) break;
      addressKey = named;
      if (buffer[at] !== 0x8a) break;
      high = upperHalf(view, at, buffer[at + 1]);
      if (high < 0 || high >= HIGH_LIMIT) break;
      address[row] = view.getUint32(at + 2, true) + high * UINT32;
      at += 2 + buffer[at + 1];

      op = buffer[at];
      named = op === 0x6a ? view.getInt32(at + 1, true) : buffer[at + 1];
      at += op === 0x6a ? 5 : 2;
      if ((op & 0xfd) !== 0x68) break;
      if (named !== sizeKey && !this.#isKey(named, slot, 'size')) break;
      sizeKey = named;
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
      } else if (op === 0x8a) {
        high = upperHalf(view, at, buffer[at + 1]);
        if (high < 0 || high >= HIGH_LIMIT) break;
        sizeBytes[row] = view.getUint32(at + 2, true) + high * UINT32;
        at += 2 + buffer[at + 1];
      } else break;

      op = buffer[at];
      named = op === 0x6a ? view.getInt32(at + 1, true) : buffer[at + 1];
      at += op === 0x6a ? 5 : 2;
      if ((op & 0xfd) !== 0x68) break;
      if (named !== streamKey && !this.#isKey(named, slot, 'stream')) break;
      streamKey = named;
      op = buffer[at];
      let handle = -1;
      if (op === 0x4b) {
        handle = buffer[at + 1];
        at += 2;
      } else if (op === 0x4a) {
        handle = view.getInt32(at + 1, true);
        at += 5;
      } else if (op === 0x8a) {
        high = upperHalf(view, at, buffer[at + 1]);
        if (high >= HIGH_LIMIT) break;
        handle = view.getUint32(at + 2, true) + high * UINT32;
        at += 2 + buffer[at + 1];
      }
      if (handle < 0) break;
      if (handle !== lastHandle) {
        const known = fields.knownStream(handle);
        if (known < 0) break;
        lastStream = known;
        lastHandle = handle;
      }
      stream[row] = lastStream;

      const timeAt = at;
      op = buffer[at];
      named = op === 0x6a ? view.getInt32(at + 1, true) : buffer[at + 1];
      at += op === 0x6a ? 5 : 2;
      if ((op & 0xfd) === 0x68 && (named === timeKey || this.#isKey(named, slot, 'time_us'))) {
        timeKey = named;
        if (buffer[at] !== 0x8a) break;
        high = upperHalf(view, at, buffer[at + 1]);
        if (high < 0 || high >= HIGH_LIMIT) break;
        timeUs[row] = view.getUint32(at + 2, true) + high * UINT32;
        at += 2 + buffer[at + 1];
        hasTime = true;
      } else {
        // Versions before 2.2 write no times.
        timeUs[row] = Number.NaN;
        at = timeAt;
      }

      let seen = 0;
      let textCount = 0;
      while (at < limit) {
        named = slotAt(buffer, view, at);
        if (named < 0) break;
        at += buffer[at] === 0x6a ? 5 : 2;
        if (named >= slot || memoTags[named] !== STRING) break rows;
        let field = fieldOf[memoVals[named]] | 0;
        if (field === 0) field = this.#resolve(memoVals[named]);
        // For a repeated key the last value counts; leave that to the opcode loop.
        if ((seen & (1 << field)) !== 0) break rows;
        seen |= 1 << field;
        op = buffer[at];
        named = slotAt(buffer, view, at);
        if (named >= 0) {
          // The value is in the memo.
          at += op === 0x6a ? 5 : 2;
          if (named >= slot) break rows;
          const tag = memoTags[named];
          const val = memoVals[named];
          if (field === FRAMES) {
            if (tag === NODE) stack[row] = val;
            else if (tag === LIST && val === 0) stack[row] = EMPTY_STACK;
            else break rows;
          } else if (field === POOL) {
            const known = tag === TUPLE ? fields.knownPool(val) : -1;
            if (known < 0) break rows;
            pool[row] = known;
          } else if (tag !== STRING) {
            if (field !== DEVICE) break rows;
          } else if (field >= TEXT) {
            if (!events.isPlainText(val)) {
              textFields[textCount] = field;
              texts[textCount++] = val;
            }
          } else break rows;
          continue;
        }
        // The value is written here, and perhaps memoized too.
        let tag: Tag = STRING;
        let val = 0;
        if (field === DEVICE) {
          if (op === 0x4b) at += 2;
          else if (op === 0x4a) at += 5;
          else break rows;
          continue;
        }
        if (field >= TEXT && op === 0x4e) {
          at++;
          continue;
        }
        if (field >= TEXT && (op === 0x8c || op === 0x58)) {
          // The length has one byte or four.
          if (op === 0x58 && view.getInt32(at + 1, true) > 255) break rows;
          const from = at + (op === 0x8c ? 2 : 5);
          at = from + buffer[at + 1];
          val = strings.intern(buffer, from, at);
          if (!events.isPlainText(val)) {
            textFields[textCount] = field;
            texts[textCount++] = val;
          }
        } else if (field === POOL && op === 0x4b) {
          // Two numbers of one byte, and TUPLE2.
          if (buffer[at + 2] !== 0x4b || buffer[at + 4] !== 0x86) break rows;
          tag = TUPLE;
          val = kept.pairId(buffer[at + 1], buffer[at + 3]);
          const known = fields.knownPool(val);
          if (known < 0) break rows;
          pool[row] = known;
          at += 5;
        } else if (op === 0x5d && (field === FRAMES || field >= TEXT)) {
          // CPython memoizes a list before its items, C++ after them.
          const listSlot = next;
          const put = putBytes(buffer, view, ++at, next);
          if (put < 0) break rows;
          if (put > 0) next++;
          at += put;
          tag = LIST;
          if (buffer[at] === 0x28 && buffer[at + 1] === 0x65) at += 2;
          else if (buffer[at] === 0x28) {
            if (field !== FRAMES) break rows;
            tag = NODE;
            val = this.#lists.find(buffer, view, at + 1, limit, slot);
            if (val < 0) break rows;
            at = this.#lists.end + 1;
          }
          if (field === FRAMES) stack[row] = tag === NODE ? val : EMPTY_STACK;
          if (put > 0) {
            memoTags[listSlot] = tag;
            memoVals[listSlot] = val;
            continue;
          }
        } else break rows;
        const put = putBytes(buffer, view, at, next);
        if (put < 0) break rows;
        if (put > 0) {
          memoTags[next] = tag;
          memoVals[next++] = val;
          at += put;
        }
      }
      if (at >= limit || buffer[at] !== 0x75 || (seen & (1 << OTHER)) !== 0) break;
      if (put > 0) {
        memoTags[slot] = Tag.Row;
        memoVals[slot] = base + row;
      }
      if ((seen & (1 << POOL)) === 0) pool[row] = 0;
      if ((seen & (1 << FRAMES)) === 0) stack[row] = NO_STACK;
      for (let i = 0; i < textCount; i++) {
        events.keepText(this.#textKeys[textFields[i] - FIRST_TEXT], row, texts[i]);
      }
      hasPool ||= (seen & (1 << POOL)) !== 0;
      tags[sp] = Tag.Row;
      vals[sp++] = base + row;
      row++;
      slot = next;
      pos = at + 1;
    }
    memo.length = slot;
    events.took(row, hasTime, hasPool);
    machine.sp = sp;
    return pos;
  }

  #isKey(named: number, slot: number, key: string): boolean {
    const { memo, strings } = this.#machine;
    const isText = named >= 0 && named < slot && memo.tags[named] === Tag.String;
    return isText && strings.get(memo.vals[named]) === key;
  }

  #resolve(key: number): number {
    const name = this.#machine.strings.get(key);
    const text = this.#textKeys.indexOf(name);
    const field = text < 0 ? (FIELDS.get(name) ?? OTHER) : FIRST_TEXT + text;
    this.#fieldOf[key] = field;
    return field;
  }
}

/** The memo slot that the BINGET or LONG_BINGET at `at` reads; -1 for another opcode. */
function slotAt(buffer: Uint8Array, view: DataView, at: number): number {
  if (buffer[at] === 0x6a) return view.getInt32(at + 1, true);
  return buffer[at] === 0x68 ? buffer[at + 1] : -1;
}

/**
 * Length of the opcode at `at` that writes memo slot `slot`; 0 if it is another opcode, -1 if it is unsupported here.
 */
function putBytes(buffer: Uint8Array, view: DataView, at: number, slot: number): number {
  if (buffer[at] === 0x94) return 1;
  if (buffer[at] === 0x72) return view.getInt32(at + 1, true) === slot ? 5 : -1;
  return buffer[at] === 0x71 ? -1 : 0;
}

/** The part above the low 32 bits of the LONG1 of five to eight bytes at `at`; -1 for other lengths. */
function upperHalf(view: DataView, at: number, bytes: number): number {
  if (bytes === 6) return view.getInt16(at + 6, true);
  if (bytes === 8) return view.getInt32(at + 6, true);
  if (bytes === 7) return view.getInt32(at + 5, true) >> 8;
  return bytes === 5 ? view.getInt8(at + 6) : -1;
}
