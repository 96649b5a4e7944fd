/**
 * The pickle machine's stack, memo and containers, over typed arrays. It has two drivers: PickleDecoder (bytes of a
 * pickle) and from-value.ts (a value of JSON). A dictionary that closes goes to the sink bound to its key sequence and
 * leaves one row number behind. A list of such rows becomes runs, or one number (a stack of frames).
 *
 * Containers close when something takes them. Example, an event as CPython writes it:
 *   EMPTY_DICT MEMOIZE MARK 'action' 'alloc' 'size' 512 SETITEMS
 * SETITEMS with fewer than 1,000 pairs is always the last for its dictionary (PyTorch's picklers write batches of 1,000
 * or all at once), so the row is made at once, straight from the stack. SETITEM (protocol 0) collects pairs elsewhere.
 */
import { CapacityPolicy, enlarged } from '../../base/growable.ts';
import { StringInterner } from '../../base/interners.ts';
import { corrupt, tooManyMarks } from './errors.ts';
import { Memo } from './memo.ts';
import { PendingItems } from './pending-items.ts';
import { RetainedValues } from './retained-values.ts';
import { ShapeTable } from './shape-table.ts';
import { isDict, isList, type ListRun, ROWS_PER_SINK, type Schema, Tag } from './types.ts';

/** After this many pairs or items in one SETITEMS or APPENDS, more may follow. */
const BATCH = 1000;
/** Addresses have 8 bytes, or 9 with a sign. PyTorch writes no longer integers. */
const MAX_LONG_BYTES = 64;
/** How far down the stack to look for an open container that is named again. */
const RECALL_DEPTH = 10_000;
/** One APPENDS may hold every event of a C++-pickled trace; an event takes 40 bytes or more. */
const BYTES_PER_STACK_SLOT = 4;
const CLOSED: readonly number[] = [Tag.List, Tag.Dict, Tag.Row, Tag.Node];
/** Most open marks. A snapshot nests seven levels. */
export const MAX_MARKS = 2 ** 16;

export class ValueMachine {
  readonly strings = new StringInterner();
  readonly kept = new RetainedValues(this.strings);
  readonly growth = new CapacityPolicy();
  readonly memo = new Memo(this.growth);
  tags = new Uint8Array(1 << 12);
  vals = new Float64Array(1 << 12);
  sp = 0;
  readonly marks: number[] = [];
  /** Classes and functions that the pickle names, except those that only hold data, and where the first stands. */
  readonly callables = new Set<string>();
  codeAt: number | undefined;
  /** Items added to containers that had already closed; they are ignored. */
  lateItems = 0;
  /** Containers named where they are not complete, such as inside themselves; they are read as empty there. */
  incomplete = 0;
  readonly nodeSink: number;

  /** Offset of the current buffer in the pickle, and of the current opcode in the buffer; for messages. */
  bufferAt: number | undefined;
  opcodeAt = 0;

  readonly #schema: Schema;
  readonly #shapes: ShapeTable;
  readonly #pending = new PendingItems();
  #nodeRows = new Int32Array(256);

  constructor(schema: Schema) {
    this.#schema = schema;
    this.nodeSink = schema.nodeSink;
    this.#shapes = new ShapeTable(schema, this.strings);
  }

  /** Position in the pickle of the current value, if any. */
  get byte(): number | undefined {
    return this.bufferAt === undefined ? undefined : this.bufferAt + this.opcodeAt;
  }

  push(tag: Tag, val: number): void {
    if (this.sp + 2 > this.tags.length) this.grow();
    this.tags[this.sp] = tag;
    this.vals[this.sp++] = val;
  }

  /** Doubles the stack. Callers that hold `tags` or `vals` must read them again. */
  grow(): void {
    if (!this.growth.allows(this.tags.length, BYTES_PER_STACK_SLOT)) {
      throw corrupt(`it puts ${this.sp} values on the stack in too few bytes`);
    }
    this.tags = enlarged(this.tags);
    this.vals = enlarged(this.vals);
  }

