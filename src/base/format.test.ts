import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  formatBytes,
  formatCount,
  formatCountCompact,
  formatDurationUs,
  formatExactBytes,
  formatPercent,
  parseBytes,
  plural,
} from './format.ts';

describe('bytes', () => {
  test.each([
    [0, '0 bytes'],
    [1, '1 byte'],
    [1023, '1,023 bytes'],
    [1024, '1.00 KiB'],
    [1536, '1.50 KiB'],
    [1_048_570, '1023.99 KiB'],
    [1_048_575, '1.00 MiB'],
    [2_201_170_944, '2.05 GiB'],
    [-512 * 2 ** 20, '-512.00 MiB'],
    [3 * 2 ** 50, '3.00 PiB'],
    [5000 * 2 ** 50, '5000.00 PiB'],
    [Number.NaN, 'unknown'],
  ])('%d is %s', (bytes, text) => expect(formatBytes(bytes)).toBe(text));

  test('titles keep every digit', () => {
    expect(formatExactBytes(2_201_170_944)).toBe('2,201,170,944 bytes');
    expect(formatExactBytes(1)).toBe('1 byte');
    expect(formatExactBytes(Number.NaN)).toBe('unknown');
  });

  test.each([
    ['16GiB', 16 * 2 ** 30],
    ['64 MiB', 64 * 2 ** 20],
    ['4Ki', 4096],
    ['1.5g', 1.5 * 2 ** 30],
    ['2TB', 2 * 2 ** 40],
    ['512', 512],
    ['512 bytes', 512],
    [' 7b ', 7],
  ])('%s is %d bytes', (text, bytes) => expect(parseBytes(text)).toBe(bytes));

  test.each(['', 'GiB', '-1', '1e3', '12 GiBs', '0x10', '1.2.3', '99999999PiB'])(
    'no size: %s',
    (text) => expect(parseBytes(text)).toBeUndefined(),
  );

  test('what is written can be read back, within the two decimals', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2 ** 48 }), (bytes) => {
        const back = parseBytes(formatBytes(bytes)) ?? Number.NaN;
        expect(Math.abs(back - bytes)).toBeLessThanOrEqual(Math.max(0, bytes * 0.00501));
      }),
    );
  });
});

test.each([
  [0, '0 µs'],
  [512, '512 µs'],
  [1234, '1.23 ms'],
  [2_050_000, '2.05 s'],
  [185_000_000, '3 min 05 s'],
  [7_380_000_000, '2 h 03 min'],
  [-1234, '-1.23 ms'],
  [Number.NaN, 'unknown'],
])('%d µs is %s', (us, text) => expect(formatDurationUs(us)).toBe(text));

test.each([
  [0, '0', '0'],
  [999, '999', '999'],
  [1000, '1,000', '1 k'],
  [12_345, '12,345', '12.3 k'],
  [999_600, '999,600', '1 M'],
  [1_902_331, '1,902,331', '1.9 M'],
  [22_000_000, '22,000,000', '22 M'],
  [-1234, '-1,234', '-1.2 k'],
  [Number.NaN, 'unknown', 'unknown'],
])('%d is %s and %s', (count, exact, compact) => {
  expect(formatCount(count)).toBe(exact);
  expect(formatCountCompact(count)).toBe(compact);
});

test('counts nouns', () => {
  expect(plural(1, 'step')).toBe('1 step');
  expect(plural(0, 'step')).toBe('0 steps');
  expect(plural(1000, 'entry', 'entries')).toBe('1,000 entries');
});

describe('shares', () => {
  test.each([
    [0, '0%', '0%', '0.0%'],
    [0.0004, '< 0.1%', '< 1%', '< 0.1%'],
    [0.004, '0.4%', '< 1%', '0.4%'],
    [0.4, '40%', '40%', '40.0%'],
    [0.996, '100%', '> 99%', '99.6%'],
    [1, '100%', '100%', '100.0%'],
    [Number.NaN, 'unknown', 'unknown', 'unknown'],
  ])('%d is %s, %s, %s', (share, short, whole, exact) => {
    expect([formatPercent(share), formatPercent(share, 0), formatPercent(share, 1)]).toEqual([
      short,
      whole,
      exact,
    ]);
  });
});
