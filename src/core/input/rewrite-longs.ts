/**
 * pickleparser reads LONG1 as an unsigned float64: -1 becomes 255, a stream handle of 2^64 - 1 (nine
 * bytes with its sign) throws, addresses above 2^53 lose their last bits. LONG4 it reads exactly, as an
 * unsigned bigint. So the integers it would get wrong are written anew, as LONG4 of 64 bits, or as
 * BININT where they are small and negative.
 */
import { opcodeEnd } from '../pickle/opcode-span.ts';
import { Op } from '../pickle/opcodes.ts';
import { concatBytes } from './byte-cursor.ts';

/** The same pickle with such integers written anew; the bytes themselves when there are none. */
export function rewriteLongs(bytes: Uint8Array): Uint8Array {
  const parts: Uint8Array[] = [];
  let copied = 0;
  let pos = 0;
  for (let end = opcodeEnd(bytes, 0); end !== undefined; end = opcodeEnd(bytes, pos)) {
    const written = bytes[pos] === Op.Long1 ? exactLong(bytes.subarray(pos + 2, end)) : undefined;
    if (written !== undefined) {
      parts.push(bytes.subarray(copied, pos), written);
      copied = end;
    }
    if (bytes[pos] === Op.Stop) break;
    pos = end;
  }
  if (parts.length === 0) return bytes;
  parts.push(bytes.subarray(copied));
  return concatBytes(
    parts,
    parts.reduce((sum, part) => sum + part.length, 0),
  );
}

/** The opcode that pickleparser reads right; undefined when LONG1 will do (or is beyond 64 bits). */
function exactLong(digits: Uint8Array): Uint8Array | undefined {
  const isNegative = digits.length > 0 && digits[digits.length - 1] >= 0x80;
  const isWide = digits.length > 7 || (digits.length === 7 && digits[6] >= 0x20);
  if ((!isNegative && !isWide) || digits.length > 9) return undefined;
  let value = 0n;
  for (let i = digits.length - 1; i >= 0; i--) value = (value << 8n) | BigInt(digits[i]);
  value = BigInt.asIntN(digits.length * 8, value);
  const isSmall = value < 0n && value >= -(2n ** 31n);
  const out = new DataView(new ArrayBuffer(isSmall ? 5 : 13));
  out.setUint8(0, isSmall ? Op.BinInt : Op.Long4);
  if (isSmall) {
    out.setInt32(1, Number(value), true);
  } else {
    out.setUint32(1, 8, true);
    out.setBigUint64(5, BigInt.asUintN(64, value), true);
  }
  return new Uint8Array(out.buffer);
}
