/**
 * Counter lines, written into a frame's pixels: one value per column, joined by vertical runs. Stroking a jagged path
 * of 1,440 points in a software canvas costs more than drawing the whole stack. This costs next to nothing, and lines
 * stretch with their frame.
 */
import type { Viewport } from '../../draw/timeline/types.ts';

export interface LineStyle {
  /** 0xAABBGGRR */
  readonly color: number;
  /** Color between the line and the stack behind it. */
  readonly halo: number;
  /** Device pixels. */
  readonly thickness: number;
  /** Columns drawn and skipped in turn; undefined for a solid line. */
  readonly dash: readonly [on: number, off: number] | undefined;
  /**
   * Columns on each side that a value covers if a column stands for many events: narrower dips disappear. 0 draws every
   * value.
   */
  readonly reach: number;
}

/** @param values highest value of each column; NaN outside the trace */
export function drawLine(
  pixels: Uint32Array,
  viewport: Viewport,
  values: Float64Array,
  style: LineStyle,
): void {
  const rows = envelope(rowsOf(viewport, values), style.reach);
  const { halo, thickness } = style;
  // Viewports have several shapes, and the browser would compile the loops again for each.
  const size = { width: viewport.width, height: viewport.height };
  // Draw the whole halo first: column by column, it would cut the line to its left.
  paintRuns(pixels, size, rows, { ...style, color: halo, thickness: thickness + 2 });
  paintRuns(pixels, size, rows, style);
}

/**
 * The rows without dips of up to 2 * reach columns. A trace with a peak in each of many steps goes up and down every
 * few columns, and that line would cover the stack behind it. Example with reach 1: heights 9 2 9 2 9 5 5 5 give 9 9 9
 * 9 9 5 5 5.
 */
function envelope(rows: Float64Array, reach: number): Float64Array {
  if (reach === 0) return rows;
  // Row 0 is on top. Each column takes the highest row near it; then the edges move back to where they were. Columns
  // beside the frame take part too: otherwise a peak near the edge would extend to the edge.
  const wide = Float64Array.from({ length: rows.length + 2 * reach }, (_, column) => {
    return extremeOf(rows, column - 2 * reach, column, Math.min);
  });
  return rows.map((row, column) =>
    Number.isNaN(row) ? row : extremeOf(wide, column, column + 2 * reach, Math.max),
  );
}

/** The minimum or maximum from one column to another, inclusive; ignores NaN. */
function extremeOf(
  values: Float64Array,
  from: number,
  to: number,
  extreme: (a: number, b: number) => number,
): number {
  let found = Number.NaN;
  const last = Math.min(values.length - 1, to);
  for (let at = Math.max(0, from); at <= last; at++) {
    const value = values[at] ?? Number.NaN;
    if (Number.isNaN(value)) continue;
    found = Number.isNaN(found) ? value : extreme(found, value);
  }
  return found;
}

/** Row of each value, 0 on top, rounded towards more bytes; NaN without a value. May lie outside the frame. */
function rowsOf({ height, y0, y1 }: Viewport, values: Float64Array): Float64Array {
  return values.map((value) =>
    Number.isNaN(value) ? Number.NaN : Math.floor(height - ((value - y0) / (y1 - y0)) * height),
  );
}

/** Opacity of a vertical run drawn as a veil. */
const VEIL = 0.3;

/** Joins values with the line itself, but values of an envelope with a veil that the stack shows through. */
function paintRuns(
  pixels: Uint32Array,
  { width, height }: Pick<Viewport, 'width' | 'height'>,
  rows: Float64Array,
  { color, halo, thickness, dash, reach }: LineStyle,
): void {
  const isVeiled = reach > 0;
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
    const first = Math.max(0, (isVeiled ? row : from) - before);
    const last = Math.min(height, (isVeiled ? row : to) + after);
    for (let at = first; at < last; at++) pixels[at * width + column] = color;
    // A halo along a veil would hide what shows through it.
    if (!isVeiled || color === halo) continue;
    for (let at = Math.max(0, from); at < Math.min(height, to); at++) {
      const pixel = at * width + column;
      if (at < first || at >= last) pixels[pixel] = blend(pixels[pixel] ?? 0, color, VEIL);
    }
  }
}

/** Mixes `share` of `over` into `under`, both 0xAABBGGRR. */
function blend(under: number, over: number, share: number): number {
  const part = (shift: number) => {
    const [a, b] = [(under >>> shift) & 255, (over >>> shift) & 255];
    return Math.round(a + (b - a) * share) << shift;
  };
  return (0xff000000 | part(16) | part(8) | part(0)) >>> 0;
}
