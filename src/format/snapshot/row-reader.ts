/** Reads one event from the bytes of a pickle, its keys in any order, and learns from it how rows are written. */
import { NodeLists } from '../pickle/node-lists.ts';
import { HEADER_BYTES } from '../pickle/opcodes.ts';
import { ROWS_PER_SINK, Tag } from '../pickle/types.ts';
import type { ValueMachine } from '../pickle/value-machine.ts';
import type { EventSink } from './event-sink.ts';
import { type FieldReader, Sink } from './field-reader.ts';
import { RowTemplate } from './row-template.ts';
import { EMPTY_STACK, NO_STACK, TraceAction } from './tables.ts';

/** Keys by their number. The device is redundant: the trace's place in the file gives it. */
const FIELDS = ['', 'action', 'addr', 'size', 'stream', 'time_us', 'frames', 'pool_id', 'device'];
const [, ACTION, ADDRESS, SIZE, STREAM, TIME, FRAMES, POOL] = FIELDS.keys();
/** From here on: texts that most events lack. */
const TEXT = FIELDS.length;
/** Rows with any other key are left to the opcode loop. */
const OTHER = 31;

const REQUIRED = (1 << ACTION) | (1 << ADDRESS) | (1 << SIZE) | (1 << STREAM);

export const UINT32 = 2 ** 32;
/** Numbers from 2^52 on may be addresses that are not their own key. This is the upper half of 2^52. */
export const HIGH_LIMIT = 0x100000;
/** Returned for a value that only the opcode loop reads. */
export const UNREAD = -2;
/** Most memo slots of a row: one for itself and one per key. */
export const MAX_SLOTS = 32;

/** After learning this many rows without a match, learn only one row in this many. */
const LEARNING_BACKOFF = 16;

export class RowReader {
  readonly template = new RowTemplate();
  /** Where the last value read ends, and the next free memo slot. */
  at = 0;
  next = 0;
  /** Rows offered for learning since the last one that matched the template. */
  learnings = 0;

  readonly #machine: ValueMachine;
  readonly #events: EventSink;
  readonly #fields: FieldReader;
  readonly #lists: NodeLists;
  /** By string row; 0 means not looked up yet. */
  readonly #fieldOf = new Uint8Array(1 << 16);
  readonly #textKeys: readonly string[];
  /** Where the current row begins, and then where each value up to FRAMES begins and ends. */
  readonly #edges = new Int32Array(2 * FRAMES + 1);
  /** The current row names the memo slots that it fills, so no other row has the same bytes. */
  #namesSlot = false;

  constructor(machine: ValueMachine, events: EventSink, fields: FieldReader) {
    this.#machine = machine;
    this.#events = events;
    this.#fields = fields;
    this.#lists = new NodeLists(machine);
    this.#textKeys = events.textKeys.slice(0, OTHER - TEXT);
  }

