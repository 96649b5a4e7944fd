/** Opcodes that name, make or call Python objects. Nothing is ever run; they are only described. */
import { Op } from './opcodes.ts';
import { Tag } from './types.ts';
import type { ValueMachine } from './value-machine.ts';

const CODE_OPCODES: ReadonlySet<number> = new Set([
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

export function isCodeOpcode(op: number): boolean {
  return CODE_OPCODES.has(op);
}

/** 'os.system' and the like, '' where it is not named; undefined when more bytes are needed to tell. */
export function describeCode(
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
