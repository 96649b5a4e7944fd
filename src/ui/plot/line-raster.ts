/**
 * Counter lines, written into a frame's pixels: one value a column, joined by vertical runs.
 *
 * Stroking a jagged path of 1,440 points in a software canvas costs more than drawing the whole
 * stack; this costs next to nothing, and a frame that is stretched takes its lines along.
 */
import type { Viewport } from '../../core/raster/types.ts';

export interface LineStyle {
  /** 0xAABBGGRR */
  readonly color: number;
  /** Between the line and what is behind it. */
  readonly halo: number;
  /** Device pixels. */
  readonly thickness: number;
  /** Columns drawn and left out in turn; undefined for a solid line. */
  readonly dash: readonly [on: number, off: number] | undefined;
}

/** @param values highest value of each column; NaN outside of the trace */
export function drawLine(
  pixels: Uint32Array,
  viewport: Viewport,
  values: Float64Array,
  style: LineStyle,
): void {
  const rows = rowsOf(viewport, values);
  // The halo first, all of it: drawn column by column it would cut the line before it.
  paintRuns(pixels, viewport, rows, style.halo, style.thickness + 2, style.dash);
  paintRuns(pixels, viewport, rows, style.color, style.thickness, style.dash);
}

/** Row of each value, 0 on top, rounded up to more bytes; -1 for none. May lie outside the frame. */
function rowsOf({ height, y0, y1 }: Viewport, values: Float64Array): Float64Array {
  return values.map((value) =>
    Number.isNaN(value) ? Number.NaN : Math.floor(height - ((value - y0) / (y1 - y0)) * height),
  );
}

function paintRuns(
  pixels: Uint32Array,
  { width, height }: Viewport,
  rows: Float64Array,
  color: number,
  thickness: number,
  dash: LineStyle['dash'],
): void {
  const before = (thickness - 1) >> 1;
  const after = thickness - before;
  const period = dash === undefined ? 1 : dash[0] + dash[1];
  const on = dash === undefined ? 1 : dash[0];
  let previous = Number.NaN;
  for (let column = 0; column < width; column++) {
    const row = rows[column] ?? Number.NaN;
    const from = Number.isNaN(previous) ? row : Math.min(previous, row);
    const to = Number.isNaN(previous) ? row : Math.max(previous, row);
    previous = row;
    if (Number.isNaN(row) || column % period >= on) continue;
    const first = Math.max(0, from - before);
    const last = Math.min(height, to + after);
    for (let at = first; at < last; at++) pixels[at * width + column] = color;
  }
}
