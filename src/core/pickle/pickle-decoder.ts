/**
 * Streaming reader of pickles, protocols 0 to 5, into a ValueMachine. Bytes come in chunks of any
 * size; an opcode whose bytes are not all there waits for the next chunk. Runs nothing: opcodes that
 * name or call Python objects make it decline.
 *
 * Example: [80 04] [5d] [2e] in three chunks is PROTO 4, EMPTY_LIST, STOP: an empty list.
 */
import { LoadError } from '../base/load-error.ts';
import { describeCode, isCodeOpcode } from './code-opcodes.ts';
import { corrupt } from './errors.ts';
import { HEADER_BYTES, Op } from './opcodes.ts';
import { readTextOpcode } from './text-opcodes.ts';
import { DeclinedError, Tag } from './types.ts';
import type { ValueMachine } from './value-machine.ts';

const UINT32 = 2 ** 32;
/** No string of a snapshot comes near; a longer one is announced by a damaged or hostile file. */
const MAX_STRING_BYTES = 64 * 2 ** 20;
/** Bytes of the next chunk that are joined to a rest, at first. */
const JOIN_BYTES = 1 << 16;

export class PickleDecoder {
  readonly #machine: ValueMachine;
  #rest = new Uint8Array(0);
  /** Bytes before the buffer in hand. */
  #base = 0;
  #stopped = false;
  #protocol: number | undefined;
  readonly #double = new DataView(new ArrayBuffer(8));

  constructor(machine: ValueMachine) {
    this.#machine = machine;
  }

  /** 0 to 5; 0 as long as no PROTO opcode was met (protocols 0 and 1 have none). */
  get protocol(): number {
    return this.#protocol ?? 0;
  }

  /** STOP was met; what follows is ignored (C++ pickles and the HTML wrapper pad with NULs). */
  get stopped(): boolean {
    return this.#stopped;
  }

  /** Offset up to which whole opcodes were read. */
  get byte(): number {
    return this.#base;
  }