  /**
   * Reads one row with its keys in any order, and learns how it is written. Returns `start` if it cannot read the
   * row.
   */
  read(buffer: Uint8Array, view: DataView, start: number, limit: number): number {
    const machine = this.#machine;
    const events = this.#events;
    const edges = this.#edges.fill(-1);
    const { memo } = machine;
    const { columns, length: row } = events;
    const slot = memo.length;
    if (row >= columns.action.length || machine.sp + 2 > machine.tags.length) return start;
    if (buffer[start] !== 0x7d || slot + MAX_SLOTS > memo.tags.length) return start;
    this.at = start + 1;
    this.next = slot;
    this.#namesSlot = false;
    if (!this.#put(buffer, view, Tag.Row, Sink.Event * ROWS_PER_SINK + row)) return start;
    const isMemoized = this.next > slot;
    let at = this.at;
    if (buffer[at++] !== 0x28) return start;
    edges[0] = start;
    const texts: [key: string, text: number][] = [];
    let tailEnd = this.next;
    let isFixed = false;
    let seen = 0;
    while (at < limit && buffer[at] !== 0x75) {
      const key = this.#string(buffer, view, at, slot);
      if (key < 0) return start;
      const field = this.#fieldOf[key] || this.#resolve(key);
      // For a repeated key the last value counts; leave that to the opcode loop.
      if (field === OTHER || (seen & (1 << field)) !== 0) return start;
      seen |= 1 << field;
      at = this.at;
      if (field <= FRAMES) edges[2 * field - 1] = at;
      let value = 0;
      if (field === ACTION) {
        value = events.actionOfString[this.#string(buffer, view, at, slot)];
        if (!(value < TraceAction.Unknown)) return start;
        columns.action[row] = value;
      } else if (field === FRAMES) {
        tailEnd = this.next;
        isFixed = !this.#namesSlot;
        value = this.frames(buffer, view, at, slot, tailEnd, limit);
        columns.stack[row] = value;
      } else if (field === POOL) {
        value = this.#pool(buffer, view, at, slot);
        columns.pool[row] = value;
      } else if (field >= TEXT) {
        value = this.#text(buffer, view, at, slot);
        if (value > 0 && !events.isPlainText(value))
          texts.push([this.#textKeys[field - TEXT], value]);
      } else {
        value = this.number(buffer, view, at);
        if (field === STREAM && value >= 0) value = this.#fields.knownStream(value);
        if (field === STREAM) columns.stream[row] = value;
        else if (field === ADDRESS) columns.address[row] = value;
        else if (field === SIZE) columns.sizeBytes[row] = value;
        else if (field === TIME) columns.timeUs[row] = value;
      }
      if (value < 0) return start;
      at = this.at;
      if (field <= FRAMES) edges[2 * field] = at;
    }
    if (at >= limit || (seen & REQUIRED) !== REQUIRED) return start;
    const hasTime = (seen & (1 << TIME)) !== 0;
    const hasPool = (seen & (1 << POOL)) !== 0;
    if (!hasTime) columns.timeUs[row] = Number.NaN;
    if (!hasPool) columns.pool[row] = 0;
    if ((seen & (1 << FRAMES)) === 0) columns.stack[row] = NO_STACK;
    for (const [key, text] of texts) events.keepText(key, row, text);
    machine.push(Tag.Row, Sink.Event * ROWS_PER_SINK + row);
    events.took(row + 1, hasTime, hasPool);
    memo.length = this.next;
    // Only rows that end with their frames can match the template.
    const isAlike = isFixed && edges[2 * FRAMES] === at;
    if (
      isAlike &&
      (++this.learnings <= LEARNING_BACKOFF || this.learnings % LEARNING_BACKOFF === 0)
    ) {
      const memoFrom = slot + Number(isMemoized);
      this.template.learn(view, edges, isMemoized, () => ({
        memoTags: memo.tags.slice(memoFrom, tailEnd),
        memoVals: memo.vals.slice(memoFrom, tailEnd),
        pool: columns.pool[row],
        hasPool,
        texts,
      }));
    }
    return at + 1;
  }

  /** The number from 0 to 2^52 at `at`, or UNREAD. */
  number(buffer: Uint8Array, view: DataView, at: number): number {
    const op = buffer[at];
    if (op === 0x8a) {
      const digits = buffer[at + 1];
      this.at = at + 2 + digits;
      if (digits < 5 || digits > 8) return UNREAD;
      const high = view.getInt32(this.at - 4, true) >> (64 - 8 * digits);
      return high < 0 || high >= HIGH_LIMIT ? UNREAD : view.getUint32(at + 2, true) + high * UINT32;
    }
    this.at = at + HEADER_BYTES[op];
    if (op === 0x4b) return buffer[at + 1];
    if (op === 0x4d) return view.getUint16(at + 1, true);
    return op === 0x4a ? Math.max(view.getInt32(at + 1, true), UNREAD) : UNREAD;
  }

  /** The string that the BINGET or LONG_BINGET at `at` reads, or UNREAD. */
  #string(buffer: Uint8Array, view: DataView, at: number, slot: number): number {
    return this.#recall(buffer, view, at, slot, Tag.String);
  }

  /** The value with this tag that the BINGET or LONG_BINGET at `at` reads, or UNREAD. */
  #recall(buffer: Uint8Array, view: DataView, at: number, slot: number, tag: Tag): number {
    const { tags, vals } = this.#machine.memo;
    const named = slotAt(buffer, view, at);
    if (named < 0 || named >= slot || tags[named] !== tag) return UNREAD;
    this.at = at + HEADER_BYTES[buffer[at]];
    return vals[named];
  }

  /** The row of a text, or 0 for none. */
  #text(buffer: Uint8Array, view: DataView, at: number, slot: number): number {
    const op = buffer[at];
    if (op === 0x8c || op === 0x58) {
      // The length takes one byte or four.
      const from = at + HEADER_BYTES[op];
      if (op === 0x58 && view.getInt32(at + 1, true) > 255) return UNREAD;
      this.at = from + buffer[at + 1];
      const text = this.#machine.strings.intern(buffer, from, this.at);
      return this.#put(buffer, view, Tag.String, text) ? text : UNREAD;
    }
    this.at = at + 1;
    return op === 0x4e ? 0 : this.#string(buffer, view, at, slot);
  }

  #pool(buffer: Uint8Array, view: DataView, at: number, slot: number): number {
    let tuple = this.#recall(buffer, view, at, slot, Tag.Tuple);
    // Two numbers of one byte each, and TUPLE2.
    if (buffer[at] === 0x4b && buffer[at + 2] === 0x4b && buffer[at + 4] === 0x86) {
      tuple = this.#machine.kept.pairId(buffer[at + 1], buffer[at + 3]);
      this.at = at + 5;
      if (!this.#put(buffer, view, Tag.Tuple, tuple)) return UNREAD;
    }
    return tuple < 0 ? UNREAD : this.#fields.knownPool(tuple);
  }

  /** The stack of the frames at `at`, or UNREAD. */
  frames(
    buffer: Uint8Array,
    view: DataView,
    at: number,
    slot: number,
    next: number,
    limit: number,
  ): number {
    this.next = next;
    if (buffer[at] !== 0x5d) {
      const node = this.#recall(buffer, view, at, slot, Tag.Node);
      if (node >= 0) return node;
      return this.#recall(buffer, view, at, slot, Tag.List) === 0 ? EMPTY_STACK : UNREAD;
    }
    this.at = at + 1;
    if (!this.#put(buffer, view, Tag.List, 0)) return UNREAD;
    let tag: Tag = Tag.List;
    let list = 0;
    if (buffer[this.at] === 0x28 && buffer[this.at + 1] === 0x65) this.at += 2;
    else if (buffer[this.at] === 0x28) {
      tag = Tag.Node;
      list = this.#lists.find(buffer, view, this.at + 1, limit, slot);
      if (list < 0) return UNREAD;
      this.at = this.#lists.end + 1;
    }
    const { memo } = this.#machine;
    if (this.next > next) {
      memo.tags[next] = tag;
      memo.vals[next] = list;
    } else if (!this.#put(buffer, view, tag, list)) return UNREAD;
    return tag === Tag.Node ? list : EMPTY_STACK;
  }

  /** If the opcode at `at` fills the next memo slot, does so. Returns false if it fills another one. */
  #put(buffer: Uint8Array, view: DataView, tag: Tag, val: number): boolean {
    const op = buffer[this.at];
    if (op !== 0x94 && op !== 0x71 && op !== 0x72) return true;
    const { memo } = this.#machine;
    if (op === 0x71 && buffer[this.at + 1] !== this.next) return false;
    if (op === 0x72 && view.getInt32(this.at + 1, true) !== this.next) return false;
    this.#namesSlot ||= op !== 0x94;
    memo.tags[this.next] = tag;
    memo.vals[this.next++] = val;
    this.at += HEADER_BYTES[op];
    return true;
  }

  #resolve(key: number): number {
    const name = this.#machine.strings.get(key);
    const text = this.#textKeys.indexOf(name);
    const known = FIELDS.indexOf(name);
    const field = text >= 0 ? TEXT + text : known > 0 ? known : OTHER;
    this.#fieldOf[key] = field;
    return field;
  }
}

/** The memo slot that the BINGET or LONG_BINGET at `at` reads; -1 for another opcode. */
function slotAt(buffer: Uint8Array, view: DataView, at: number): number {
  if (buffer[at] === 0x6a) return view.getInt32(at + 1, true);
  return buffer[at] === 0x68 ? buffer[at + 1] : -1;
}
