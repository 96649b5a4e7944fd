import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LoadError } from '../../base/load-error.ts';
import { join, type PickleValue, writePickle } from '../../testing/write-pickle.ts';
import { PickleDecoder } from './pickle-decoder.ts';
import type { Schema, Tag } from './types.ts';
import { ValueMachine } from './value-machine.ts';

/** A schema without sinks: every value stays in the machine. */
const NO_SCHEMA: Schema = { bind: () => undefined, nodeSink: 0, node: () => 0 };

function decoded(bytes: Uint8Array, chunk = bytes.length) {
  const machine = new ValueMachine(NO_SCHEMA);
  const decoder = new PickleDecoder(machine);
  for (let at = 0; at < bytes.length; at += chunk) decoder.push(bytes.subarray(at, at + chunk));
  decoder.end();
  return { machine, value: machine.kept.toValue(machine.tags[0] as Tag, machine.vals[0]) };
}

const decode = (bytes: Uint8Array, chunk?: number) => decoded(bytes, chunk).value;

const pickle = (...parts: readonly (string | readonly number[])[]) => decode(join(...parts));

describe('integers', () => {
  it.each([
    ['BININT is signed', ['J', [0xff, 0xff, 0xff, 0xff]], -1],
    ['BININT2 is not', ['M', [0xff, 0xff]], 65_535],
    ['LONG1 of one byte is signed', [[0x8a, 1, 0xff]], -1],
    ['LONG1 with a sign byte', [[0x8a, 2, 0xff, 0]], 255],
    ['LONG1 of no bytes', [[0x8a, 0]], 0],
    [
      'LONG1 of eight bytes, as C++ writes them',
      [[0x8a, 8, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]],
      -1,
    ],
    ['LONG1 of six bytes: an address', [[0x8a, 6, 0, 0, 0, 0x4c, 0x06, 0x7f]], 0x7f064c000000],
    ['LONG1 of six bytes, negative', [[0x8a, 6, 0, 0, 0, 0, 0, 0xff]], -(2 ** 40)],
    [
      'LONG1 of seven bytes: a time',
      [[0x8a, 7, 0x72, 0x11, 0x6f, 0x5f, 0xbf, 0x60, 0x06]],
      0x0660bf5f6f1172,
    ],
    [
      'LONG1 beyond 2^53 stays exact',
      [[0x8a, 9, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0]],
      2n ** 64n - 1n,
    ],
    ['LONG4', [[0x8b, 2, 0, 0, 0, 0, 1]], 256],
    ['text INT', ['I-12\n'], -12],
    ['text LONG', ['L18446744073709551615L\n'], 2n ** 64n - 1n],
    ['text INT 01 is True', ['I01\n'], true],
  ])('%s', (_, parts, value) => {
    expect(pickle(...parts, '.')).toBe(value);
  });
});

describe('values', () => {
  it.each([
    ['text strings with escapes', ["S'a\\n\\x41\\'b'\n."], "a\nA'b"],
    ['raw unicode escapes', ['V\\u00e9\\U0001F600\n.'], 'é😀'],
    ['text floats', ['F1.5\n.'], 1.5],
    ['BINFLOAT', ['G', [0x3f, 0xf8, 0, 0, 0, 0, 0, 0], '.'], 1.5],
    ['tuples', ['K', [1], 'K', [2], [0x86], '.'], [1, 2]],
    ['empty tuples', [').'], []],
    ['LIST from a mark', ['(K', [7], 'l.'], [7]],
    ['DICT from a mark', ['(', 'U', [1], 'k', 'K', [7], 'd.'], new Map([['k', 7]])],
    [
      'SETITEM by SETITEM',
      ['}', 'U', [1], 'a', 'K', [1], 's', 'U', [1], 'b', 'K', [2], 's.'],
      new Map([
        ['a', 1],
        ['b', 2],
      ]),
    ],
    [
      'a dictionary key __proto__',
      ['}', 'U', [9], '__proto__', 'K', [1], 's.'],
      new Map([['__proto__', 1]]),
    ],
    [
      'a list named twice from the memo',
      [']', 'q', [0], 'K', [5], 'a', 'h', [0], [0x86], '.'],
      [[5], [5]],
    ],
    ['NULs after STOP', ['K', [3], '.', [0, 0, 0]], 3],
    ['POP and POP_MARK', ['K', [1], '(', 'K', [2], '1', 'K', [3], '0.'], 1],
  ])('%s', (_, parts, value) => {
    expect(pickle(...parts)).toEqual(value);
  });

  it('reads what was written, however the bytes are split', () => {
    const value = fc.letrec<{ value: PickleValue }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        fc.boolean(),
        fc.maxSafeInteger(),
        fc.string({ unit: 'grapheme' }),
        fc.array(tie('value'), { maxLength: 4 }),
        fc.dictionary(fc.string(), tie('value'), { maxKeys: 4 }),
      ),
    })).value;
    fc.assert(
      fc.property(value, fc.integer({ min: 1, max: 40 }), (written, chunk) => {
        expect(decode(writePickle(written), chunk)).toEqual(asMaps(written));
      }),
    );
  });
});

