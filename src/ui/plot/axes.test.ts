import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findTimeFolds, foldTime, NO_FOLDS, unfoldTime } from '../../device/model/events.ts';
import { byteTicks, eventTicks, foldsInView, timeTicks } from './axes.ts';

const GIB = 1024 ** 3;
const labels = (ticks: readonly { readonly label: string }[]) => ticks.map(({ label }) => label);

describe('byte ticks', () => {
  it('goes in round binary steps', () => {
    expect(labels(byteTicks(0, 6.3 * GIB, 8))).toEqual([
      '0',
      '1 GiB',
      '2 GiB',
      '3 GiB',
      '4 GiB',
      '5 GiB',
      '6 GiB',
    ]);
  });

  it('says halves and quarters in the large unit, finer steps in the next', () => {
    expect(labels(byteTicks(GIB, 2 * GIB, 4))).toContain('1.25 GiB');
    expect(labels(byteTicks(0, 2 * GIB, 8))).toContain('256 MiB');
    expect(labels(byteTicks(GIB, GIB + 2 ** 22, 4))).toContain('1,025 MiB');
  });

  it('stays within the range, ordered, with labels that differ, and not too many', () => {
    const span = fc.integer({ min: 1024, max: 2 ** 45 });
    const start = fc.integer({ min: 0, max: 2 ** 45 });
    fc.assert(
      fc.property(start, span, fc.integer({ min: 2, max: 12 }), (y0, height, count) => {
        const found = byteTicks(y0, y0 + height, count);
        expect(found.length).toBeGreaterThan(0);
        expect(found.length).toBeLessThanOrEqual(count + 1);
        expect(found.every(({ value }) => value >= y0 && value <= y0 + height)).toBe(true);
        expect(new Set(labels(found)).size).toBe(found.length);
      }),
    );
  });
});

describe('x ticks', () => {
  it('has whole events only', () => {
    expect(labels(eventTicks(0, 3, 10))).toEqual(['0', '1', '2', '3']);
    expect(labels(eventTicks(0, 12_000, 4))).toContain('10,000');
  });

  it('says time in the unit of the step', () => {
    expect(labels(timeTicks(NO_FOLDS, 0, 3e6, 4))).toContain('1 s');
    expect(labels(timeTicks(NO_FOLDS, 1_000_000, 1_004_000, 4))).toContain('1,001 ms');
    expect(labels(timeTicks(NO_FOLDS, 0, 8, 4))).toContain('2 µs');
  });
});

describe('an axis of folded time', () => {
  // 10 ms of work, 9 s idle, 10 ms of work.
  const times = Float64Array.from({ length: 2000 }, (_, i) => i * 10 + (i < 1000 ? 0 : 9e6));
  const folds = findTimeFolds(times);
  const end = foldTime(folds, 9_019_990);

  it('says true times on both sides of the cut, in order, and none within', () => {
    const ticks = timeTicks(folds, 0, end, 8);
    const labels = ticks.map(({ label }) => label);
    expect(labels[0]).toBe('0');
    expect(labels.some((label) => /^9,01\d(\.\d+)? ms$/.test(label))).toBe(true);
    expect(ticks.map(({ value }) => value)).toEqual(
      ticks.map(({ value }) => value).toSorted((a, b) => a - b),
    );
    for (const { value } of ticks) {
      const timeUs = unfoldTime(folds, value);
      expect(timeUs < 9990.5 || timeUs > 9_009_999.5).toBe(true);
    }
  });

  it('marks the cut with how long nothing happened', () => {
    const marks = foldsInView(folds, 0, end, 1000);
    expect(marks).toHaveLength(1);
    expect(marks[0]?.idleUs).toBeCloseTo(9_000_010, 3);
    expect(foldsInView(folds, 0, 5000, 1000)).toHaveLength(0);
  });
});
