import fc from 'fast-check';
import { expect, test } from 'vitest';
import { memoryCurve } from './memory-chart.ts';

const replayOf = (values: readonly number[]) => ({
  fillCounter: (_: unknown, from: number, out: Float64Array) => {
    for (let i = 0; i < out.length; i++) out[i] = values[from + i];
  },
});

test('each column is the highest of its events', () => {
  const curve = memoryCurve(replayOf([1, 5, 2, 3]), 'activeBytes', 4, 2);
  expect([...curve]).toEqual([5, 3]);
});

test('fewer events than columns are stretched', () => {
  const curve = memoryCurve(replayOf([1, 5]), 'activeBytes', 2, 5);
  expect([...curve]).toEqual([1, 1, 1, 5, 5]);
});

test('no peak is lost, at any width', () => {
  const values = fc.array(fc.nat(1e6), { minLength: 1, maxLength: 300 });
  fc.assert(
    fc.property(values, fc.integer({ min: 1, max: 90 }), (counter, columns) => {
      const curve = memoryCurve(replayOf(counter), 'activeBytes', counter.length, columns);
      expect(Math.max(...curve)).toBe(Math.max(...counter));
    }),
  );
});

test('long traces are read in pieces', () => {
  const values = Float64Array.from({ length: 100_000 }, (_, i) => (i === 99_998 ? 7 : 1));
  const longest: number[] = [];
  const replay = {
    fillCounter: (_: unknown, from: number, out: Float64Array) => {
      longest.push(out.length);
      out.set(values.subarray(from, from + out.length));
    },
  };
  expect([...memoryCurve(replay, 'activeBytes', values.length, 1)]).toEqual([7]);
  expect(Math.max(...longest)).toBeLessThan(40_000);
});
