/** Case `number` of a seed: the bytes of a file that may or may not be a snapshot. */
import { gzipSync, zipSync } from 'fflate';
import { traceplotHtml } from '../hostile.ts';
import { join, uint32 } from '../write-pickle.ts';
import { emitPickle, randomStyle } from './emit-pickle.ts';
import { type Py, toJson } from './py-values.ts';
import { Random } from './random.ts';
import { randomSnapshot, spoil } from './random-snapshot.ts';

export const CASE_KINDS = ['values', 'opcodes', 'bytes', 'containers', 'json', 'compact'] as const;
export type CaseKind = (typeof CASE_KINDS)[number];

export interface FuzzCase {
  readonly kind: CaseKind;
  readonly bytes: Uint8Array;
}

/** @param compact bytes of a compact snapshot, to damage */
export function fuzzCase(seed: number, number: number, compact: Uint8Array): FuzzCase {
  const random = new Random(seed, number);
  // Half of them are complete pickles with wrong values: only those have figures to compare.
  const kind = random.chance(0.5) ? 'values' : random.pick(CASE_KINDS);
  return { kind, bytes: bytesOf(random, kind, compact) };
}

function bytesOf(random: Random, kind: CaseKind, compact: Uint8Array): Uint8Array {
  switch (kind) {
    case 'values':
      return join(...opcodesOf(random));
    case 'opcodes':
      return join(...spoilOpcodes(random, opcodesOf(random)));
    case 'bytes':
      return spoilBytes(random, join(...opcodesOf(random)));
    case 'containers':
      return spoilBytes(random, contain(random, join(...opcodesOf(random))), 0.5);
    case 'json':
      return spoilBytes(random, new TextEncoder().encode(toJson(spoiledValue(random))), 0.3);
    case 'compact':
      return spoilBytes(random, spoilHeader(random, compact), 0.8);
  }
}

function spoiledValue(random: Random): Py {
  const value = randomSnapshot(random);
  spoil(random, value, random.pick([0, 0, 1, 1, 2, 4]));
  return value;
}

function opcodesOf(random: Random): Uint8Array[] {
  const value = spoiledValue(random);
  const style = randomStyle(random);
  return emitPickle(value, style);
}

/** Opcodes that do the most damage in unexpected places. */
const ODD_OPCODES: readonly (readonly (string | readonly number[])[])[] = [
  ['('],
  ['.'],
  ['0'],
  ['1'],
  ['2'],
  ['a'],
  ['e'],
  ['s'],
  ['u'],
  ['b'],
  ['R'],
  ['d'],
  ['l'],
  ['t'],
  ['N'],
  [')'],
  [']'],
  ['}'],
  [[0x85]],
  [[0x87]],
  [[0x8f]],
  [[0x90]],
  [[0x91]],
  [[0x94]],
  [[0x93]],
  ['h', [0]],
  ['h', [255]],
  ['j', uint32(70_000)],
  ['q', [0]],
  ['r', uint32(2 ** 31)],
  ['p0\n'],
  [[0x8a, 0]],
  [[0x8a, 255]],
  ['L1e5L\n'],
  ['I\n'],
  ['Fnan\n'],
  ["S'a\n"],
  ['X', uint32(2 ** 31)],
  [[0x8d], uint32(0), uint32(1)],
  ['B', uint32(2 ** 32 - 1)],
  ['cos\nsystem\n'],
  ['ccollections\nOrderedDict\n'],
  [[0x95], uint32(9), uint32(0)],
  [[0x80, 2]],
  [[0x80, 9]],
  ['P1\n'],
  ['Q'],
  [[0x98]],
  [[0xff]],
];

function spoilOpcodes(random: Random, opcodes: readonly Uint8Array[]): Uint8Array[] {
  const spoiled = [...opcodes];
  for (let i = 1 + random.below(3); i > 0; i--) {
    const at = random.below(spoiled.length);
    const count = 1 + random.below(random.chance(0.2) ? 50 : 2);
    const odd = join(...random.pick(ODD_OPCODES));
    switch (random.below(5)) {
      case 0:
        spoiled.splice(at, count);
        break;
      case 1:
        spoiled.splice(at, 0, ...spoiled.slice(at, at + count));
        break;
      case 2:
        spoiled.splice(at, 0, ...spoiled.splice(random.below(spoiled.length), count));
        break;
      case 3:
        spoiled.splice(at, 1, odd);
        break;
      default:
        spoiled.splice(at, 0, ...Array.from({ length: count }, () => odd));
    }
  }
  return spoiled;
}

/** @param share of the cases that are damaged at all */
function spoilBytes(random: Random, whole: Uint8Array, share = 1): Uint8Array {
  if (!random.chance(share) || whole.length === 0) return whole;
  let bytes: Uint8Array = whole.slice();
  for (let i = 1 + random.below(4); i > 0 && bytes.length > 0; i--) {
    const at = random.below(bytes.length);
    const end = Math.min(bytes.length, at + 1 + random.below(40));
    switch (random.below(6)) {
      case 0:
        bytes = bytes.slice(0, at);
        break;
      case 1:
        bytes = join(bytes.subarray(0, at), bytes.subarray(end));
        break;
      case 2:
        bytes = join(bytes.subarray(0, end), bytes.subarray(at));
        break;
      case 3:
        bytes.fill(random.pick([0, 1, 127, 128, 255]), at, end);
        break;
      default:
        bytes[at] = random.chance(0.5) ? bytes[at] ^ (1 << random.below(8)) : random.below(256);
    }
  }
  return bytes;
}

function contain(random: Random, pickle: Uint8Array): Uint8Array {
  switch (random.below(4)) {
    case 0:
      return gzipSync(pickle, { level: 1 });
    case 1:
      return zipSync({ 'a.txt': new Uint8Array([104, 105]), 's.pickle': pickle }, { level: 1 });
    case 2:
      return traceplotHtml(pickle);
    default:
      return gzipSync(zipSync({ 's.pickle.gz': gzipSync(pickle) }));
  }
}

const HEADER_VALUES = ['-1', '0.5', '1e999', 'null', '[]', '{}', '""', '99999999', '"\\u202e"'];

/** The header is JSON with its length in front: replaces one of its values. */
function spoilHeader(random: Random, compact: Uint8Array): Uint8Array {
  const { at, length, json } = headerOf(compact);
  const values = [...json.matchAll(/(?<=[:,[])(-?\d+|"[^"]*"|true|false)(?=[,}\]])/g)];
  const value = random.pick(values);
  if (value === undefined || random.chance(0.3)) return compact;
  const end = value.index + value[0].length;
  const spoiled = json.slice(0, value.index) + random.pick(HEADER_VALUES) + json.slice(end);
  const bytes = new TextEncoder().encode(spoiled);
  return join(compact.subarray(0, at), varint(bytes.length), bytes, compact.subarray(at + length));
}

/** Where the header's length is, and how many bytes it and the header take. */
function headerOf(compact: Uint8Array): { at: number; length: number; json: string } {
  const at = 11;
  let bytes = 0;
  let digits = 0;
  for (let scale = 1; ; scale *= 128) {
    const digit = compact[at + digits++];
    bytes += (digit & 127) * scale;
    if (digit < 128) break;
  }
  const json = new TextDecoder().decode(compact.subarray(at + digits, at + digits + bytes));
  return { at, length: digits + bytes, json };
}

function varint(value: number): number[] {
  const digits: number[] = [];
  for (let rest = value; rest >= 128; rest = Math.floor(rest / 128))
    digits.push((rest % 128) + 128);
  return [...digits, Math.floor(value / 128 ** digits.length)];
}
