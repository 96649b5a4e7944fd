import { describe, expect, it } from 'vitest';
import type { Viewport } from '../../draw/timeline/types.ts';
import { drawLine, type LineStyle } from './line-raster.ts';

const STYLE: LineStyle = { color: 2, halo: 1, thickness: 1, dash: undefined, isDense: false };

/** One letter per pixel: '#' line, '+' halo, '~' a veil, '.' untouched. */
function draw(values: readonly number[], height: number, style: LineStyle = STYLE): string[] {
  const width = values.length;
  const viewport: Viewport = { axis: 'event', x0: 0, x1: width, y0: 0, y1: height, width, height };
  const pixels = new Uint32Array(width * height);
  drawLine(pixels, viewport, Float64Array.from(values), style);
  return Array.from({ length: height }, (_, row) =>
    Array.from(
      pixels.subarray(row * width, (row + 1) * width),
      (pixel) => '.+#'[pixel] ?? '~',
    ).join(''),
  );
}

describe('counter lines', () => {
  it('runs one pixel above the value, haloed', () => {
    expect(draw([2, 2, 2], 5)).toEqual(['...', '...', '+++', '###', '+++']);
  });

  it('joins steps by vertical runs', () => {
    expect(draw([1, 4], 6).map((row) => row.replaceAll('+', '.'))).toEqual([
      '..',
      '..',
      '.#',
      '.#',
      '.#',
      '##',
    ]);
  });

  it('draws nothing without a value, and starts again after it', () => {
    const rows = draw([1, Number.NaN, 3], 5).map((row) => row.replaceAll('+', '.'));
    expect(rows).toEqual(['...', '...', '..#', '...', '#..']);
  });

  it('does not touch the frame for values far outside of it', () => {
    expect(draw([1000, -1000, 1000], 2).join('')).not.toContain(undefined);
    expect(draw([1000, 1000], 2)).toEqual(['..', '..']);
  });

  it('has the value of each column if columns stand for many events, however narrow a dip is', () => {
    const values = [7, 2, 7, 2, 2, 7, 7];
    const rows = draw(values, 10, { ...STYLE, isDense: true });
    expect(values.map((_, column) => 10 - rows.findIndex((row) => row[column] === '#'))).toEqual(
      values,
    );
  });

  it('lets the stack show through where it goes up and down in every column', () => {
    const [width, height] = [40, 30];
    const viewport: Viewport = { axis: 'event', x0: 0, x1: 1, y0: 0, y1: 30, width, height };
    const stack = 0xff00ff00;
    const pixels = new Uint32Array(width * height).fill(stack);
    const values = Float64Array.from({ length: width }, (_, i) => (i % 8 === 0 ? 28 : 4));
    drawLine(pixels, viewport, values, { ...STYLE, color: 0xff0000ff, isDense: true });
    const green = pixels.filter((pixel) => ((pixel >>> 8) & 255) > 127).length;
    expect(green / pixels.length).toBeGreaterThan(0.8);
  });

  it('leaves gaps in a dashed line', () => {
    const rows = draw([1, 1, 1, 1], 3, { ...STYLE, dash: [2, 2] });
    expect(rows[2]).toBe('##..');
  });
});
