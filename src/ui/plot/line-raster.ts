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
  /** A column stands for many events: the line goes up and down in all of them, and would hide the stack behind it. */
  readonly isDense: boolean;
}

/** @param values highest value of each column; NaN outside the trace */
export function drawLine(
  pixels: Uint32Array,
  viewport: Viewport,
  values: Float64Array,
  style: LineStyle,
): void {
  const rows = rowsOf(viewport, values);
  const { halo, thickness } = style;
  // Viewports have several shapes, and the browser would compile the loops again for each.
  const size = { width: viewport.width, height: viewport.height };
  // Draw the whole halo first: column by column, it would cut the line to its left.
  paintRuns(pixels, size, rows, { ...style, color: halo, thickness: thickness + 2 });
  paintRuns(pixels, size, rows, style);
}

/** Row of each value, 0 on top, rounded towards more bytes; NaN without a value. May lie outside the frame. */
function rowsOf({ height, y0, y1 }: Viewport, values: Float64Array): Float64Array {
  return values.map((value) =>
    Number.isNaN(value) ? Number.NaN : Math.floor(height - ((value - y0) / (y1 - y0)) * height),
  );
}

/** Opacity of a vertical run drawn as a veil. */
const VEIL = 0.3;

/** Joins values with the line itself, but those of a dense line with a veil that the stack shows through. */
function paintRuns(
  pixels: Uint32Array,
  { width, height }: Pick<Viewport, 'width' | 'height'>,
  rows: Float64Array,
  { color, halo, thickness, dash, isDense }: LineStyle,
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
    const first = Math.max(0, (isDense ? row : from) - before);
    const last = Math.min(height, (isDense ? row : to) + after);
    for (let at = first; at < last; at++) pixels[at * width + column] = color;
    // A halo along a veil would hide what shows through it.
    if (!isDense || color === halo) continue;
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
