/** The text opcodes of protocols 0 and 1: their argument ends at the next newline. */
import { corrupt } from './errors.ts';
import { Op } from './opcodes.ts';
import { Tag } from './types.ts';
import type { ValueMachine } from './value-machine.ts';

const NEWLINE = 0x0a;
/** A longer line means a damaged file, not a filename. */
const MAX_LINE_BYTES = 1 << 20;

/** Returns where the next opcode begins, -1 if the line is incomplete, or undefined for another opcode. */
export function readTextOpcode(
  op: number,
  buffer: Uint8Array,
  pos: number,
  machine: ValueMachine,
): number | undefined {
  const run = TEXT_OPCODES.get(op);
  if (run === undefined) return undefined;
  const end = buffer.indexOf(NEWLINE, pos + 1);
  if (end < 0) {
    if (buffer.length - pos > MAX_LINE_BYTES) throw corrupt('a line of text does not end');
    return -1;
  }
  const bytes = buffer.subarray(pos + 1, end);
  run(op === Op.Unicode ? latin1(bytes) : new TextDecoder().decode(bytes), machine);
  return end + 1;
}

const TEXT_OPCODES = new Map<number, (line: string, machine: ValueMachine) => void>([
  [
    Op.Int,
    (line, machine) => {
      if (line === '00' || line === '01') machine.push(Tag.Bool, Number(line));
      else machine.pushBigInt(integer(line));
    },
  ],
  [Op.Long, (line, machine) => machine.pushBigInt(integer(line.replace(/L$/, '')))],
  [Op.Float, (line, machine) => machine.push(Tag.Float, decimal(line))],
  [Op.String, (line, machine) => pushText(machine, unescapeString(line))],
  [Op.Unicode, (line, machine) => pushText(machine, unescapeUnicode(line))],
  [Op.Get, (line, machine) => machine.recall(Number(integer(line)))],
  [Op.Put, (line, machine) => machine.memoize(Number(integer(line)))],
]);

const pushText = (machine: ValueMachine, text: string): void =>
  machine.push(Tag.String, machine.strings.internText(text));

function integer(line: string): bigint {
  if (!/^\s*[+-]?\d{1,400}\s*$/.test(line)) throw corrupt(`'${line.slice(0, 40)}' is no integer`);
  return BigInt(line.trim());
}

function decimal(line: string): number {
  if (line === 'nan' || line === '-nan') return Number.NaN;
  if (line === 'inf' || line === '-inf') return line === 'inf' ? Infinity : -Infinity;
  const value = Number(line);
  if (line.trim() === '' || Number.isNaN(value))
    throw corrupt(`'${line.slice(0, 40)}' is no number`);
  return value;
}

/** Decodes Python's repr of a byte string: 'a\\n\\x41' with its quotes. */
function unescapeString(line: string): string {
  const quote = line[0];
  if (line.length < 2 || (quote !== "'" && quote !== '"') || line.at(-1) !== quote) {
    throw corrupt('a string lacks its quotes');
  }
  const escapes: Readonly<Record<string, string>> = {
    n: '\n',
    r: '\r',
    t: '\t',
    a: '\x07',
    b: '\b',
    f: '\f',
    v: '\v',
  };
  return line.slice(1, -1).replace(/\\(x[0-9a-fA-F]{2}|[0-7]{1,3}|.)/g, (_, code: string) => {
    if (code[0] === 'x' && code.length === 3)
      return String.fromCharCode(Number.parseInt(code.slice(1), 16));
    if (/^[0-7]/.test(code)) return String.fromCharCode(Number.parseInt(code, 8));
    return escapes[code] ?? code;
  });
}

/** ISO 8859-1; TextDecoder's 'latin1' is Windows-1252, which differs from 0x80 to 0x9f. */
const latin1 = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => String.fromCharCode(byte)).join('');

/** Decodes raw-unicode-escape, which is Latin-1 otherwise: only \u with four hex digits and \U with eight are escapes. */
function unescapeUnicode(line: string): string {
  return line.replace(
    /\\u([0-9a-fA-F]{4})|\\U([0-9a-fA-F]{8})/g,
    (whole, short?: string, long?: string) => {
      const code = Number.parseInt(short ?? long ?? '', 16);
      return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
    },
  );
}
