import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { addTerm, hasTerm, parseSearch, removeTerm, toggleTerm } from './parse-search.ts';
import { frameTerm, frameText, quoteText, searchTerm, sizeTerms } from './qualifier.ts';

const read = (text: string) =>
  parseSearch(text).terms.map(({ kind, comparison, value }) => [kind, comparison, value]);

const MI = 2 ** 20;

describe('terms', () => {
  test.each([
    ['attention', 'word', 'attention'],
    ['at::native::mm', 'word', 'at::native::mm'],
    ['"two words"', 'quoted', 'two words'],
    ['"a \\"b\\" \\\\ C:\\d"', 'quoted', 'a "b" \\ C:\\d'],
    ['/mul|add/', 'regex', 'mul|add'],
    ['/mul add/', 'regex', 'mul add'],
    ['/a\\/b/', 'regex', 'a\\/b'],
    ['/home/me/train.py', 'word', '/home/me/train.py'],
    ['/home/me/', 'regex', 'home/me'],
    ['//', 'word', '//'],
    ['0x7f00', 'word', '0x7f00'],
    ['b7f064c000000_12', 'word', 'b7f064c000000_12'],
    ['size>64MiB', 'size', '64MiB', '>'],
    ['size<=1.5G', 'size', '1.5G', '<='],
    ['size:512', 'size', '512'],
    ['age>1000', 'age', '1000', '>'],
    ['AGE>=2.5s', 'age', '2.5s', '>='],
    ['age<3min', 'age', '3min', '<'],
    ['stream:3', 'stream', '3'],
    ['stream:0x55d0c0de', 'stream', '0x55d0c0de'],
    ['pool:private', 'pool', 'private'],
    ['pool:"(1, 0)"', 'pool', '(1, 0)'],
    ['state:Pending', 'state', 'Pending'],
    ['state=live', 'state', 'live'],
    ['frame:"f@a b.py:12"', 'frame', 'f@a b.py:12'],
    ['site:b7f064c000000_0', 'site', 'b7f064c000000_0'],
    ['phase:forward', 'phase', 'forward'],
    ['class:grad', 'class', 'grad'],
    ['category:""', 'category', ''],
    ['compile:"Region: 0/0"', 'compile', 'Region: 0/0'],
  ])('%s', (text, kind, value, comparison = '=') => {
    expect(read(text)).toEqual([[kind, comparison, value]]);
    const negated = parseSearch(`  -${text} `).terms;
    expect(negated).toEqual([
      { text: `-${text}`, at: 2, isNegated: true, kind, comparison, value },
    ]);
  });

  test('are separated by any white space, and know their position', () => {
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

describe('invalid searches', () => {
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
  ])('%j may become valid by typing on: %j', (text, isUnfinished) => {
    expect(parseSearch(text).problem?.isUnfinished).toBe(isUnfinished);
  });

  test('any text is parsed, or refused at a position inside it', () => {
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
    '100 kB of %j are parsed quickly',
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

  test('are parsed back as meant', () => {
    fc.assert(
      fc.property(texts, texts, fc.nat(9999), (a, b, line) => {
        const frame = { name: a, filename: b, line };
        expect(read(quoteText(a))).toEqual([['quoted', '=', a]]);
        expect(read(frameTerm(frame))).toEqual([['frame', '=', frameText(frame)]]);
        for (const kind of ['phase', 'category', 'compile', 'holder']) {
          expect(read(searchTerm(kind, a))).toEqual([[kind, '=', a]]);
        }
      }),
    );
    expect(read(searchTerm('pool', '(3, 7)'))).toEqual([['pool', '=', '(3, 7)']]);
    expect(read(sizeTerms(MI, Infinity))).toEqual([['size', '>=', `${MI}`]]);
    expect(sizeTerms(0, 512)).toBe('size<512');
  });

  test('are added once, and removed', () => {
    fc.assert(
      fc.property(texts, texts, (a, b) => {
        fc.pre(a !== b);
        const search = quoteText(a);
        const both = addTerm(search, searchTerm('phase', b));
        expect(hasTerm(both, searchTerm('phase', b))).toBe(true);
        expect(hasTerm(search, searchTerm('phase', b))).toBe(false);
        expect(addTerm(both, searchTerm('phase', b))).toBe(both);
        expect(removeTerm(both, searchTerm('phase', b))).toBe(search);
        expect(toggleTerm(toggleTerm(search, 'state:live'), 'state:live')).toBe(search);
      }),
    );
    expect(removeTerm('"open', 'a')).toBe('"open');
    expect(addTerm('', 'a')).toBe('a');
  });
});
