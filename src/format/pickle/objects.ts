/**
 * Classes and functions in a pickle. Nothing is run: an object is an empty dictionary that takes its attributes, except
 * for the few types below that only hold data.
 */
import { corrupt } from './errors.ts';
import { type ListRun, Tag } from './types.ts';
import type { ValueMachine } from './value-machine.ts';

/** Most names to keep for the message. */
const MAX_NAMES = 100;
/** Longest bytes whose content is kept: a number of numpy has eight. */
const MAX_KEPT_BYTES = 16;

export function pushCallable(machine: ValueMachine, module: string, name: string): void {
  const qualified = `${module === '__builtin__' ? 'builtins' : module}.${name}`;
  if (!DATA.has(qualified)) {
    machine.codeAt ??= machine.byte;
    if (machine.callables.size < MAX_NAMES) machine.callables.add(printable(qualified));
  }
  machine.push(Tag.Callable, machine.strings.internText(qualified));
}

/** Names come from the file: shorten them and remove control characters. */
function printable(name: string): string {
  const clean = name.replace(/[^\w.<>-]+/g, '?');
  return clean.length > 80 ? `${clean.slice(0, 80)}…` : clean;
}

export const makeObject = (machine: ValueMachine): void => machine.push(Tag.OpenDict, -1);

/** callable arguments → result */
export function call(machine: ValueMachine): void {
  const { tags, vals, sp } = machine;
  if (sp < 2 || tags[sp - 2] !== Tag.Callable)
    throw corrupt('it calls something that is not a function');
  machine.closeTop();
  machine.sp = sp - 2;
  const args = machine.kept.items(tags[sp - 1], vals[sp - 1]) ?? [];
  (DATA.get(machine.strings.get(vals[sp - 2])) ?? makeObject)(machine, args);
}

/** BUILD: object state → object. A dictionary becomes the attributes of an object that has none. */
export function build(machine: ValueMachine): void {
  const { tags, vals, sp, kept } = machine;
  const object = sp - 2;
  if (object < 0) throw corrupt('a state has no object');
  machine.closeTop();
  machine.sp--;
  const state = tags[sp - 1];
  if (tags[object] === Tag.String) {
    // The state of numpy.dtype: (3, '<', …).
    const order = kept.items(state, vals[sp - 1])?.[1];
    if (order?.tag === Tag.String && machine.strings.get(order.first) === '>')
      throw corrupt('it holds big-endian numbers from numpy');
  }
  if (state === Tag.Dict || state === Tag.Row) machine.adopt(object, state, vals[sp - 1]);
}

export function pushBytes(machine: ValueMachine, bytes: Uint8Array): void {
  const text = bytes.length > MAX_KEPT_BYTES ? '' : String.fromCharCode(...bytes);
  machine.push(Tag.Bytes, machine.strings.internText(text));
}

type Call = (machine: ValueMachine, args: readonly ListRun[]) => void;

const asDict: Call = (machine, [items]) => {
  if (items?.tag === Tag.Dict) machine.push(Tag.Dict, items.first);
  else makeObject(machine);
};
const asList: Call = (machine, [items]) => {
  if (items?.tag === Tag.List) machine.push(Tag.List, items.first);
  else if (items?.tag === Tag.Tuple) machine.push(Tag.Tuple, items.first);
  else machine.push(Tag.OpenList, -1);
};
const same: Call = (machine, [value]) => machine.push(value?.tag ?? Tag.None, value?.first ?? 0);

/** Python callables that only hold or copy data. */
const DATA: ReadonlyMap<string, Call> = new Map<string, Call>([
  ['collections.OrderedDict', asDict],
  ['collections.defaultdict', asDict],
  ['builtins.dict', asDict],
  ['builtins.list', asList],
  ['builtins.tuple', asList],
  ['builtins.set', asList],
  ['builtins.frozenset', asList],
  ['builtins.int', same],
  ['builtins.float', same],
  ['builtins.str', same],
  ['builtins.bool', same],
  // Bytes of protocol 2 and before: encode('\xff\x00', 'latin1').
  ['_codecs.encode', (machine, [text]) => machine.push(Tag.Bytes, text?.first ?? 0)],
  ['numpy.dtype', same],
  ['numpy.core.multiarray.scalar', numpyScalar],
  ['numpy._core.multiarray.scalar', numpyScalar],
]);

const NUMBERS = {
  b1: Uint8Array,
  i1: Int8Array,
  u1: Uint8Array,
  i2: Int16Array,
  u2: Uint16Array,
  i4: Int32Array,
  u4: Uint32Array,
  i8: BigInt64Array,
  u8: BigUint64Array,
  f4: Float32Array,
  f8: Float64Array,
};

/** scalar(dtype, bytes) */
function numpyScalar(machine: ValueMachine, [type, bytes]: readonly ListRun[]): void {
  const code = type?.tag === Tag.String ? machine.strings.get(type.first) : '';
  if (!Object.hasOwn(NUMBERS, code) || bytes?.tag !== Tag.Bytes) {
    makeObject(machine);
    return;
  }
  const eight = new Uint8Array(8);
  const letters = machine.strings.get(bytes.first).slice(0, 8);
  eight.set(Array.from(letters, (letter) => letter.charCodeAt(0)));
  const [value] = new NUMBERS[code as keyof typeof NUMBERS](eight.buffer);
  if (typeof value === 'bigint') machine.pushBigInt(value);
  else if (code === 'b1') machine.push(Tag.Bool, value === 0 ? 0 : 1);
  else machine.push(Number.isSafeInteger(value) ? Tag.Int : Tag.Float, value);
}
