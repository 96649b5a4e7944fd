import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MemoryClass } from '../classes/types.ts';
import { addTerm, hasTerm, parseSearch, removeTerm, toggleTerm } from './parse-search.ts';
import { quoteText, sizeTerms } from './qualifier.ts';
import { privatePoolTerm } from './qualifiers/figures.ts';
import { categoryTerm, compileTerm, phaseTerm } from './qualifiers/names.ts';
import { frameTerm, frameText } from './qualifiers/stacks.ts';
import type { Condition } from './types.ts';

const conditions = (text: string): Condition[] =>
  parseSearch(text).terms.map(({ condition }) => condition);

const MI = 2 ** 20;

describe('terms', () => {
  test.each<[string, Condition]>([
    ['attention', { kind: 'text', text: 'attention' }],
    ['at::native::mm', { kind: 'text', text: 'at::native::mm' }],
    ['"two words"', { kind: 'text', text: 'two words' }],
    ['"a \\"b\\" \\\\ C:\\d"', { kind: 'text', text: 'a "b" \\ C:\\d' }],
    ['/mul|add/', { kind: 'regex', source: 'mul|add' }],
    ['/mul add/', { kind: 'regex', source: 'mul add' }],
    ['/a\\/b/', { kind: 'regex', source: 'a\\/b' }],
    ['/home/me/train.py', { kind: 'text', text: '/home/me/train.py' }],
    ['/home/me/', { kind: 'regex', source: 'home/me' }],
    ['//', { kind: 'text', text: '//' }],
    ['0x7f00', { kind: 'address', addresses: [0x7f00n], orText: undefined }],
    ['7F064C000000', { kind: 'address', addresses: [0x7f064c000000n], orText: '7F064C000000' }],
    [
      'b7f064c000000',
      {
        kind: 'address',
        addresses: [0xb7f064c000000n, 0x7f064c000000n],
        orText: 'b7f064c000000',
      },
    ],
    ['deadbeef', { kind: 'text', text: 'deadbeef' }],
    ['b7f064c000000_12', { kind: 'allocation', label: 'b7f064c000000_12' }],
    ['s7f064c000000', { kind: 'segment', address: 0x7f064c000000n, nth: undefined }],
    ['s7f064c000000_1', { kind: 'segment', address: 0x7f064c000000n, nth: 1 }],
    ['size>64MiB', { kind: 'size', comparison: '>', bytes: 64 * MI }],
    ['size<=1.5G', { kind: 'size', comparison: '<=', bytes: 1536 * MI }],
    ['size:512', { kind: 'size', comparison: '=', bytes: 512 }],
    ['age>1000', { kind: 'age', comparison: '>', unit: 'events', value: 1000 }],
    ['AGE>=2.5s', { kind: 'age', comparison: '>=', unit: 'us', value: 2.5e6 }],
    ['age<3min', { kind: 'age', comparison: '<', unit: 'us', value: 180e6 }],
    ['stream:3', { kind: 'stream', stream: 3n }],
    ['stream:0x55d0c0de', { kind: 'stream', stream: 0x55d0c0den }],
    ['pool:private', { kind: 'pool', pool: 'private' }],
    ['pool:"(1, 0)"', { kind: 'pool', pool: [1, 0] }],
    ['state:Pending', { kind: 'state', state: 'pending' }],
    ['state=live', { kind: 'state', state: 'live' }],
    ['frame:"f@a b.py:12"', { kind: 'frame', frame: 'f@a b.py:12' }],
    ['site:b7f064c000000_0', { kind: 'site', label: 'b7f064c000000_0' }],
    ['phase:forward', { kind: 'phase', name: 'forward' }],
    ['class:optimizer', { kind: 'class', class: MemoryClass.OptimizerState }],
    ['class:grad', { kind: 'class', class: MemoryClass.Gradients }],
    ['category:""', { kind: 'category', name: '' }],
    ['compile:"Region: 0/0"', { kind: 'compile', name: 'Region: 0/0' }],
  ])('%s', (text, condition) => {
    expect(conditions(text)).toEqual([condition]);
    const negated = parseSearch(`  -${text} `).terms;
    expect(negated).toEqual([{ text: `-${text}`, at: 2, isNegated: true, condition }]);
  });

  test('stand apart by any blanks, and know where they stood', () => {
    const { terms } = parseSearch(' a\t-"b c"\n/d e/ size>1 ');
    expect(terms.map(({ text, at }) => [text, at])).toEqual([
      ['a', 1],
      ['-"b c"', 3],
      ['/d e/', 10],
      ['size>1', 16],
    ]);
  });

  test.each(['', ' ', '\n\t　'])('%j has none', (text) => {
    expect(parseSearch(text)).toEqual({ terms: [], problem: undefined });
  });
});

