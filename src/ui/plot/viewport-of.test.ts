import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findTimeFolds } from '../../device/model/events.ts';
import { DEFAULT_VIEW } from '../../state/view-store.ts';
import { deviceInfo } from '../../testing/device-info.ts';
import { extentOf, rangeX, viewportOf } from './viewport-of.ts';

const SIZE = { width: 1000, height: 500 };
const device = deviceInfo({ events: 12_345 });
const HEIGHTS = { reachBytes: 4_000_000, fittedBytes: 1_000_000 };

describe('viewports', () => {
  it('shows all of the trace for "all", at any size', () => {
    fc.assert(
      fc.property(fc.integer({ min: 50, max: 4000 }), (width) => {
        const viewport = viewportOf(DEFAULT_VIEW, device, HEIGHTS, { width, height: 500 });
        expect(viewport.x0).toBe(0);
        expect(viewport.x1).toBeGreaterThanOrEqual(device.events);
        expect(rangeX(viewport, extentOf(device, 'event', HEIGHTS), device)).toBe('all');
      }),
    );
  });

  it('fits to what is drawn, and can be moved as high as the plot reaches', () => {
    const { y1 } = viewportOf(DEFAULT_VIEW, device, HEIGHTS, SIZE);
    expect(y1).toBeGreaterThan(1_000_000);
    expect(y1).toBeLessThan(1_200_000);
    const y = { from: 3_000_000, to: 4_000_000 };
    expect(viewportOf({ ...DEFAULT_VIEW, y }, device, HEIGHTS, SIZE)).toMatchObject({
      y0: 3_000_000,
      y1: 4_000_000,
    });
  });

  it('is restored from the range it was kept as', () => {
    const range = fc.tuple(fc.nat(12_000), fc.integer({ min: 5, max: 12_000 }));
    fc.assert(
      fc.property(range, ([from, length]) => {
        const x = { from, to: from + length };
        const once = viewportOf({ ...DEFAULT_VIEW, x }, device, HEIGHTS, SIZE);
        const kept = {
          x: rangeX(once, extentOf(device, 'event', HEIGHTS), device),
          y: { from: once.y0, to: once.y1 },
        };
        expect(viewportOf({ ...DEFAULT_VIEW, ...kept }, device, HEIGHTS, SIZE)).toEqual(once);
      }),
    );
  });

  it('keeps true times if gaps are folded', () => {
    const times = Float64Array.from({ length: 2000 }, (_, i) => i + (i < 1000 ? 0 : 9e6));
    const folds = findTimeFolds(times);
    const idle = deviceInfo({ events: 2000, hasTime: true, durationUs: 9_001_999, folds });
    const view = { ...DEFAULT_VIEW, axis: 'time' as const, foldsGaps: true };
    const whole = viewportOf(view, idle, HEIGHTS, SIZE);
    expect(whole.axis).toBe('folded');
    expect(whole.x1).toBeLessThan(2100);
    const x = { from: 500, to: 9_001_500 };
    const part = viewportOf({ ...view, x }, idle, HEIGHTS, SIZE);
    const kept = rangeX(part, extentOf(idle, 'folded', HEIGHTS), idle);
    expect(kept).toEqual({ from: expect.closeTo(500, -1), to: expect.closeTo(9_001_500, -1) });
  });

  it('makes the best of a range that is not in the trace', () => {
    const x = { from: 1e9, to: 2e9 };
    const viewport = viewportOf({ ...DEFAULT_VIEW, x }, device, HEIGHTS, SIZE);
    expect(viewport.x1).toBeGreaterThanOrEqual(device.events);
    expect(viewport.x0).toBeGreaterThanOrEqual(0);
  });
});
