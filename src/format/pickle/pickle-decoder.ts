/**
 * Streaming reader of pickles, protocols 0 to 5, into a ValueMachine. Bytes come in chunks of any size; an incomplete
 * opcode waits for the next chunk. Nothing is run; see objects.ts for opcodes that name or call Python objects.
 *
 * Example: [80 04] [5d] [2e] in three chunks is PROTO 4, EMPTY_LIST, STOP: an empty list.
 */
import { concatBytes } from '../../base/bytes.ts';
import { LoadError } from '../../base/load-error.ts';
import { tooManyMarks, truncatedPickle } from './errors.ts';
import { HEADER_BYTES, readRareOpcode } from './opcodes.ts';
import { Tag } from './types.ts';
import { MAX_MARKS, type ValueMachine } from './value-machine.ts';

const UINT32 = 2 ** 32;
const EMPTY_LIST = 0x5d;
const EMPTY_DICT = 0x7d;
/** Stands for the missing tag of a memo slot past the end. */
const UNUSED = 255;
/** Bytes between updates of the progress that decides how far a full column grows. */
const STEP_BYTES = 1 << 18;
/** Bytes of the next chunk that are first joined to an incomplete opcode. */
const JOIN_BYTES = 1 << 16;

export interface FastPath {
  /**
   * Reads the rows that begin in [start, stop), as far as it can.
   * @returns where the first row begins that is left to the opcode loop
   */
  read(buffer: Uint8Array, view: DataView, start: number, stop: number): number;
}

export class PickleDecoder {
  readonly #machine: ValueMachine;
  fastPath: FastPath | undefined;
  #rest = new Uint8Array(0);
  /** Bytes of the pickle before the current buffer. */
  #base = 0;
  #stopped = false;
  #protocol: number | undefined;
  #firstByte: number | undefined;

  /** The pickle's size if known, or a good guess: columns then grow to their final size at once. */
  totalBytes: number | undefined;

  constructor(machine: ValueMachine) {
    this.#machine = machine;
  }

  /** 0 to 5. Protocols 0 and 1 do not say: 0 opens a container with a mark (`(dp0`), 1 with EMPTY_DICT (`}q\0`). */
  get protocol(): number {
    return (
      this.#protocol ?? (this.#firstByte === EMPTY_DICT || this.#firstByte === EMPTY_LIST ? 1 : 0)
    );
  }

  /** STOP was read. Anything after it is ignored (C++ pickles and the HTML wrapper pad with NULs). */
  get stopped(): boolean {
    return this.#stopped;
  }

  /** The offset after the last complete opcode. */
  get byte(): number {
    return this.#base;
  }

