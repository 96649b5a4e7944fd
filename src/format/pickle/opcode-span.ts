/** Where opcodes end, without running them. */
import { HEADER_BYTES, Op } from './opcodes.ts';

/** Opcodes followed by lines of text, and how many. */
const LINES: ReadonlyMap<number, number> = new Map<number, number>([
  ...[Op.Int, Op.Long, Op.Float, Op.String, Op.Unicode, Op.Get, Op.Put, Op.PersId].map(
    (op): [number, number] => [op, 1],
  ),
  [Op.Global, 2],
  [Op.Inst, 2],
]);

const COUNTED_BY_1: ReadonlySet<number> = new Set<number>([
  Op.Long1,
  Op.ShortBinUnicode,
  Op.ShortBinString,
  Op.ShortBinBytes,
]);
const COUNTED_BY_4: ReadonlySet<number> = new Set<number>([
  Op.Long4,
  Op.BinUnicode,
  Op.BinString,
  Op.BinBytes,
]);
const COUNTED_BY_8: ReadonlySet<number> = new Set<number>([
  Op.BinUnicode8,
  Op.BinBytes8,
  Op.ByteArray8,
]);

/** Position after the opcode at `pos` and its argument; undefined when it is none or is cut off. */
export function opcodeEnd(buffer: Uint8Array, pos: number): number | undefined {
  const op = buffer[pos];
  const header = HEADER_BYTES[op];
  if (header === 0 || pos + header > buffer.length) return undefined;
  let end = pos + header;
  if (COUNTED_BY_1.has(op)) end += buffer[pos + 1];
  else if (COUNTED_BY_4.has(op)) end += count(buffer, pos + 1, 4);
  else if (COUNTED_BY_8.has(op)) end += count(buffer, pos + 1, 8);
  for (let lines = LINES.get(op) ?? 0; lines > 0; lines--) {
    const newline = buffer.indexOf(0x0a, end);
    if (newline < 0) return undefined;
    end = newline + 1;
  }
  return end <= buffer.length ? end : undefined;
}

function count(buffer: Uint8Array, from: number, size: number): number {
  let value = 0;
  for (let i = size - 1; i >= 0; i--) value = value * 256 + (buffer[from + i] ?? 0);
  return value;
}
