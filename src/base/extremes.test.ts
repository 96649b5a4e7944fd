import { expect, test } from 'vitest';
import { highest, lowest } from './extremes.ts';

test('extremes of more values than a function can take arguments', () => {
  const values = Float64Array.from({ length: 300_000 }, (_, i) => Math.abs(i - 200_000));
  expect([lowest(values), highest(values)]).toEqual([0, 200_000]);
  expect(() => Math.max(...values)).toThrow(RangeError);
});

test('extremes of nothing are infinite', () => {
  expect([lowest([]), highest([])]).toEqual([Infinity, -Infinity]);
});
