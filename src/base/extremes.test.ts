import { expect, test } from 'vitest';
import { highest, lowest } from './extremes.ts';

test('extremes of more values than a function takes arguments', () => {
  const values = Float64Array.from({ length: 300_000 }, (_, i) => Math.abs(i - 200_000));
  expect([lowest(values), highest(values)]).toEqual([0, 200_000]);
  expect(() => Math.max(...values)).toThrow(RangeError);
});

test('extremes of nothing lie beyond all numbers', () => {
  expect([lowest([]), highest([])]).toEqual([Infinity, -Infinity]);
});