  /** Throws LoadError for a broken pickle and DeclinedError for a legal one that it does not read. */
  push(chunk: Uint8Array): void {
    let start = 0;
    if (this.#rest.length > 0 && !this.#stopped) {
      const rest = this.#rest.length;
      const joined = concat(this.#rest, chunk.subarray(0, JOIN_BYTES));
      const used = this.#run(joined, 0);
      if (used < rest) {
        this.#rest = concat(joined.subarray(used), chunk.subarray(JOIN_BYTES));
        if (chunk.length > JOIN_BYTES) this.#rest = this.#rest.slice(this.#run(this.#rest, 0));
        return;
      }
      start = used - rest;
    }
    if (this.#stopped) return;
    this.#rest = chunk.slice(this.#run(chunk, start));
  }

  /** Says that no bytes follow. Throws LoadError 'truncated' when the pickle has not stopped. */
  end(): void {
    if (this.#stopped) return;
    const bytes = this.#base + this.#rest.length;
    throw new LoadError({
      code: 'truncated',
      message: `The file ends in the middle of the pickle, after ${bytes} bytes.`,
      advice: 'It was cut short while it was written or copied: copy it again, or dump it again.',
      byte: bytes,
    });
  }

  /** Runs the whole opcodes of buffer[from …] and returns where the first incomplete one begins. */
  #run(buffer: Uint8Array, from: number): number {
    const at = { pos: from };
    try {
      this.#loop(buffer, at);
    } catch (error) {
      throw located(error, this.#base + at.pos - from);
    }
    this.#base += at.pos - from;
    return at.pos;
  }

  // One switch over the opcodes: long, because the stack's arrays must stay in local variables.
  #loop(buffer: Uint8Array, at: { pos: number }): void {
    const machine = this.#machine;
    const memo = machine.memo;
    const end = buffer.length;
    let { tags, vals, sp } = machine;
    let pos = at.pos;
    while (pos < end) {
      const op = buffer[pos];
      const next = pos + HEADER_BYTES[op];
      if (next > end) break;
      if (sp + 2 > tags.length) {
        machine.grow();
        ({ tags, vals } = machine);
      }
      switch (op) {
        case Op.BinGet:
        case Op.LongBinGet: {
          const slot = op === Op.BinGet ? buffer[pos + 1] : uint32(buffer, pos + 1);
          const tag = slot < memo.length ? memo.tags[slot] : 255;
          if (tag < Tag.OpenDict) {
            tags[sp] = tag;
            vals[sp++] = memo.vals[slot];
          } else {
            at.pos = pos;
            machine.sp = sp;
            machine.recall(slot);
            sp = machine.sp;
          }
          break;
        }
        case Op.Memoize: {
          const slot = memo.length;
          const tag = sp > 0 ? tags[sp - 1] : Tag.Float;
          if (slot < memo.tags.length && tag !== Tag.Int && tag !== Tag.Float) {
            memo.tags[slot] = tag;
            memo.vals[slot] = vals[sp - 1];
            memo.length = slot + 1;
            if (tag >= Tag.OpenDict) vals[sp - 1] = slot;
          } else {
            at.pos = pos;
            machine.sp = sp;
            machine.memoize(slot);
          }
          break;
        }
        case Op.BinInt1:
          tags[sp] = Tag.Int;
          vals[sp++] = buffer[pos + 1];
          break;
        case Op.BinInt2:
          tags[sp] = Tag.Int;
          vals[sp++] = buffer[pos + 1] | (buffer[pos + 2] << 8);
          break;
        case Op.BinInt:
          tags[sp] = Tag.Int;
          vals[sp++] = uint32(buffer, pos + 1) | 0;
          break;
        case Op.Long1: {
          const count = buffer[pos + 1];
          if (next + count > end) {
            at.pos = pos;
            machine.sp = sp;
            return;
          }
          if (count > 4 && count <= 8 && isSmallLong(buffer, next, count)) {
            tags[sp] = Tag.Int;
            vals[sp++] = smallLong(buffer, next, count);
          } else {
            machine.sp = sp;
            machine.pushBigInt(bigLong(buffer, next, count));
            sp = machine.sp;
          }
          pos = next + count;
          continue;
        }
        case Op.EmptyDict:
          tags[sp] = Tag.OpenDict;
          vals[sp++] = -1;
          break;
        case Op.EmptyList:
          tags[sp] = Tag.OpenList;
          vals[sp++] = -1;
          break;
        case Op.Mark:
          machine.marks.push(sp);
          break;
        case Op.SetItems:
          at.pos = pos;
          machine.sp = sp;
          machine.setItems();
          ({ tags, vals, sp } = machine);
          break;
        case Op.ShortBinUnicode: {
          const stop = next + buffer[pos + 1];
          if (stop > end) {
            at.pos = pos;
            machine.sp = sp;
            return;
          }
          tags[sp] = Tag.String;
          vals[sp++] = machine.strings.intern(buffer, next, stop);
          pos = stop;
          continue;
        }
        case Op.None:
          tags[sp] = Tag.None;
          vals[sp++] = 0;
          break;
        case Op.NewTrue:
        case Op.NewFalse:
          tags[sp] = Tag.Bool;
          vals[sp++] = op === Op.NewTrue ? 1 : 0;
          break;
        case Op.BinFloat:
          tags[sp] = Tag.Float;
          vals[sp++] = this.#float64(buffer, pos + 1);
          break;
        case Op.Frame:
          break;
        default: {
          at.pos = pos;
          machine.sp = sp;
          const stop = this.#rareOpcode(op, buffer, pos, next);
          ({ tags, vals, sp } = machine);
          if (stop < 0) return;
          if (this.#stopped) {
            at.pos = stop;
            return;
          }
          pos = stop;
          continue;
        }
      }
      pos = next;
    }
    at.pos = pos;
    machine.sp = sp;
  }

  /** Opcodes that a snapshot has seldom or never. Returns where the next begins, -1 for "not all here". */
  #rareOpcode(op: number, buffer: Uint8Array, pos: number, next: number): number {
    const machine = this.#machine;
    switch (op) {
      case Op.Stop:
        machine.finish();
        this.#stopped = true;
        return next;
      case Op.Proto:
        if (buffer[pos + 1] > 5) throw unknownProtocol(buffer[pos + 1]);
        this.#protocol = buffer[pos + 1];
        return next;
      case Op.Appends:
        machine.appends();
        return next;
      case Op.Append:
        machine.append();
        return next;
      case Op.SetItem:
        machine.setItem();
        return next;
      case Op.BinPut:
        machine.memoize(buffer[pos + 1]);
        return next;
      case Op.LongBinPut:
        machine.memoize(uint32(buffer, pos + 1));
        return next;
      case Op.EmptyTuple:
        machine.tuple(machine.sp);
        return next;
      case Op.Tuple1:
      case Op.Tuple2:
      case Op.Tuple3:
        machine.tuple(machine.sp - (op - Op.Tuple1 + 1));
        return next;
      case Op.Tuple:
        machine.tuple(machine.popMark());
        return next;
      case Op.List:
        machine.listFromMark();
        return next;
      case Op.Dict:
        machine.dictFromMark();
        return next;
      case Op.Pop:
        machine.popValueOrMark();
        return next;
      case Op.PopMark:
        machine.popToMark();
        return next;
      default:
        return this.#longOpcode(op, buffer, pos, next);
    }
  }

  /** Opcodes followed by as many bytes as they say. */
  #longOpcode(op: number, buffer: Uint8Array, pos: number, next: number): number {
    switch (op) {
      case Op.BinUnicode:
      case Op.BinString:
      case Op.BinBytes:
      case Op.Long4:
        return this.#counted(op, buffer, next, uint32(buffer, pos + 1));
      case Op.BinUnicode8:
      case Op.BinBytes8:
      case Op.ByteArray8: {
        const count = uint32(buffer, pos + 1) + uint32(buffer, pos + 5) * UINT32;
        return this.#counted(op, buffer, next, count);
      }
      case Op.ShortBinString:
      case Op.ShortBinBytes:
        return this.#counted(op, buffer, next, buffer[pos + 1]);
      default:
        return this.#otherOpcode(op, buffer, pos);
    }
  }