  /** @throws LoadError for a broken pickle */
  push(bytes: Uint8Array): void {
    // Convert Node's Buffers: with two kinds of arrays the hot loops run at half the speed.
    const chunk = new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length);
    this.#firstByte ??= chunk[0];
    let start = 0;
    if (this.#rest.length > 0 && !this.#stopped) {
      const rest = this.#rest.length;
      const joined = concatBytes([this.#rest, chunk.subarray(0, JOIN_BYTES)]);
      const used = this.#run(joined, 0);
      if (used < rest) {
        this.#rest = concatBytes([joined.subarray(used), chunk.subarray(JOIN_BYTES)]);
        if (chunk.length > JOIN_BYTES) this.#rest = this.#rest.slice(this.#run(this.#rest, 0));
        return;
      }
      start = used - rest;
    }
    if (this.#stopped) return;
    this.#rest = chunk.slice(this.#run(chunk, start));
  }

  /** Marks the end of the bytes. @throws LoadError 'truncated' if STOP was not read */
  end(): void {
    if (this.#stopped) return;
    throw truncatedPickle(this.#base + this.#rest.length);
  }

  /** Runs the complete opcodes of buffer[from …] and returns where the first incomplete one begins. */
  #run(buffer: Uint8Array, from: number): number {
    const origin = this.#base - from;
    const at = { pos: from };
    this.#machine.bufferAt = origin;
    for (let stop = from; at.pos >= stop && stop < buffer.length && !this.#stopped; ) {
      stop = Math.min(stop + STEP_BYTES, buffer.length);
      try {
        this.#loop(buffer, at, stop);
      } catch (error) {
        throw located(error, origin + at.pos);
      }
      this.#base = origin + at.pos;
      this.#machine.growth.progress(this.#base, this.totalBytes);
    }
    return at.pos;
  }

  // One long switch, because the stack's arrays must stay in local variables. Its cases are literals, because only
  // those become a jump table (named ones took half as long again).
  #loop(buffer: Uint8Array, at: { pos: number }, stop: number): void {
    const machine = this.#machine;
    const { memo, marks, strings } = machine;
    const view = new DataView(buffer.buffer, buffer.byteOffset, buffer.byteLength);
    const headerBytes = HEADER_BYTES;
    const { fastPath } = this;
    const end = buffer.length;
    let { tags, vals, sp } = machine;
    let { tags: memoTags, vals: memoVals } = memo;
    let pos = at.pos;
    while (pos < stop) {
      const op = buffer[pos];
      const next = pos + headerBytes[op];
      if (next > end) break;
      if (sp + 2 > tags.length) {
        at.pos = pos;
        machine.grow();
        ({ tags, vals } = machine);
      }
      switch (op) {
        case 0x68: // BINGET
        case 0x6a: {
          // LONG_BINGET
          const slot = op === 0x68 ? buffer[pos + 1] : view.getUint32(pos + 1, true);
          const tag = slot < memo.length ? memoTags[slot] : UNUSED;
          if (tag < Tag.OpenDict) {
            tags[sp] = tag;
            vals[sp++] = memoVals[slot];
          } else {
            at.pos = pos;
            machine.sp = sp;
            machine.recall(slot);
            sp = machine.sp;
          }
          break;
        }
        case 0x94: {
          // MEMOIZE
          const slot = memo.length;
          const tag = sp > 0 ? tags[sp - 1] : Tag.Float;
          if (slot < memoTags.length && tag !== Tag.Int && tag !== Tag.Float) {
            memoTags[slot] = tag;
            memoVals[slot] = vals[sp - 1];
            memo.length = slot + 1;
            if (tag >= Tag.OpenDict) vals[sp - 1] = slot;
          } else {
            at.pos = pos;
            machine.sp = sp;
            machine.memoize(slot);
            ({ tags: memoTags, vals: memoVals } = memo);
          }
          break;
        }
        case 0x8a: {
          // LONG1
          const count = buffer[pos + 1];
          if (next + count > end) {
            at.pos = pos;
            machine.sp = sp;
            return;
          }
          if (count === 6 && buffer[next + 5] < 0x80) {
            tags[sp] = Tag.Int;
            vals[sp++] = view.getUint32(next, true) + view.getUint16(next + 4, true) * UINT32;
          } else if (count === 7 && buffer[next + 6] < 0x20) {
            tags[sp] = Tag.Int;
            vals[sp++] =
              view.getUint32(next, true) +
              (view.getUint16(next + 4, true) + buffer[next + 6] * 65_536) * UINT32;
          } else {
            machine.sp = sp;
            machine.pushLong(buffer, next, count);
            sp = machine.sp;
          }
          pos = next + count;
          continue;
        }
        case 0x4b: // BININT1
          tags[sp] = Tag.Int;
          vals[sp++] = buffer[pos + 1];
          break;
        case 0x4d: // BININT2
          tags[sp] = Tag.Int;
          vals[sp++] = view.getUint16(pos + 1, true);
          break;
        case 0x4a: // BININT
          tags[sp] = Tag.Int;
          vals[sp++] = view.getInt32(pos + 1, true);
          break;
        case 0x7d: {
          // EMPTY_DICT
          if (fastPath !== undefined) {
            machine.sp = sp;
            const after = fastPath.read(buffer, view, pos, stop);
            sp = machine.sp;
            if (after > pos) {
              pos = after;
              continue;
            }
          }
          tags[sp] = Tag.OpenDict;
          vals[sp++] = -1;
          break;
        }
        case 0x5d: // EMPTY_LIST
          tags[sp] = Tag.OpenList;
          vals[sp++] = -1;
          break;
        case 0x28: // MARK
          if (marks.length === MAX_MARKS) {
            at.pos = pos;
            throw tooManyMarks();
          }
          marks.push(sp);
          break;
        case 0x75: // SETITEMS
          at.pos = pos;
          machine.opcodeAt = pos;
          machine.sp = sp;
          machine.setItems();
          ({ tags, vals, sp } = machine);
          break;
        case 0x65: // APPENDS
          at.pos = pos;
          machine.opcodeAt = pos;
          machine.sp = sp;
          machine.appends();
          ({ tags, vals, sp } = machine);
          break;
        case 0x8c: {
          // SHORT_BINUNICODE
          const stringEnd = next + buffer[pos + 1];
          if (stringEnd > end) {
            at.pos = pos;
            machine.sp = sp;
            return;
          }
          tags[sp] = Tag.String;
          vals[sp++] = strings.intern(buffer, next, stringEnd);
          pos = stringEnd;
          continue;
        }
        case 0x4e: // NONE
          tags[sp] = Tag.None;
          vals[sp++] = 0;
          break;
        case 0x88: // NEWTRUE
        case 0x89: // NEWFALSE
          tags[sp] = Tag.Bool;
          vals[sp++] = op === 0x88 ? 1 : 0;
          break;
        case 0x47: // BINFLOAT
          tags[sp] = Tag.Float;
          vals[sp++] = view.getFloat64(pos + 1);
          break;
        case 0x95: // FRAME
          break;
        default: {
          at.pos = pos;
          machine.opcodeAt = pos;
          machine.sp = sp;
          const after = this.#rareOpcode(op, buffer, pos, next);
          ({ tags, vals, sp } = machine);
          ({ tags: memoTags, vals: memoVals } = memo);
          if (after < 0) return;
          if (this.#stopped) {
            at.pos = after;
            return;
          }
          pos = after;
          continue;
        }
      }
      pos = next;
    }
    at.pos = pos;
    machine.sp = sp;
  }

  /** Handles opcodes outside the loop. Returns where the next opcode begins, or -1 if bytes are missing. */
  #rareOpcode(op: number, buffer: Uint8Array, pos: number, next: number): number {
    switch (op) {
      case 0x2e: // STOP
        this.#machine.finish();
        this.#stopped = true;
        return next;
      case 0x80: // PROTO
        if (buffer[pos + 1] > 5) throw unknownProtocol(buffer[pos + 1]);
        this.#protocol = buffer[pos + 1];
        return next;
      default:
        return readRareOpcode(op, buffer, pos, this.#machine);
    }
  }
}

function unknownProtocol(protocol: number): LoadError {
  return new LoadError({
    code: 'unknown-protocol',
    message: `This pickle claims protocol ${protocol}, but Python only writes 0 to 5.`,
    advice: 'The file is damaged, or is not a pickle.',
  });
}

function located(error: unknown, byte: number): unknown {
  if (error instanceof LoadError && error.failure.byte === undefined) {
    return new LoadError({ ...error.failure, byte });
  }
  return error;
}
