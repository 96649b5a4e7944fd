/** The pickle opcodes of protocols 0 to 5, as in Python's pickletools. Most are ASCII characters: `(` is MARK. */
import { latin1 } from '../../base/bytes.ts';
import { corrupt } from './errors.ts';
import { build, call, makeObject, pushBytes, pushCallable } from './objects.ts';
import { Tag } from './types.ts';
import type { ValueMachine } from './value-machine.ts';

/** Opcodes by the bytes of their argument, or of the argument's length: BININT (`J`) has 4, SHORT_BINUNICODE 1. */
const ARGUMENT_BYTES: readonly (readonly [
  bytes: number,
  ascii: string,
  others: readonly number[],
])[] = [
  [0, '().012FILNPQRSVabcdegilo]pstu}', [0x81, 0x85, 0x86, 0x87, 0x88, 0x89]],
  [0, '', [0x8f, 0x90, 0x91, 0x92, 0x93, 0x94, 0x97, 0x98]],
  [1, 'CKUhq', [0x80, 0x82, 0x8a, 0x8c]],
  [2, 'M', [0x83]],
  [4, 'BJTXjr', [0x84, 0x8b]],
  [8, 'G', [0x8d, 0x8e, 0x95, 0x96]],
];

/** Bytes needed before an opcode's length is known, including the opcode. 0 marks an invalid opcode. */
export const HEADER_BYTES = new Uint8Array(256);
for (const [bytes, ascii, others] of ARGUMENT_BYTES) {
  const codes = Array.from(ascii, (letter) => letter.charCodeAt(0));
  for (const op of [...codes, ...others]) HEADER_BYTES[op] = 1 + bytes;
}

/** No string of a snapshot comes near this; a longer one means a damaged or hostile file. */
const MAX_STRING_BYTES = 64 * 2 ** 20;
/** A longer line means a damaged file, not a filename. */
const MAX_LINE_BYTES = 1 << 20;
const NEWLINE = 0x0a;

/**
 * Runs an opcode that snapshots use seldom or never; the decoder's loop handles the others. Its header is complete.
 * Returns where the next one begins, or -1 if its data is incomplete. Errors have no byte offset: the decoder adds it.
 */
export function readRareOpcode(
  op: number,
  buffer: Uint8Array,
  pos: number,
  machine: ValueMachine,
): number {
  const run = RUNS.get(op);
  if (run !== undefined) return run(machine, buffer, pos + HEADER_BYTES[op]);
  throw corrupt(`byte 0x${op.toString(16).padStart(2, '0')} is not a pickle opcode`);
}

/** @param next where the opcode's header ends */
type Run = (machine: ValueMachine, buffer: Uint8Array, next: number) => number;
type Change = (machine: ValueMachine) => void;

/** An opcode without an argument. */
const change =
  (run: Change): Run =>
  (machine, _, next) => {
    run(machine);
    return next;
  };

const opens = (tag: Tag): Run => change((machine) => machine.push(tag, -1));

const numbered =
  (bytes: number, run: (machine: ValueMachine, value: number) => void): Run =>
  (machine, buffer, next) => {
    run(machine, uint(buffer, next - bytes, next));
    return next;
  };

/** A value with its length before it. */
const counted =
  (
    lengthBytes: number,
    run: (machine: ValueMachine, buffer: Uint8Array, from: number, to: number) => void,
  ): Run =>
  (machine, buffer, next) => {
    const count = uint(buffer, next - lengthBytes, next);
    if (count > MAX_STRING_BYTES) throw corrupt(`it announces a value of ${count} bytes`);
    if (next + count > buffer.length) return -1;
    run(machine, buffer, next, next + count);
    return next + count;
  };

const utf8 = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