  pushBigInt(value: bigint): void {
    const asNumber = Number(value);
    if (Number.isSafeInteger(asNumber)) this.push(Tag.Int, asNumber);
    else this.push(Tag.BigInt, this.kept.bigIntId(value));
  }

  /** The integer of `count` bytes, little-endian two's complement: ff is -1, ff 00 is 255. */
  pushLong(buffer: Uint8Array, from: number, count: number): void {
    if (count > MAX_LONG_BYTES) throw corrupt(`it holds an integer of ${count} bytes`);
    let value = 0n;
    for (let i = count - 1; i >= 0; i--) value = (value << 8n) | BigInt(buffer[from + i]);
    this.pushBigInt(count === 0 ? 0n : BigInt.asIntN(count * 8, value));
  }

  node(rows: Int32Array, count: number): number {
    return this.#schema.node(rows, count);
  }

  mark(): void {
    if (this.marks.length === MAX_MARKS) throw tooManyMarks();
    this.marks.push(this.sp);
  }

  popMark(): number {
    const mark = this.marks.pop();
    if (mark === undefined || mark > this.sp) throw corrupt('it ends a list that never began');
    return mark;
  }

  pop(): void {
    if (this.sp === 0) throw corrupt('a value is taken off an empty stack');
    this.#pending.take(--this.sp);
  }

  /** Stores the top value in the memo. Open containers are updated there when they close. */
  memoize(slot: number): void {
    if (this.sp === 0) throw corrupt('a value is memoized from an empty stack');
    const top = this.sp - 1;
    const tag = this.tags[top];
    if (this.memo.get(slot) !== undefined) this.memo.isRewritten = true;
    if (!this.memo.set(slot, tag, this.vals[top]))
      throw corrupt(`memo slot ${slot} is out of range`);
    if (tag >= Tag.OpenDict) this.vals[top] = slot;
  }

  recall(slot: number): void {
    const value = this.memo.get(slot);
    if (value === undefined) throw corrupt(`memo slot ${slot} is read but was never filled`);
    if (value.tag < Tag.OpenDict) this.push(value.tag as Tag, value.val);
    else this.#recallOpen(slot);
  }