/** Dictionaries as the machine returns them. */
function asMaps(value: PickleValue): unknown {
  if (Array.isArray(value)) return value.map(asMaps);
  if (typeof value !== 'object') return value;
  return new Map(Object.entries(value).map(([key, item]) => [key, asMaps(item)]));
}

describe('broken and hostile pickles', () => {
  it.each([
    ['a byte that is no opcode', [[0x80, 4], [0xff]], 'corrupt', 2],
    ['a memo slot never filled', ['h', [9], '.'], 'corrupt', 0],
    ['a memo slot out of range', ['K', [1], 'r', [0xff, 0xff, 0xff, 0x7f], '.'], 'corrupt', 2],
    ['SETITEMS without a mark', ['}u.'], 'corrupt', 1],
    ['a key without a value', ['}(', 'K', [1], 'u.'], 'corrupt', 4],
    ['APPEND to a number', ['K', [1], 'K', [2], 'a.'], 'corrupt', 4],
    ['two values at STOP', ['K', [1], 'K', [2], '.'], 'corrupt', 4],
    ['nothing at STOP', ['.'], 'corrupt', 0],
    ['an announced string of 8 GB', ['X', [0xff, 0xff, 0xff, 0xff], 'abc'], 'corrupt', 0],
    ['protocol 9', [[0x80, 9], '.'], 'unknown-protocol', 0],
    ['an end before STOP', [[0x80, 4], 'K'], 'truncated', 3],
  ])('%s', (_, parts, code, byte) => {
    expect(() => pickle(...parts)).toThrow(LoadError);
    try {
      pickle(...parts);
    } catch (error) {
      expect(error instanceof LoadError && error.failure).toMatchObject({ code, byte });
    }
  });

  it.each([1000, 2 ** 18, 2 ** 20])(
    'runs no code, and names it and its byte, %i bytes at a time',
    (chunk) => {
      const nothing = 'N0'.repeat(300_000);
      const { machine } = decoded(join(nothing, 'cos\nsystem\n(U\x04truetR.'), chunk);
      expect([...machine.callables]).toEqual(['os.system']);
      expect(machine.codeAt).toBe(nothing.length);
    },
  );

  it.each([
    ['an object is its attributes', ['cm\nA\n)', [0x81], '}(U\x01aK\x07ub.'], { a: 7 }],
    ['an object in itself is empty there', ['cm\nA\n)', [0x81], 'q\0}(U\x01ah\0ub.'], { a: {} }],
    ['an object may have items', ['cm\nA\n)', [0x81], 'U\x01aK\x07s.'], { a: 7 }],
    ['an OrderedDict', ['ccollections\nOrderedDict\n)R(U\x01aK\x07u.'], { a: 7 }],
    ['a set of protocol 2', ['c__builtin__\nset\n](K\x07e', [0x85], 'R.'], [7]],
    ['a set of protocol 4', [[0x8f], '(K\x07', [0x90], '.'], [7]],
    ['a dictionary in itself is empty there', ['}q\0(U\x01ah\0U\x01bK\x07u.'], { a: {}, b: 7 }],
    ['bytes in a buffer are nothing', [[0x97, 0x98], '.'], undefined],
    ['a persistent id is an empty object', ['U\x01xQ.'], {}],
    ['DUP', ['K\x072', [0x86], '.'], [7, 7]],
  ])('%s', (_, parts, value) => {
    expect(pickle(...parts)).toEqual(Array.isArray(value) ? value : asMaps(value as PickleValue));
  });

  it('ignores items added to a list after its use', () => {
    const { machine, value } = decoded(join(']', 'q', [0], 'h', [0], 'a.'));
    expect([value, machine.lateItems]).toEqual([[], 1]);
  });

  it('does not expand shared lists', () => {
    // 60 levels, each a list that holds the one below twice: 2^60 values.
    const level = (i: number) => Array.from(join('](', 'h', [i], 'h', [i], 'e', 'q', [i + 1], '0'));
    const levels = Array.from({ length: 60 }, (_, i) => level(i));
    const value = pickle(']', 'q', [0], '0', ...levels, 'h', [60], '.');
    expect(JSON.stringify(value).length).toBeLessThan(10_000);
  });

  it('survives 100,000 nested lists', () => {
    expect(() => pickle(']'.repeat(100_000), 'a'.repeat(99_999), '.')).not.toThrow();
  });
});