/** An argument of text up to the next newline, or two of them. */
const lines =
  (
    count: 1 | 2,
    run: (machine: ValueMachine, line: string, second: string) => void,
    decode = utf8,
  ): Run =>
  (machine, buffer, next) => {
    const texts = ['', ''];
    let from = next;
    for (let i = 0; i < count; i++) {
      const end = buffer.indexOf(NEWLINE, from);
      if (end < 0 && buffer.length - next > MAX_LINE_BYTES)
        throw corrupt('a line of text does not end');
      if (end < 0) return -1;
      texts[i] = decode(buffer.subarray(from, end));
      from = end + 1;
    }
    run(machine, texts[0], texts[1]);
    return from;
  };

const string = (lengthBytes: number): Run =>
  counted(lengthBytes, (machine, buffer, from, to) =>
    machine.push(Tag.String, machine.strings.intern(buffer, from, to)),
  );
const bytes = (lengthBytes: number): Run =>
  counted(lengthBytes, (machine, buffer, from, to) =>
    pushBytes(machine, buffer.subarray(from, to)),
  );
const text = (plain: (line: string) => string, decode = utf8): Run =>
  lines(
    1,
    (machine, line) => machine.push(Tag.String, machine.strings.internText(plain(line))),
    decode,
  );
const extension = (lengthBytes: number): Run =>
  numbered(lengthBytes, (machine, code) => pushCallable(machine, 'copyreg', `extension ${code}`));

const RUNS: ReadonlyMap<number, Run> = new Map<number, Run>([
  [0x61, change((machine) => machine.append())], // APPEND
  [0x73, change((machine) => machine.setItem())], // SETITEM
  [0x71, numbered(1, (machine, slot) => machine.memoize(slot))], // BINPUT
  [0x72, numbered(4, (machine, slot) => machine.memoize(slot))], // LONG_BINPUT
  [0x29, change((machine) => machine.tuple(machine.sp))], // EMPTY_TUPLE
  [0x85, change((machine) => machine.tuple(machine.sp - 1))], // TUPLE1
  [0x86, change((machine) => machine.tuple(machine.sp - 2))], // TUPLE2
  [0x87, change((machine) => machine.tuple(machine.sp - 3))], // TUPLE3
  [0x74, change((machine) => machine.tuple(machine.popMark()))], // TUPLE
  [0x6c, change((machine) => machine.listFromMark())], // LIST
  [0x64, change((machine) => machine.dictFromMark())], // DICT
  [0x30, change((machine) => machine.popValueOrMark())], // POP
  [0x31, change((machine) => machine.popToMark())], // POP_MARK
  [0x32, change(duplicate)], // DUP
  [0x8f, opens(Tag.OpenList)], // EMPTY_SET
  [0x90, change((machine) => machine.appends())], // ADDITEMS
  [0x91, change((machine) => machine.listFromMark())], // FROZENSET

  [0x58, string(4)], // BINUNICODE
  [0x8d, string(8)], // BINUNICODE8
  [0x54, string(4)], // BINSTRING
  [0x55, string(1)], // SHORT_BINSTRING
  [0x42, bytes(4)], // BINBYTES
  [0x43, bytes(1)], // SHORT_BINBYTES
  [0x8e, bytes(8)], // BINBYTES8
  [0x96, bytes(8)], // BYTEARRAY8
  [0x97, change((machine) => machine.push(Tag.Bytes, 0))], // NEXT_BUFFER
  [0x98, change(() => undefined)], // READONLY_BUFFER
  [
    0x8b, // LONG4
    counted(4, (machine, buffer, from, to) => machine.pushLong(buffer, from, to - from)),
  ],

  [
    0x49, // INT
    lines(1, (machine, line) => {
      if (line === '00' || line === '01') machine.push(Tag.Bool, Number(line));
      else machine.pushBigInt(integer(line));
    }),
  ],
  [0x4c, lines(1, (machine, line) => machine.pushBigInt(integer(line.replace(/L$/, ''))))], // LONG
  [0x46, lines(1, (machine, line) => machine.push(Tag.Float, decimal(line)))], // FLOAT
  [0x53, text(unescapeString)], // STRING
  [0x56, text(unescapeUnicode, latin1)], // UNICODE
  [0x67, lines(1, (machine, line) => machine.recall(Number(integer(line))))], // GET
  [0x70, lines(1, (machine, line) => machine.memoize(Number(integer(line))))], // PUT

  [0x63, lines(2, pushCallable)], // GLOBAL
  [0x93, change(stackGlobal)], // STACK_GLOBAL
  [0x82, extension(1)], // EXT1
  [0x83, extension(2)], // EXT2
  [0x84, extension(4)], // EXT4
  [0x52, change(call)], // REDUCE
  [0x81, change(call)], // NEWOBJ
  [
    0x92, // NEWOBJ_EX
    change((machine) => {
      machine.popValueOrMark();
      call(machine);
    }),
  ],
  [
    0x6f, // OBJ
    change((machine) => {
      machine.popToMark();
      makeObject(machine);
    }),
  ],
  [
    0x69, // INST
    lines(2, (machine, module, name) => {
      machine.popToMark();
      pushCallable(machine, module, name);
      machine.pop();
      makeObject(machine);
    }),
  ],
  [0x62, change(build)], // BUILD
  [0x50, lines(1, makeObject)], // PERSID
  [
    0x51, // BINPERSID
    change((machine) => {
      machine.popValueOrMark();
      makeObject(machine);
    }),
  ],
]);

