/** Opcodes that snapshots use seldom or never. The decoder's loop handles the others. */
import { corrupt, DeclinedError } from './errors.ts';
import { HEADER_BYTES, Op } from './opcodes.ts';
import { readTextOpcode } from './text-opcodes.ts';
import { Tag } from './types.ts';
import type { ValueMachine } from './value-machine.ts';

const UINT32 = 2 ** 32;
/** No string of a snapshot comes near this; a longer one means a damaged or hostile file. */
const MAX_STRING_BYTES = 64 * 2 ** 20;

/** Opcodes that name, make or call Python objects. They are described but never run. */
const CODE_OPCODES: ReadonlySet<number> = new Set<number>([
  Op.Global,
  Op.StackGlobal,
  Op.Reduce,
  Op.Build,
  Op.Inst,
  Op.Obj,
  Op.NewObj,
  Op.NewObjEx,
  Op.Ext1,
  Op.Ext2,
  Op.Ext4,
  Op.PersId,
  Op.BinPersId,
]);

/**
 * Runs the opcode at `pos`, whose header is complete. Returns where the next one begins, or -1 if its data is
 * incomplete. Errors have no byte offset: the decoder adds it.
 */
export function readRareOpcode(
  op: number,
  buffer: Uint8Array,
  pos: number,
  machine: ValueMachine,
): number {
  const next = pos + HEADER_BYTES[op];
  const change = STACK_OPCODES.get(op);
  if (change !== undefined) {
    change(machine, buffer, pos);
    return next;
  }
  switch (op) {
    case Op.BinUnicode:
    case Op.BinString:
    case Op.BinBytes:
    case Op.Long4:
      return readCounted(op, buffer, next, uint32(buffer, pos + 1), machine);
    case Op.BinUnicode8:
    case Op.BinBytes8:
    case Op.ByteArray8: {
      const count = uint32(buffer, pos + 1) + uint32(buffer, pos + 5) * UINT32;
      return readCounted(op, buffer, next, count, machine);
    }
    case Op.ShortBinString:
    case Op.ShortBinBytes:
      return readCounted(op, buffer, next, buffer[pos + 1], machine);
    default:
      return readOther(op, buffer, pos, machine);
  }
}

type Run = (machine: ValueMachine, buffer: Uint8Array, pos: number) => void;

/** Opcodes that only change the stack, without an argument other than a memo slot. */
const STACK_OPCODES: ReadonlyMap<number, Run> = new Map<number, Run>([
  [Op.Append, (machine) => machine.append()],
  [Op.SetItem, (machine) => machine.setItem()],
  [Op.BinPut, (machine, buffer, pos) => machine.memoize(buffer[pos + 1])],
  [Op.LongBinPut, (machine, buffer, pos) => machine.memoize(uint32(buffer, pos + 1))],
  [Op.EmptyTuple, (machine) => machine.tuple(machine.sp)],
  [Op.Tuple1, (machine) => machine.tuple(machine.sp - 1)],
  [Op.Tuple2, (machine) => machine.tuple(machine.sp - 2)],
  [Op.Tuple3, (machine) => machine.tuple(machine.sp - 3)],
  [Op.Tuple, (machine) => machine.tuple(machine.popMark())],
  [Op.List, (machine) => machine.listFromMark()],
  [Op.Dict, (machine) => machine.dictFromMark()],
  [Op.Pop, (machine) => machine.popValueOrMark()],
  [Op.PopMark, (machine) => machine.popToMark()],
]);

function readCounted(
  op: number,
  buffer: Uint8Array,
  from: number,
  count: number,
  machine: ValueMachine,
): number {
  if (count > MAX_STRING_BYTES) throw corrupt(`it announces a value of ${count} bytes`);
  const stop = from + count;
  if (stop > buffer.length) return -1;
  if (op === Op.Long4) machine.pushLong(buffer, from, count);
  else if (isString(op)) machine.push(Tag.String, machine.strings.intern(buffer, from, stop));
  else machine.push(Tag.Bytes, 0);
  return stop;
}

const isString = (op: number): boolean =>
  op === Op.BinUnicode || op === Op.BinUnicode8 || op === Op.BinString || op === Op.ShortBinString;

function readOther(op: number, buffer: Uint8Array, pos: number, machine: ValueMachine): number {
  if (CODE_OPCODES.has(op)) {
    const callable = describeCode(op, buffer, pos, machine);
    if (callable === undefined) return -1;
    throw new DeclinedError('it names a Python class or function', 0, callable, true);
  }
  if (HEADER_BYTES[op] === 0) {
    throw corrupt(`byte 0x${op.toString(16).padStart(2, '0')} is no pickle opcode`);
  }
  const stop = readTextOpcode(op, buffer, pos, machine);
  if (stop === undefined) throw new DeclinedError(`opcode 0x${op.toString(16)} is not read`, 0);
  return stop;
}

/** A name such as 'os.system', or '' if there is none; undefined if more bytes are needed to tell. */
function describeCode(
  op: number,
  buffer: Uint8Array,
  pos: number,
  machine: ValueMachine,
): string | undefined {
  if (op === Op.StackGlobal) return stackGlobal(machine);
  if (op !== Op.Global && op !== Op.Inst) return '';
  const moduleEnd = buffer.indexOf(0x0a, pos + 1);
  const nameEnd = moduleEnd < 0 ? -1 : buffer.indexOf(0x0a, moduleEnd + 1);
  if (nameEnd < 0) return buffer.length - pos > 1000 ? '' : undefined;
  const text = new TextDecoder();
  const module = text.decode(buffer.subarray(pos + 1, moduleEnd));
  return `${module}.${text.decode(buffer.subarray(moduleEnd + 1, nameEnd))}`;
}

/** STACK_GLOBAL takes module and name from the stack. */
function stackGlobal(machine: ValueMachine): string {
  const { tags, vals, sp } = machine;
  if (sp < 2 || tags[sp - 1] !== Tag.String || tags[sp - 2] !== Tag.String) return '';
  return `${machine.strings.get(vals[sp - 2])}.${machine.strings.get(vals[sp - 1])}`;
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
