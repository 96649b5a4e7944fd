import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Viewport } from './types.ts';
import {
  axisExtent,
  clampViewport,
  type Extent,
  fitViewport,
  panBy,
  snapToColumns,
  zoomToRange,
  zoomXAt,
  zoomYAt,
} from './viewport.ts';

const BIG: Extent = { x: 5_700_000, y: 8e10 };

const randomExtent = fc.record({
  x: fc.oneof(
    fc.integer({ min: 1, max: 30_000_000 }),
    fc.double({ min: 1, max: 1e12, noNaN: true }),
  ),
  y: fc.integer({ min: 1, max: 2 ** 40 }),
});
const randomWidth = fc.integer({ min: 1, max: 3840 });

/** A user's moves: up to 20 wheel turns and drags. */
const randomMoves = fc.array(
  fc.record({
    kind: fc.constantFrom('zoomX', 'zoomY', 'pan', 'range'),
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    factor: fc.double({ min: 0.1, max: 10, noNaN: true }),
    by: fc.integer({ min: -3000, max: 3000 }),
  }),
  { maxLength: 20 },
);
type Move = { kind: string; at: number; factor: number; by: number };

function move(view: Viewport, { kind, at, factor, by }: Move, extent: Extent): Viewport {
  if (kind === 'zoomX') return zoomXAt(view, at, factor, extent);
  if (kind === 'zoomY') return zoomYAt(view, at, factor, extent);
  if (kind === 'pan') return panBy(view, by, by, extent);
  return zoomToRange(view, at * extent.x, (at * extent.x) / factor, extent);
}

describe('viewports', () => {
  test('stay inside the trace and on the grid, whatever is done to them', () => {
    fc.assert(
      fc.property(randomExtent, randomWidth, randomMoves, (extent, width, moves) => {
        let view = fitViewport('event', extent, width, 600);
        for (const next of moves) view = move(view, next, extent);
        const columnWidth = (view.x1 - view.x0) / width;
        expect(view.x0).toBeGreaterThanOrEqual(0);
        expect(view.x1).toBeGreaterThan(view.x0);
        expect(view.x1).toBeLessThan(Math.max(extent.x, width * columnWidth) + columnWidth);
        expect(view.y0).toBeGreaterThanOrEqual(0);
        expect(view.y1).toBeGreaterThan(view.y0);
        expect(snapToColumns(view, extent)).toEqual(view);
      }),
      { numRuns: 500 },
    );
  });

  test('have column edges that do not depend on where the view begins', () => {
    fc.assert(
      fc.property(randomExtent, randomWidth, randomMoves, (extent, width, moves) => {
        let view = fitViewport('event', extent, width, 600);
        for (const next of moves) view = move(view, next, extent);
        const panned = panBy(view, 3, 0, extent);
        const columnWidth = (view.x1 - view.x0) / width;
        expect((panned.x1 - panned.x0) / width).toBe(columnWidth);
        const by = (panned.x0 - view.x0) / columnWidth;
        expect(Number.isInteger(by)).toBe(true);
        const columns = Array.from({ length: Math.ceil((width - by) / 7) }, (_, i) => by + 7 * i);
        const isElsewhere = (column: number) =>
          panned.x0 + (column - by) * columnWidth !== view.x0 + column * columnWidth;
        expect(columns.filter(isElsewhere)).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });

  test('when fitted show the whole trace and little more', () => {
    fc.assert(
      fc.property(randomExtent, randomWidth, (extent, width) => {
        const view = fitViewport('time', extent, width, 600);
        expect(view.x0).toBe(0);
        expect(view.x1).toBeGreaterThanOrEqual(extent.x * (1 - 1e-6));
        expect(view.x1).toBeLessThanOrEqual(extent.x * 1.003);
        expect(view.y1).toBeGreaterThanOrEqual(extent.y);
      }),
      { numRuns: 300 },
    );
  });

  test('when zoomed keep what is under the pointer, within two columns', () => {
    let view = fitViewport('event', BIG, 1440, 600);
    const pointer = 0.3;
    for (let i = 0; i < 12; i++) {
      const under = view.x0 + pointer * (view.x1 - view.x0);
      view = zoomXAt(view, pointer, 1.5, BIG);
      const columnWidth = (view.x1 - view.x0) / view.width;
      const now = view.x0 + pointer * (view.x1 - view.x0);
      expect(Math.abs(now - under)).toBeLessThan(2 * columnWidth);
    }
    expect(view.x1 - view.x0).toBeCloseTo(BIG.x / 1.5 ** 12, -2);
  });

  test('when zoomed out again show everything', () => {
    const whole = fitViewport('event', BIG, 1440, 600);
    const near = zoomYAt(zoomXAt(whole, 0.9, 1000, BIG), 0.5, 100, BIG);
    expect(zoomYAt(zoomXAt(near, 0.1, 1e6, BIG), 0, 1e-9, BIG).y1).toBeCloseTo(whole.y1, 0);
    expect(zoomXAt(near, 0.1, 1e-6, BIG)).toMatchObject({ x0: whole.x0, x1: whole.x1 });
  });

  test('when panned to the right end show the last event', () => {
    const near = zoomXAt(fitViewport('event', BIG, 1440, 600), 0.5, 777, BIG);
    const end = panBy(near, 1e9, 0, BIG);
    expect(end.x1).toBeGreaterThanOrEqual(BIG.x);
    expect(panBy(end, 1, 0, BIG)).toEqual(end);
    expect(panBy(end, -1, 0, BIG).x0).toBeLessThan(end.x0);
  });

  test('when panned up move by rows and stop at the top', () => {
    const near = zoomYAt(fitViewport('event', BIG, 1440, 600), 0, 10, BIG);
    const up = panBy(near, 0, 6, BIG);
    expect(up.y0).toBeCloseTo((near.y1 - near.y0) / 100, 0);
    expect(panBy(near, 0, 1e9, BIG).y1).toBeCloseTo(BIG.y * 1.05, 0);
  });

  test('when zoomed to a range show it, and no more than exists', () => {
    const whole = fitViewport('event', BIG, 1440, 600);
    const range = zoomToRange(whole, 5000, 2000, BIG);
    expect(Math.abs(range.x0 - 2000)).toBeLessThan(5);
    expect(Math.abs(range.x1 - 5000)).toBeLessThan(10);
    expect(zoomToRange(whole, -1e9, 1e9, BIG)).toEqual(whole);
  });

  test('from a broken URL show the whole axis', () => {
    const view = { ...fitViewport('event', BIG, 1440, 600), x0: Number.NaN, y1: -5 };
    expect(clampViewport(view, BIG)).toMatchObject({ x0: 0, x1: BIG.x, y0: 0, y1: BIG.y * 1.05 });
  });

  test('by time end one microsecond after the last event', () => {
    expect(axisExtent('time', 7, 1500)).toBe(1501);
    expect(axisExtent('event', 7, 1500)).toBe(7);
    expect(axisExtent('event', 0, 0)).toBe(1);
  });
});