function duplicate(machine: ValueMachine): void {
  const { tags, vals, sp } = machine;
  if (sp === 0) throw corrupt('a value is repeated from an empty stack');
  machine.closeTop();
  machine.push(tags[sp - 1] as Tag, vals[sp - 1]);
}

/** STACK_GLOBAL takes module and name from the stack. */
function stackGlobal(machine: ValueMachine): void {
  const { tags, vals, sp, strings } = machine;
  const nameAt = (slot: number) => (tags[slot] === Tag.String ? strings.get(vals[slot]) : '?');
  if (sp < 2) throw corrupt('it names a function without a module');
  machine.closeTop();
  machine.sp = sp - 2;
  pushCallable(machine, nameAt(sp - 2), nameAt(sp - 1));
}

/** Little-endian; exact up to 2^53. */
function uint(buffer: Uint8Array, from: number, to: number): number {
  let value = 0;
  for (let i = to - 1; i >= from; i--) value = value * 256 + buffer[i];
  return value;
}

function integer(line: string): bigint {
  if (!/^\s*[+-]?\d{1,400}\s*$/.test(line))
    throw corrupt(`'${line.slice(0, 40)}' is not an integer`);
  return BigInt(line.trim());
}

function decimal(line: string): number {
  if (line === 'nan' || line === '-nan') return Number.NaN;
  if (line === 'inf' || line === '-inf') return line === 'inf' ? Infinity : -Infinity;
  const value = Number(line);
  if (line.trim() === '' || Number.isNaN(value))
    throw corrupt(`'${line.slice(0, 40)}' is not a number`);
  return value;
}

const ESCAPES: Readonly<Record<string, string>> = {
  n: '\n',
  r: '\r',
  t: '\t',
  a: '\x07',
  b: '\b',
  f: '\f',
  v: '\v',
};

/** Decodes Python's repr of a byte string: 'a\\n\\x41' with its quotes. */
function unescapeString(line: string): string {
  const quote = line[0];
  if (line.length < 2 || (quote !== "'" && quote !== '"') || line.at(-1) !== quote) {
    throw corrupt('a string lacks its quotes');
  }
  return line.slice(1, -1).replace(/\\(x[0-9a-fA-F]{2}|[0-7]{1,3}|.)/g, (_, code: string) => {
    if (code[0] === 'x' && code.length === 3)
      return String.fromCharCode(Number.parseInt(code.slice(1), 16));
    if (/^[0-7]/.test(code)) return String.fromCharCode(Number.parseInt(code, 8));
    return ESCAPES[code] ?? code;
  });
}

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
