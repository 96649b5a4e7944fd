/**
 * Decodes any pickle to JavaScript values with pickleparser. It is slow and uses much memory, so it reads only what the
 * columnar machine declines. Nothing is run: classes and functions in the pickle become inert placeholders, except a
 * few that only hold data.
 */
import { BufferReader, Parser } from 'pickleparser';
import { concatBytes } from '../../base/bytes.ts';
import { HEADER_BYTES, Op } from '../pickle/opcodes.ts';

/** Stands for an object of an unknown class. The pickle's state for it becomes its properties. */
class Opaque {
  readonly callable: string;
  constructor(callable: string) {
    this.callable = callable;
  }
}

export interface Unpickled {
  /** Dictionaries are Maps, so a key such as `__proto__` is a key like any other. */
  readonly value: unknown;
  /** Classes and functions named in the pickle, except those known to hold only data: ['os.system']. */
  readonly callables: readonly string[];
  /** The error that stopped the parser; undefined at a normal end. `value` is undefined after an error. */
  readonly failure: unknown;
}

/** Most memory that the objects of a pickle may take in a tab. */
const MAX_OBJECT_BYTES = 600 * 2 ** 20;
/** Rough memory cost of an opcode in JavaScript. The default is a value on the stack or in the memo. */
const VALUE_BYTES = 16;
const OBJECT_BYTES = objectBytes();
/** Reading a long integer takes time quadratic in its digits. */
const MAX_INTEGER_BYTES = 1000;
const INTEGERS: ReadonlySet<number> = new Set<number>([Op.Int, Op.Long, Op.Long4]);

function objectBytes(): Uint16Array {
  const bytes = new Uint16Array(256).fill(VALUE_BYTES);
  for (const op of [Op.EmptyDict, Op.Dict, Op.EmptySet, Op.FrozenSet]) bytes[op] = 200;
  for (const op of [Op.Reduce, Op.Build, Op.Inst, Op.Obj, Op.NewObj, Op.NewObjEx]) bytes[op] = 200;
  for (const op of [Op.Global, Op.StackGlobal, Op.BinPersId, Op.PersId, Op.Mark]) bytes[op] = 120;
  for (const op of [Op.EmptyList, Op.List, Op.Tuple, Op.EmptyTuple]) bytes[op] = 60;
  for (const op of [Op.Tuple1, Op.Tuple2, Op.Tuple3, Op.Ext1, Op.Ext2, Op.Ext4]) bytes[op] = 60;
  return bytes;
}

/** Whether {@link unpickle} may read it: one byte of a pickle can create a set of 200 bytes in memory. */
export function isReadable(bytes: Uint8Array): boolean {
  let total = 0;
  let pos = 0;
  for (let end = opcodeEnd(bytes, 0); end !== undefined; end = opcodeEnd(bytes, pos)) {
    const op = bytes[pos];
    // Text takes one or two bytes per byte of the file.
    total += OBJECT_BYTES[op] + 2 * (end - pos);
    if (total > MAX_OBJECT_BYTES) return false;
    if (INTEGERS.has(op) && end - pos > MAX_INTEGER_BYTES) return false;
    if (op === Op.Stop) break;
    pos = end;
  }
  return true;
}

/** Never throws: errors of the parser are returned in `failure`. */
export function unpickle(bytes: Uint8Array): Unpickled {
  const callables: string[] = [];
  const parser = new Parser({
    unpicklingTypeOfDictionary: 'Map',
    nameResolver: { resolve: (module, name) => resolve(nameOf(module), nameOf(name), callables) },
    persistentResolver: { resolve: () => new Opaque('persistent id') },
    extensionResolver: { resolve: (code) => inert(`copyreg extension ${code}`, callables) },
  });
  try {
    const value: unknown = parser.read(new CheckedReader(rewriteLongs(bytes)));
    return { value, callables, failure: undefined };
  } catch (failure) {
    return { value: undefined, callables, failure };
  }
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
  out.setUint8(0, isSmall ? Op.BinInt : Op.Long4);
  if (isSmall) {
    out.setInt32(1, Number(value), true);
  } else {
    out.setUint32(1, 8, true);
    out.setBigUint64(5, BigInt.asUintN(64, value), true);
  }
  return new Uint8Array(out.buffer);
}

/** Opcodes followed by lines of text, and how many lines. */
const LINES: ReadonlyMap<number, number> = new Map<number, number>([
  ...[Op.Int, Op.Long, Op.Float, Op.String, Op.Unicode, Op.Get, Op.Put, Op.PersId].map(
    (op): [number, number] => [op, 1],
  ),
  [Op.Global, 2],
  [Op.Inst, 2],
]);

