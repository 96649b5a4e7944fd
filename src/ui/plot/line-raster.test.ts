import { describe, expect, it } from 'vitest';
import type { Viewport } from '../../core/raster/types.ts';
import { drawLine, type LineStyle } from './line-raster.ts';

const STYLE: LineStyle = { color: 2, halo: 1, thickness: 1, dash: undefined };

/** One letter a pixel: '#' line, '+' halo, '.' untouched. */
function draw(values: readonly number[], height: number, style: LineStyle = STYLE): string[] {
  const width = values.length;
  const viewport: Viewport = { axis: 'event', x0: 0, x1: width, y0: 0, y1: height, width, height };
  const pixels = new Uint32Array(width * height);
  drawLine(pixels, viewport, Float64Array.from(values), style);
  return Array.from({ length: height }, (_, row) =>
    Array.from(pixels.subarray(row * width, (row + 1) * width), (pixel) => '.+#'[pixel]).join(''),
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

  it('draws nothing where there is no value, and begins anew after it', () => {
    const rows = draw([1, Number.NaN, 3], 5).map((row) => row.replaceAll('+', '.'));
    expect(rows).toEqual(['...', '...', '..#', '...', '#..']);
  });

  it('leaves the frame alone for values far outside of it', () => {
    expect(draw([1000, -1000, 1000], 2).join('')).not.toContain(undefined);
    expect(draw([1000, 1000], 2)).toEqual(['..', '..']);
  });

  it('leaves gaps in a dashed line', () => {
    const rows = draw([1, 1, 1, 1], 3, { ...STYLE, dash: [2, 2] });
    expect(rows[2]).toBe('##..');
  });
});
