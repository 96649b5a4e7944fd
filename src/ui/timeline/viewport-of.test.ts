import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DEFAULT_VIEW } from '../../state/view-store.ts';
import { deviceInfo, NO_PEAKS } from '../../testing/device-info.ts';
import { extentOf, rangeX, rangeY, viewportOf } from './viewport-of.ts';

const SIZE = { width: 1000, height: 500 };
const device = deviceInfo({
  events: 12_345,
  peaks: {
    ...NO_PEAKS,
    activeBytes: { bytes: 1_000_000, event: 3 },
    reservedBytes: { bytes: 4_000_000, event: 3 },
  },
});

describe('viewports', () => {
  it('shows all of the trace for "all", at any size', () => {
    fc.assert(
      fc.property(fc.integer({ min: 50, max: 4000 }), (width) => {
        const viewport = viewportOf(DEFAULT_VIEW, device, { width, height: 500 });
        expect(viewport.x0).toBe(0);
        expect(viewport.x1).toBeGreaterThanOrEqual(device.events);
        expect(rangeX(viewport, extentOf(device, 'event'))).toBe('all');
      }),
    );
  });

  it('fits to the lines that are drawn', () => {
    const withReserved = viewportOf(DEFAULT_VIEW, device, SIZE);
    const without = viewportOf({ ...DEFAULT_VIEW, lines: ['activeBytes'] }, device, SIZE);
    expect(withReserved.y1).toBeGreaterThan(4_000_000);
    expect(without.y1).toBeGreaterThan(1_000_000);
    expect(without.y1).toBeLessThan(1_200_000);
  });

  it('comes back from the range it was kept as', () => {
    const range = fc.tuple(fc.nat(12_000), fc.integer({ min: 5, max: 12_000 }));
    fc.assert(
      fc.property(range, ([from, length]) => {
        const x = { from, to: from + length };
        const once = viewportOf({ ...DEFAULT_VIEW, x }, device, SIZE);
        const kept = { x: rangeX(once, extentOf(device, 'event')), y: rangeY(once) };
        expect(viewportOf({ ...DEFAULT_VIEW, ...kept }, device, SIZE)).toEqual(once);
      }),
    );
  });

  it('makes the best of a range that is not in the trace', () => {
    const x = { from: 1e9, to: 2e9 };
    const viewport = viewportOf({ ...DEFAULT_VIEW, x }, device, SIZE);
    expect(viewport.x1).toBeGreaterThanOrEqual(device.events);
    expect(viewport.x0).toBeGreaterThanOrEqual(0);
  });
});