describe('what cannot be read', () => {
  test.each([
    ['a "open', 2, 5, 'not closed'],
    ['"a"b', 3, 1, 'Put a space after'],
    ['a ""', 2, 2, 'quotes are empty'],
    ['a - b', 2, 1, 'Put - before a term'],
    ['-', 0, 1, 'Put - before a term'],
    ['x size>', 2, 5, '"size>" is incomplete: size takes'],
    ['size>big', 0, 8, 'size>64MiB'],
    ['size>99999999999999999999', 0, 25, 'size>64MiB'],
    ['age>2 s age>x', 8, 5, 'age>2s'],
    ['stream:default', 0, 14, 'stream:0'],
    ['pool:huge', 0, 9, 'private'],
    ['state:alive', 0, 11, 'live, pending or freed'],
    ['state>live', 0, 10, 'state:live'],
    ['site:train.py', 0, 13, 'site:b7f064c000000_0'],
    ['frame:""', 0, 8, 'frame:"forward'],
    ['-size>', 1, 5, 'is incomplete'],
    ['a '.repeat(40), 64, 16, 'at most 32 terms'],
  ])('%j', (text, at, length, words) => {
    const { terms, problem } = parseSearch(text);
    expect(terms).toEqual([]);
    expect(problem).toMatchObject({ at, length });
    expect(problem?.message).toContain(words);
  });

  test.each([
    ['size>', true],
    ['a phase:"for', true],
    ['"a b', true],
    ['a -', true],
    ['state:l', true],
    ['size> a', false],
    ['- a', false],
    ['state:x a', false],
  ])('%j may still be typed on: %j', (text, isUnfinished) => {
    expect(parseSearch(text).problem?.isUnfinished).toBe(isUnfinished);
  });

  test('any text is read, or refused at a place inside it', () => {
    const pieces = fc.constantFrom(
      '"',
      '/',
      '-',
      '\\',
      ' ',
      'size',
      '>',
      ':',
      '=',
      'state',
      'b7',
      '_0',
    );
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.array(fc.oneof(pieces, fc.string())).map((parts) => parts.join('')),
    );
    fc.assert(
      fc.property(text, (search) => {
        const { terms, problem } = parseSearch(search);
        for (const term of terms) {
          expect(search.slice(term.at, term.at + term.text.length)).toBe(term.text);
        }
        if (problem === undefined) return;
        expect(problem.at).toBeGreaterThanOrEqual(0);
        expect(problem.length).toBeGreaterThan(0);
        expect(problem.at + problem.length).toBeLessThanOrEqual(search.length);
        expect(problem.message).not.toBe('');
      }),
    );
  });

  test.each(['x', '/', '"', '\\"', '-', ' a', '"a" ', '0', '[', 'size>'])(
    '100 kB of %j take no time',
    (piece) => {
      const text = piece.repeat(100_000 / piece.length);
      const begun = performance.now();
      parseSearch(text);
      parseSearch(`"${text}`);
      parseSearch(`/${text}/`);
      expect(performance.now() - begun).toBeLessThan(2000);
    },
  );
});

describe('written terms', () => {
  const texts = fc.oneof(
    fc.string({ unit: 'binary', minLength: 1 }),
    fc.constantFrom('"', '\\', '\\"', 'C:\\new\\"x"', ' ', '-a', '/a/', 'at::native<a, b>'),
  );

  test('are read back as what was meant', () => {
    fc.assert(
      fc.property(texts, texts, fc.nat(9999), (a, b, line) => {
        const frame = { name: a, filename: b, line };
        expect(conditions(quoteText(a))).toEqual([{ kind: 'text', text: a }]);
        expect(conditions(frameTerm(frame))).toEqual([{ kind: 'frame', frame: frameText(frame) }]);
        expect(conditions(phaseTerm(a))).toEqual([{ kind: 'phase', name: a }]);
        expect(conditions(categoryTerm(a))).toEqual([{ kind: 'category', name: a }]);
        expect(conditions(compileTerm(a))).toEqual([{ kind: 'compile', name: a }]);
      }),
    );
    expect(conditions(privatePoolTerm('(3, 7)'))).toEqual([{ kind: 'pool', pool: [3, 7] }]);
    expect(conditions(sizeTerms(MI, Infinity))).toEqual([
      { kind: 'size', comparison: '>=', bytes: MI },
    ]);
    expect(sizeTerms(0, 512)).toBe('size<512');
  });

  test('are added once, and taken away', () => {
    fc.assert(
      fc.property(texts, texts, (a, b) => {
        fc.pre(a !== b);
        const search = quoteText(a);
        const both = addTerm(search, phaseTerm(b));
        expect(hasTerm(both, phaseTerm(b))).toBe(true);
        expect(hasTerm(search, phaseTerm(b))).toBe(false);
        expect(addTerm(both, phaseTerm(b))).toBe(both);
        expect(removeTerm(both, phaseTerm(b))).toBe(search);
        expect(toggleTerm(toggleTerm(search, 'state:live'), 'state:live')).toBe(search);
      }),
    );
    expect(removeTerm('"open', 'a')).toBe('"open');
    expect(addTerm('', 'a')).toBe('a');
  });
});
