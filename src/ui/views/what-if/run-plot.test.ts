import fc from 'fast-check';
import { expect, it } from 'vitest';
import { cornersIn, partAt } from './run-plot.tsx';

it('cuts a curve at both ends of the window', () => {
  expect(cornersIn([0, 10, 20], Float64Array.of(5, 8), 4, 20)).toEqual([
    [4, 5],
    [10, 8],
    [20, 8],
  ]);
});

it('ends where the run ended', () => {
  expect(cornersIn([0, 10, 20], Float64Array.of(5, Number.NaN), 0, 20)).toEqual([
    [0, 5],
    [10, 5],
  ]);
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

it('has the highest value of every part that touches the window, and no other', () => {
  const curve = fc.array(fc.tuple(fc.nat(3), fc.nat(1000)), { minLength: 1, maxLength: 30 });
  fc.assert(
    fc.property(curve, fc.nat(60), fc.integer({ min: 1, max: 30 }), (parts, x0, width) => {
      const edges = [0];
      for (const [length] of parts) edges.push((edges.at(-1) ?? 0) + length);
      const values = Float64Array.from(parts, ([, value]) => value);
      const x1 = x0 + width;
      const shown = cornersIn(edges, values, x0, x1);
      const inside = [...values].filter((_, i) => {
        const [from = 0, to = 0] = edges.slice(i, i + 2);
        return from === to ? from >= x0 && from <= x1 : from < x1 && to > x0;
      });
      const highest = (some: readonly number[]) => Math.max(-1, ...some);
      const drawn = shown.map(([, y]) => y);
      expect(highest(drawn)).toBeGreaterThanOrEqual(highest(inside));
      for (const [x] of shown) {
        expect(x).toBeGreaterThanOrEqual(x0);
        expect(x).toBeLessThanOrEqual(x1);
      }
      expect(shown.map(([x]) => x)).toEqual(shown.map(([x]) => x).sort((a, b) => a - b));
    }),
  );
});
