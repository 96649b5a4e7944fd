import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  clampPosition,
  contentPx,
  isScaled,
  lastPosition,
  mostVisibleRows,
  positionCentring,
  positionOf,
  positionShowing,
  ROW_HEIGHT_PX,
  rowForKey,
  type ScrollGeometry,
  scrollPx,
  scrollTopOf,
  visibleRows,
} from './table-scroll.ts';

/** What every browser allows: Firefox has the lowest limit, 17.9 million. */
const BROWSER_LIMIT_PX = 16_000_000;

const geometry: fc.Arbitrary<ScrollGeometry> = fc.record({
  rowCount: fc.oneof(fc.integer({ min: 1, max: 400 }), fc.integer({ min: 1, max: 30_000_000 })),
  bodyPx: fc.integer({ min: 1, max: 3000 }),
});
const placed = geometry.chain((g) =>
  fc.record({
    g: fc.constant(g),
    row: fc.nat(g.rowCount - 1),
    position: fc.double({ min: 0, max: lastPosition(g), noNaN: true }),
  }),
);

const isWhole = (g: ScrollGeometry, position: number, row: number): boolean =>
  row * ROW_HEIGHT_PX >= position &&
  (row + 1) * ROW_HEIGHT_PX <= position + Math.max(g.bodyPx, ROW_HEIGHT_PX);

describe('the scrollbar of a table', () => {
  it('never needs more height than browsers give', () => {
    fc.assert(fc.property(geometry, (g) => scrollPx(g) < BROWSER_LIMIT_PX));
  });

  it('can represent every position, and each of its places is one', () => {
    fc.assert(
      fc.property(placed, ({ g, position }) => {
        const back = positionOf(g, scrollTopOf(g, position));
        // Except within the pixel at either end, which counts as the end.
        const perPixel = contentPx(g) / scrollPx(g);
        expect(Math.abs(back - position)).toBeLessThanOrEqual(1.01 * Math.max(1, perPixel * 1.01));
      }),
    );
  });

  it('moves down as the rows move down', () => {
    const pair = geometry.chain((g) =>
      fc.tuple(
        fc.constant(g),
        fc.double({ min: 0, max: scrollPx(g), noNaN: true }),
        fc.double({ min: 0, max: scrollPx(g), noNaN: true }),
      ),
    );
    fc.assert(
      fc.property(pair, ([g, a, b]) => {
        const [upper, lower] = [Math.min(a, b), Math.max(a, b)];
        expect(positionOf(g, upper)).toBeLessThanOrEqual(positionOf(g, lower));
      }),
    );
  });

  it('shows the whole last row at its lower end, however the browser rounds', () => {
    fc.assert(
      fc.property(geometry, fc.double({ min: -0.9, max: 0.9, noNaN: true }), (g, rounding) => {
        const bottom = Math.max(0, scrollPx(g) - g.bodyPx);
        const position = positionOf(g, bottom === 0 ? 0 : bottom + rounding);
        expect(position).toBe(lastPosition(g));
        const { to } = visibleRows(g, position);
        expect(to).toBe(g.rowCount);
        // Its lower edge is at or above the body's.
        expect(contentPx(g) - position).toBeLessThanOrEqual(Math.max(g.bodyPx, contentPx(g)));
        expect(contentPx(g) - position <= g.bodyPx || position === 0).toBe(true);
      }),
    );
  });

  it('moves one to one while the rows fit in what browsers allow', () => {
    const g = { rowCount: 300_000, bodyPx: 600 };
    expect(isScaled(g)).toBe(false);
    expect(positionOf(g, 123_456)).toBeCloseTo(123_456, 6);
  });

  it('maps its middle to the middle row of ten million', () => {
    const g = { rowCount: 10_000_000, bodyPx: 600 };
    expect(isScaled(g)).toBe(true);
    expect(visibleRows(g, positionOf(g, (8_000_000 - 600) / 2)).from).toBe(4_999_988);
    expect(lastPosition(g)).toBe(259_999_400);
  });
});

describe('showing a row', () => {
  it('fully shows every row, from everywhere', () => {
    fc.assert(
      fc.property(placed, ({ g, row, position }) => {
        const shown = positionShowing(g, position, row);
        if (g.bodyPx >= ROW_HEIGHT_PX) expect(isWhole(g, shown, row)).toBe(true);
        expect(visibleRows(g, shown).from).toBeLessThanOrEqual(row);
        expect(visibleRows(g, shown).to).toBeGreaterThan(row);
      }),
    );
  });

  it('never shows more than there are elements for', () => {
    fc.assert(
      fc.property(placed, ({ g, position }) => {
        const { from, to } = visibleRows(g, position);
        expect(to - from).toBeLessThanOrEqual(mostVisibleRows(g));
      }),
    );
  });

  it('moves nothing if the row is already fully visible', () => {
    fc.assert(
      fc.property(placed, ({ g, row, position }) => {
        fc.pre(isWhole(g, position, row) && g.bodyPx >= ROW_HEIGHT_PX);
        // A row that is visible to the last bit may move by that bit.
        expect(positionShowing(g, position, row)).toBeCloseTo(position, 9);
      }),
    );
  });

  it('puts a row in the middle if there are rows around it', () => {
    const g = { rowCount: 10_000_000, bodyPx: 600 };
    const { from, to } = visibleRows(g, positionCentring(g, 5_000_000));
    expect((from + to) / 2).toBeCloseTo(5_000_000, -1);
    expect(positionCentring(g, 0)).toBe(0);
    expect(positionCentring(g, 9_999_999)).toBe(lastPosition(g));
  });
});

describe('moving by the wheel', () => {
  it('reaches the last row row by row from wherever the scrollbar was released', () => {
    const g = { rowCount: 30_000_000, bodyPx: 615 };
    let position = positionOf(g, scrollPx(g) - g.bodyPx - 2);
    let steps = 0;
    while (position < lastPosition(g)) {
      const next = clampPosition(g, position + ROW_HEIGHT_PX);
      expect(visibleRows(g, next).from - visibleRows(g, position).from).toBeLessThanOrEqual(1);
      position = next;
      steps++;
    }
    // Two pixels of this scrollbar are 195 pixels of rows.
    expect(steps).toBe(8);
  });
});

const G = { rowCount: 10_000_000, bodyPx: 600 };
const press = (key: string, active: number | undefined, g = G) =>
  rowForKey(key, active, g, 39.5 * ROW_HEIGHT_PX);

describe('keys in a table', () => {
  it('move by rows, by pages and to the very ends', () => {
    const rows = ['ArrowDown', 'ArrowUp', 'PageDown', 'PageUp', 'Home', 'End'].map((key) =>
      press(key, 50),
    );
    expect(rows).toEqual([51, 49, 72, 28, 0, 9_999_999]);
  });

  it('turn a page of at least one row, and keep one visible', () => {
    expect(press('PageDown', 50, { rowCount: 99, bodyPx: 10 })).toBe(51);
  });

  it('stop at the ends', () => {
    expect(press('ArrowUp', 0)).toBe(0);
    expect(press('PageDown', 9_999_990)).toBe(9_999_999);
  });

  it('begin at what is visible', () => {
    expect(press('ArrowDown', undefined)).toBe(40);
    expect(press('ArrowUp', undefined)).toBe(40);
  });

  it('lead nowhere in an empty table, nor do other keys', () => {
    expect(press('End', undefined, { rowCount: 0, bodyPx: 600 })).toBeUndefined();
    expect(press('x', 50)).toBeUndefined();
  });
});