  /** A container named again is complete but not yet taken (a segment's empty `frames`), or holds itself: then empty. */
  #recallOpen(memoSlot: number): void {
    const lowest = Math.max(0, this.sp - RECALL_DEPTH);
    for (let slot = this.sp - 1; slot >= lowest; slot--) {
      if (this.tags[slot] < Tag.OpenDict || this.vals[slot] !== memoSlot) continue;
      if (this.marks.includes(slot + 1)) {
        this.incomplete++;
        this.push(isList(this.tags[slot]) ? Tag.OpenList : Tag.OpenDict, -1);
      } else {
        this.#closeSlot(slot);
        this.push(this.tags[slot] as Tag, this.vals[slot]);
      }
      return;
    }
    this.incomplete++;
    this.push(Tag.None, 0);
  }

  /** Replaces a dictionary without items. */
  adopt(slot: number, tag: Tag, val: number): void {
    if (this.tags[slot] === Tag.OpenDict) this.#settle(slot, tag, val);
    else if (this.tags[slot] === Tag.Dict && this.kept.dictEntries(this.vals[slot]).length === 0) {
      this.tags[slot] = tag;
      this.vals[slot] = val;
    }
  }

  /** POP removes the top value, or the mark if that is on top. */
  popValueOrMark(): void {
    if (this.marks.at(-1) === this.sp) this.marks.pop();
    else {
      this.closeTop();
      this.pop();
    }
  }

  popToMark(): void {
    const first = this.popMark();
    this.#closeValues(first);
    this.#dropFrom(first);
  }

  /** SETITEM: dict key value → dict. */
  setItem(): void {
    const dict = this.sp - 3;
    if (this.#isOpen(dict, Tag.OpenDict)) this.#gather(dict, dict + 1);
    else this.#leaveOut(dict + 1);
  }

  /** SETITEMS: dict MARK key value … → dict. */
  setItems(): void {
    const first = this.popMark();
    const dict = first - 1;
    const isOpen = this.#isOpen(dict, Tag.OpenDict);
    this.#checkPairs(first);
    const isLast = this.sp - first < 2 * BATCH && this.tags[dict] === Tag.OpenDict;
    if (!isOpen) this.#leaveOut(first);
    else if (isLast) this.#closeDict(dict, first);
    else this.#gather(dict, first);
  }

  /** DICT: MARK key value … → dict. */
  dictFromMark(): void {
    const first = this.popMark();
    this.#checkPairs(first);
    this.#openBelow(first, Tag.OpenDict);
  }

  /** APPEND: list value → list. */
  append(): void {
    const list = this.sp - 2;
    if (this.#isOpen(list, Tag.OpenList)) this.#gather(list, list + 1);
    else this.#leaveOut(list + 1);
  }

  /** APPENDS: list MARK value … → list. */
  appends(): void {
    const first = this.popMark();
    const list = first - 1;
    const isOpen = this.#isOpen(list, Tag.OpenList);
    const isLast = this.sp - first < BATCH && this.tags[list] === Tag.OpenList;
    if (!isOpen) this.#leaveOut(first);
    else if (isLast && this.#allNodeRows(first)) this.#closeListAsNode(list, first);
    else this.#gather(list, first);
  }

  /** LIST: MARK value … → list. */
  listFromMark(): void {
    this.#openBelow(this.popMark(), Tag.OpenList);
  }

  /** Replaces the values from stack slot `first` up with one tuple. */
  tuple(first: number): void {
    if (first < 0) throw corrupt('a tuple takes more values than there are');
    this.#closeValues(first);
    const id = this.kept.tupleId(this.tags, this.vals, first, this.sp - first);
    this.sp = first;
    this.push(Tag.Tuple, id);
  }

  /** Closes the top value when the driver knows that no more items come. */
  closeTop(): void {
    this.#closeValues(Math.max(this.sp - 1, 0));
  }

  /** STOP: closes the one remaining value, in slot 0. */
  finish(): void {
    if (this.sp !== 1) throw corrupt(`it stops with ${this.sp} values on its stack, not one`);
    this.#closeValues(0);
  }

  /** For a truncated file: fills open lists and the outermost dictionary. Drops dictionaries that may lack keys. */
  closeUnfinished(): void {
    while (this.marks.length > 0) {
      const first = this.popMark();
      const container = first - 1;
      if (container >= 0 && isList(this.tags[container])) this.#gather(container, first);
      else if (container === 0 && isDict(this.tags[0])) this.#adoptPairs(first);
      else this.#dropFrom(Math.max(container, 0));
    }
    if (this.sp > 1 && isDict(this.tags[0])) this.#adoptPairs(1);
    this.#dropFrom(Math.min(1, this.sp));
    this.#closeValues(0);
  }

  /**
   * Adds the pairs from `first` up to the outermost dictionary. A list directly above another list of the same key is
   * its item: [… 'device_traces' [] [events…]] is 'device_traces': [[events…]].
   */
  #adoptPairs(first: number): void {
    while (
      this.sp > first + 2 &&
      isList(this.tags[this.sp - 2]) &&
      this.tags[this.sp - 1] !== Tag.String
    ) {
      this.append();
    }
    if ((this.sp - first) % 2 !== 0) this.pop();
    this.#gather(0, first);
  }

  #dropFrom(slot: number): void {
    while (this.sp > slot) this.pop();
  }

  /** Items of the container at a slot gathered so far, except those on the stack. Closes nothing. */
  gathered(slot: number): readonly ListRun[] {
    return this.#pending.at(slot);
  }

  #checkPairs(first: number): void {
    if ((this.sp - first) % 2 !== 0) throw corrupt('a dictionary has a key without a value');
  }

  /** @throws LoadError if the slot holds no container at all */
  #isOpen(slot: number, open: typeof Tag.OpenDict | typeof Tag.OpenList): boolean {
    const tag = slot < 0 ? Tag.None : this.tags[slot];
    const isContainer = tag >= Tag.OpenDict || CLOSED.includes(tag);
    if (isContainer) return tag === open || tag === open + 2;
    throw corrupt('items are added to a value that cannot hold any');
  }

  /** Pickles may add to a container that has closed, because it was used before; PyTorch's never do. */
  #leaveOut(first: number): void {
    this.lateItems += this.sp - first;
    this.#dropFrom(first);
  }

  /** Opens a container below the values from `first` up and adds them to it. */
  #openBelow(first: number, tag: typeof Tag.OpenDict | typeof Tag.OpenList): void {
    this.#closeValues(first);
    this.push(Tag.None, 0);
    this.tags.copyWithin(first + 1, first, this.sp - 1);
    this.vals.copyWithin(first + 1, first, this.sp - 1);
    this.tags[first] = tag;
    this.vals[first] = -1;
    if (this.sp > first + 1) this.#gather(first, first + 1);
  }

  /** Adds the values from `first` up to the pending items of the open container at `slot`, as runs. */
  #gather(slot: number, first: number): void {
    this.#closeValues(first);
    const { tags, vals, sp } = this;
    if (tags[slot] < Tag.FilledDict) {
      this.#pending.open(slot);
      tags[slot] += Tag.FilledDict - Tag.OpenDict;
    }
    this.#pending.add(slot, isList(tags[slot]), tags.subarray(first, sp), vals.subarray(first, sp));
    this.sp = first;
  }

  /** Closes every open container from slot `first` up. */
  #closeValues(first: number): void {
    for (let i = first; i < this.sp; i++) {
      if (this.tags[i] >= Tag.OpenDict) this.#closeSlot(i);
    }
  }

  #closeSlot(slot: number): void {
    const tag = this.tags[slot];
    const runs = tag >= Tag.FilledDict ? this.#pending.take(slot) : [];
    if (isList(tag)) this.#closeList(slot, runs);
    else {
      const top = this.sp;
      for (const run of runs) this.push(run.tag, run.first);
      this.#closeDict(slot, top);
    }
  }

  /** The hot path: one event's dictionary, with its pairs from `first` up still on the stack. */
  #closeDict(slot: number, first: number): void {
    this.#closeValues(first);
    const shape = this.#shapes.find(this.tags, this.vals, first, this.sp);
    if (shape?.sink === undefined) {
      this.#settle(slot, Tag.Dict, this.kept.dictId(this.tags, this.vals, first, this.sp));
    } else {
      const row = shape.sink.take(this, first + 1);
      this.#settle(slot, Tag.Row, shape.sink.sink * ROWS_PER_SINK + row);
    }
    this.sp = first;
  }

  #closeList(slot: number, runs: readonly ListRun[]): void {
    if (runs.length > 0 && runs.every((run) => run.tag === Tag.Row && this.#isNodeRow(run.first))) {
      const top = this.sp;
      for (const run of runs) {
        for (let i = 0; i < run.count; i++) this.push(Tag.Row, run.first + i);
      }
      this.#closeListAsNode(slot, top);
    } else {
      this.#settle(slot, Tag.List, this.kept.listId(runs));
    }
  }

  #closeListAsNode(slot: number, first: number): void {
    const count = this.sp - first;
    if (count > this.#nodeRows.length) this.#nodeRows = new Int32Array(count * 2);
    for (let i = 0; i < count; i++) this.#nodeRows[i] = this.vals[first + i] % ROWS_PER_SINK;
    this.sp = first;
    this.#settle(slot, Tag.Node, this.#schema.node(this.#nodeRows, count));
  }

  /** Replaces an open container with its final value, on the stack and in the memo. */
  #settle(slot: number, tag: Tag, val: number): void {
    const memoSlot = this.vals[slot];
    if (memoSlot >= 0) this.memo.set(memoSlot, tag, val);
    this.tags[slot] = tag;
    this.vals[slot] = val;
  }

  #isNodeRow(val: number): boolean {
    return Math.floor(val / ROWS_PER_SINK) === this.nodeSink;
  }

  #allNodeRows(first: number): boolean {
    for (let i = first; i < this.sp; i++) {
      if (this.tags[i] === Tag.FilledDict) this.#closeSlot(i);
      if (this.tags[i] !== Tag.Row || !this.#isNodeRow(this.vals[i])) return false;
    }
    return this.sp > first;
  }
}
