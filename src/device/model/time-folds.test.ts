import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findTimeFolds, foldTime, NO_FOLDS, unfoldTime } from './events.ts';

/** Work at every 10 us, with gaps in between. */
const busy = (from: number, count: number) =>
  Array.from({ length: count }, (_, i) => from + i * 10);
const TIMES = Float64Array.from([
  ...busy(500, 1000),
  ...busy(9_000_500, 1000),
  ...busy(9_900_500, 1000),
]);

describe('idle gaps', () => {
  const folds = findTimeFolds(TIMES);

  it('are found, with their true times', () => {
    expect([...folds.fromUs]).toEqual([9990, 9_009_990]);
    expect([...folds.toUs]).toEqual([9_000_000, 9_900_000]);
  });

  it('are cut to a small share of the rest', () => {
    const end = foldTime(folds, 9_909_990);
    expect(end).toBeCloseTo(3 * 9990 + 2 * folds.cutUs, 6);
    expect(folds.cutUs).toBeLessThan(end / 100);
  });

  it('leave the time between them unchanged', () => {
    expect(foldTime(folds, 100)).toBe(100);
    expect(foldTime(folds, 9_000_300) - foldTime(folds, 9_000_200)).toBeCloseTo(100, 6);
  });

  it('are empty if nothing stands out, and without times', () => {
    expect(findTimeFolds(Float64Array.from(busy(0, 1000))).fromUs).toHaveLength(0);
    expect(findTimeFolds(undefined)).toBe(NO_FOLDS);
    expect(foldTime(NO_FOLDS, 42)).toBe(42);
    expect(unfoldTime(NO_FOLDS, 42)).toBe(42);
  });

  it('keep the order, and every position leads back to its time', () => {
    const time = fc.double({ min: 0, max: 9_909_990, noNaN: true });
    fc.assert(
      fc.property(time, time, (a, b) => {
        expect(unfoldTime(folds, foldTime(folds, a))).toBeCloseTo(a, 3);
        if (a < b) expect(foldTime(folds, a)).toBeLessThanOrEqual(foldTime(folds, b));
      }),
    );
  });
});

describe('the cut', () => {
  /** By its definition: a share of the axis as cut so far, round after round. */
  function plainCutUs(timeUs: readonly number[]): number {
    let foldedUs = (timeUs.at(-1) ?? 0) - (timeUs[0] ?? 0);
    for (let round = 0; round < 3; round++) {
      const cutUs = foldedUs / 200;
      foldedUs = 0;
      for (let i = 1; i < timeUs.length; i++) {
        foldedUs += Math.min(cutUs, timeUs[i] - timeUs[i - 1]);
      }
    }
    return foldedUs / 200;
  }

  it('is the same whether found in one pass or in many', () => {
    const stepUs = fc.oneof(fc.nat(50), fc.nat(5000), fc.nat(10_000_000));
    fc.assert(
      fc.property(fc.array(stepUs, { minLength: 1, maxLength: 300 }), (steps) => {
        let now = 0;
        const timeUs = [0, ...steps.map((step) => (now += step))];
        const { cutUs, fromUs, toUs } = findTimeFolds(Float64Array.from(timeUs));
        expect(cutUs).toBeCloseTo(plainCutUs(timeUs), 3);
        const gaps = steps.filter((step) => step > cutUs);
        expect([...toUs].map((to, i) => to - fromUs[i])).toEqual(gaps);
      }),
    );
  });
});
