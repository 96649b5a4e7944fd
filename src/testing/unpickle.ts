/** pickleparser beside our own machine: the values of a pickle according to an independent program. */
import { BufferReader, Parser } from 'pickleparser';
import { concatBytes } from '../base/bytes.ts';
import { HEADER_BYTES } from '../format/pickle/opcodes.ts';

const STOP = 0x2e;
const BININT = 0x4a;
const LONG1 = 0x8a;
const LONG4 = 0x8b;

/** Dictionaries are Maps, so a key such as `__proto__` is a key like any other. */
export function unpickle(bytes: Uint8Array): unknown {
  const parser = new Parser({ unpicklingTypeOfDictionary: 'Map' });
  return parser.read(new BufferReader(rewriteLongs(bytes)));
}

/**
 * pickleparser reads LONG1 as an unsigned float64: -1 becomes 255, a stream handle of 2^64 - 1 (nine bytes with its
 * sign) throws, and addresses above 2^53 lose their last bits. It reads LONG4 exactly, as an unsigned bigint. So this
 * rewrites the integers it would get wrong as LONG4 of 64 bits, or as BININT if they are small and negative. Returns
 * the input itself if there are none.
 */
function rewriteLongs(bytes: Uint8Array): Uint8Array {
  const parts: Uint8Array[] = [];
  let copied = 0;
  let pos = 0;
  for (let end = opcodeEnd(bytes, 0); end !== undefined; end = opcodeEnd(bytes, pos)) {
    const written = bytes[pos] === LONG1 ? exactLong(bytes.subarray(pos + 2, end)) : undefined;
    if (written !== undefined) {
      parts.push(bytes.subarray(copied, pos), written);
      copied = end;
    }
    if (bytes[pos] === STOP) break;
    pos = end;
  }
  if (parts.length === 0) return bytes;
  parts.push(bytes.subarray(copied));
  return concatBytes(parts);
}

/** The opcode that pickleparser reads correctly; undefined if LONG1 will do (or the value is beyond 64 bits). */
function exactLong(digits: Uint8Array): Uint8Array | undefined {
  const isNegative = digits.length > 0 && digits[digits.length - 1] >= 0x80;
  const isWide = digits.length > 7 || (digits.length === 7 && digits[6] >= 0x20);
  if ((!isNegative && !isWide) || digits.length > 9) return undefined;
  let value = 0n;
  for (let i = digits.length - 1; i >= 0; i--) value = (value << 8n) | BigInt(digits[i]);
  value = BigInt.asIntN(digits.length * 8, value);
  const isSmall = value < 0n && value >= -(2n ** 31n);
  const out = new DataView(new ArrayBuffer(isSmall ? 5 : 13));
  out.setUint8(0, isSmall ? BININT : LONG4);
  if (isSmall) {
    out.setInt32(1, Number(value), true);
  } else {
    out.setUint32(1, 8, true);
    out.setBigUint64(5, BigInt.asUintN(64, value), true);
  }
  return new Uint8Array(out.buffer);
}

/** Opcodes followed by lines of text, and how many lines. */
const LINES = new Map(Array.from('ILFSVgpP', (op) => [op.charCodeAt(0), 1] as const));

/** Opcodes followed by a byte count, and the width of that count in bytes. */
const COUNT_BYTES = new Map<number, number>([
  ...[LONG1, 0x8c, 0x55, 0x43].map((op) => [op, 1] as const),
  ...[LONG4, 0x58, 0x54, 0x42].map((op) => [op, 4] as const),
  ...[0x8d, 0x8e, 0x96].map((op) => [op, 8] as const),
]);

/** Position after the opcode at `pos` and its argument; undefined for an unknown or truncated opcode. */
function opcodeEnd(buffer: Uint8Array, pos: number): number | undefined {
  const op = buffer[pos];
  const header = HEADER_BYTES[op];
  if (header === 0 || pos + header > buffer.length) return undefined;
  let end = pos + header;
  for (let i = COUNT_BYTES.get(op) ?? 0, scale = 1; i > 0; i--, scale *= 256) {
    end += buffer[pos + header - i] * scale;
  }
  for (let lines = LINES.get(op) ?? 0; lines > 0; lines--) {
    const newline = buffer.indexOf(0x0a, end);
    if (newline < 0) return undefined;
    end = newline + 1;
  }
  return end <= buffer.length ? end : undefined;
}