  #counted(op: number, buffer: Uint8Array, from: number, count: number): number {
    if (count > MAX_STRING_BYTES) throw corrupt(`it announces a value of ${count} bytes`);
    const stop = from + count;
    if (stop > buffer.length) return -1;
    const machine = this.#machine;
    if (op === Op.Long4) machine.pushBigInt(bigLong(buffer, from, count));
    else if (
      op === Op.BinUnicode ||
      op === Op.BinUnicode8 ||
      op === Op.BinString ||
      op === Op.ShortBinString
    )
      machine.push(Tag.String, machine.strings.intern(buffer, from, stop));
    else machine.push(Tag.Bytes, 0);
    return stop;
  }

  #otherOpcode(op: number, buffer: Uint8Array, pos: number): number {
    if (isCodeOpcode(op)) {
      const callable = describeCode(op, buffer, pos, this.#machine);
      if (callable === undefined) return -1;
      throw new DeclinedError(
        'it names a Python class or function',
        this.#base + pos,
        callable,
        true,
      );
    }
    if (HEADER_BYTES[op] === 0) {
      throw corrupt(`byte 0x${op.toString(16).padStart(2, '0')} is no pickle opcode`);
    }
    const stop = readTextOpcode(op, buffer, pos, this.#machine);
    if (stop === undefined)
      throw new DeclinedError(`opcode 0x${op.toString(16)} is not read`, this.#base + pos);
    return stop;
  }

  #float64(buffer: Uint8Array, from: number): number {
    for (let i = 0; i < 8; i++) this.#double.setUint8(i, buffer[from + i]);
    return this.#double.getFloat64(0);
  }
}

function concat(a: Uint8Array, b: Uint8Array): Uint8Array<ArrayBuffer> {
  const joined = new Uint8Array(a.length + b.length);
  joined.set(a);
  joined.set(b, a.length);
  return joined;
}

function uint32(buffer: Uint8Array, from: number): number {
  return (
    (buffer[from] |
      (buffer[from + 1] << 8) |
      (buffer[from + 2] << 16) |
      (buffer[from + 3] << 24)) >>>
    0
  );
}

/** A LONG1 of 5 to 8 bytes that is not negative and below 2^53: every address and time of CUDA. */
function isSmallLong(buffer: Uint8Array, from: number, count: number): boolean {
  const top = buffer[from + count - 1];
  if (count < 7) return top < 0x80;
  return count === 7 ? top < 0x20 : top === 0 && buffer[from + 6] < 0x20;
}

function smallLong(buffer: Uint8Array, from: number, count: number): number {
  let high = 0;
  for (let i = count - 1; i >= 4; i--) high = high * 256 + buffer[from + i];
  return high * UINT32 + uint32(buffer, from);
}

/** Two's complement, little endian: ff is -1, ff 00 is 255, no bytes is 0. */
function bigLong(buffer: Uint8Array, from: number, count: number): bigint {
  if (count > 64) throw corrupt(`it holds an integer of ${count} bytes`);
  let value = 0n;
  for (let i = count - 1; i >= 0; i--) value = (value << 8n) | BigInt(buffer[from + i]);
  return count === 0 ? 0n : BigInt.asIntN(count * 8, value);
}

function unknownProtocol(protocol: number): LoadError {
  return new LoadError({
    code: 'unknown-protocol',
    message: `This pickle says protocol ${protocol}; Python writes 0 to 5.`,
    advice: 'The file is damaged, or no pickle.',
  });
}

/** The same error with the offset of the opcode at hand. */
function located(error: unknown, byte: number): unknown {
  if (error instanceof DeclinedError && error.byte === 0) {
    return new DeclinedError(error.reason, byte, error.callable, error.holdsCode);
  }
  if (error instanceof LoadError && error.failure.byte === undefined) {
    return new LoadError({ ...error.failure, byte });
  }
  return error;
}
