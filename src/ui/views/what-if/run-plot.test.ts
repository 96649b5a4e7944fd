import { expect, it } from 'vitest';
import { partAt, stepsOf } from './run-plot.tsx';

it('holds the last value to the end of its part', () => {
  expect(stepsOf(Float64Array.of(5, 8))).toEqual([5, 8, 8]);
  expect(stepsOf(Float64Array.of())).toEqual([]);
});

it('ends where the run ended', () => {
  expect(stepsOf(Float64Array.of(5, Number.NaN))).toEqual([5, 5]);
});

it('says the part under a place, and none outside', () => {
  expect([-1, 0, 9.9, 10, 19, 20].map((x) => partAt([0, 10, 20], x))).toEqual([
    undefined,
    0,
    0,
    1,
    1,
    undefined,
  ]);
});