/** Opcodes followed by a byte count, and the width of that count in bytes. */
const COUNT_BYTES: ReadonlyMap<number, number> = new Map<number, number>([
  ...[Op.Long1, Op.ShortBinUnicode, Op.ShortBinString, Op.ShortBinBytes].map(
    (op): [number, number] => [op, 1],
  ),
  ...[Op.Long4, Op.BinUnicode, Op.BinString, Op.BinBytes].map((op): [number, number] => [op, 4]),
  ...[Op.BinUnicode8, Op.BinBytes8, Op.ByteArray8].map((op): [number, number] => [op, 8]),
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

/** pickleparser reads BINBYTES lengths as signed: a negative one would move it back in the file forever. */
class CheckedReader extends BufferReader {
  /** Reads a length. pickleparser's own method writes to the console if it is beyond 2^53. */
  override uint64(): number {
    return this.uint32() + this.uint32() * 2 ** 32;
  }

  override skip(count: number): void {
    if (count < 0) throw new RangeError(`A length of ${count} at byte ${this.position}`);
    super.skip(count);
  }
}

/** STACK_GLOBAL takes its names from the stack, which may hold anything. */
const nameOf = (value: unknown): string => (typeof value === 'string' ? value : '?');

type Call = (...args: unknown[]) => unknown;

/** Python callables that only hold or copy data, with their JavaScript equivalents. */
const DATA_CALLABLES: ReadonlyMap<string, Call> = new Map<string, Call>([
  ['collections.OrderedDict', toMap],
  ['collections.defaultdict', () => new Map()],
  ['builtins.dict', toMap],
  ['builtins.list', toList],
  ['builtins.tuple', toList],
  ['builtins.set', toList],
  ['builtins.frozenset', toList],
  ['builtins.int', (value) => value],
  ['builtins.float', (value) => value],
  ['builtins.str', (value) => value],
  ['builtins.bool', (value) => value],
  ['_codecs.encode', (text) => Uint8Array.from(String(text), (letter) => letter.charCodeAt(0))],
  ['numpy.dtype', (type) => new NumpyType(String(type))],
  ['numpy.core.multiarray.scalar', toNumber],
  ['numpy._core.multiarray.scalar', toNumber],
]);

/** Returns a new function each time, because a pickle may set properties on it. */
function resolve(module: string, name: string, callables: string[]): Call {
  const qualified = `${module === '__builtin__' ? 'builtins' : module}.${name}`;
  const known = DATA_CALLABLES.get(qualified);
  // A `function`, because pickleparser also calls these with `new`.
  if (known !== undefined) {
    return function dataCallable(...args: unknown[]): unknown {
      return known(...args);
    };
  }
  return inert(qualified, callables);
}

function inert(name: string, callables: string[]): Call {
  if (!callables.includes(name)) callables.push(name);
  return function inertCallable(): unknown {
    return new Opaque(name);
  };
}

function toMap(pairs: unknown): Map<unknown, unknown> {
  if (pairs instanceof Map) return new Map(pairs);
  const map = new Map<unknown, unknown>();
  if (Array.isArray(pairs)) {
    for (const pair of pairs) if (Array.isArray(pair)) map.set(pair[0], pair[1]);
  }
  return map;
}

function toList(items: unknown): unknown[] {
  return Array.isArray(items) ? [...items] : [];
}

/** numpy.dtype('i8'). Its byte order comes later, as item 1 of its state: '<', '>' or '|'. */
class NumpyType {
  readonly code: string;
  constructor(code: string) {
    this.code = code;
  }
  get isBigEndian(): boolean {
    return Object.entries(this).some(([key, value]) => key === '1' && value === '>');
  }
}

/** DataView readers for numpy's types. */
const NUMBERS: Readonly<Record<string, (view: DataView, little: boolean) => number | bigint>> = {
  i1: (view) => view.getInt8(0),
  u1: (view) => view.getUint8(0),
  i2: (view, little) => view.getInt16(0, little),
  u2: (view, little) => view.getUint16(0, little),
  i4: (view, little) => view.getInt32(0, little),
  u4: (view, little) => view.getUint32(0, little),
  i8: (view, little) => view.getBigInt64(0, little),
  u8: (view, little) => view.getBigUint64(0, little),
  f4: (view, little) => view.getFloat32(0, little),
  f8: (view, little) => view.getFloat64(0, little),
};

/** numpy's scalar(dtype, bytes): integers, booleans and floats up to eight bytes. */
function toNumber(type: unknown, bytes: unknown): unknown {
  if (!(type instanceof NumpyType) || !(bytes instanceof Uint8Array))
    return new Opaque('numpy scalar');
  const { code } = type;
  if (code === 'b1') return bytes[0] !== 0;
  if (!Object.hasOwn(NUMBERS, code)) return new Opaque(`numpy ${code}`);
  const eight = new Uint8Array(8);
  eight.set(bytes);
  const number = NUMBERS[code](new DataView(eight.buffer), !type.isBigEndian);
  return typeof number === 'bigint' ? safeNumber(number) : number;
}

function safeNumber(value: bigint): number | bigint {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}
