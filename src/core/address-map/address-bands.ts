/**
 * Rectangles drawn over the finished address map: what is selected, and what a finding speaks of.
 *
 *   selected   outline in black or white, and a fill half way to it
 *   block      outline alone: the block keeps its colour
 *   gap        outline, and a tint of a quarter
 */
import { lowerBound } from '../base/binary-search.ts';
import { contrastColor, halfway } from '../raster/colors.ts';
import type { Palette, Viewport } from '../raster/types.ts';
import type { EventIndex } from '../snapshot/tables.ts';

/** A rectangle to mark: offsets in the packed order, states from `from` to `to`, excluded. */
export interface AddressBand {
  readonly offset: number;
  readonly bytes: number;
  readonly from: EventIndex;
  readonly to: EventIndex;
  /** Without one it is drawn as what is selected. */
  readonly style?: MarkStyle;
}

export type MarkStyle = 'block' | 'gap';
/** Colours of the outlines; without them all are black or white. */
export type MarkColors = Readonly<Record<MarkStyle, number>>;

/** Columns or rows from `from` to `to`, excluded. */
interface Span {
  readonly from: number;
  readonly to: number;
}

/**
 * Draws bands over each other, the first lowest.
 * @param states of the columns, -1 outside of the trace
 */
export function drawBands(
  bands: readonly AddressBand[],
  states: Int32Array,
  viewport: Viewport,
  { background, marks }: Palette & { readonly marks?: MarkColors },
  pixels: Uint32Array,
): void {
  const trace = traceOf(states);
  const line = contrastColor(background);
  for (const band of bands) {
    const columns: Span = {
      from: lowerBound(states, band.from, trace.from, trace.to),
      to: lowerBound(states, band.to, trace.from, trace.to),
    };
    const color = band.style === undefined ? line : (marks?.[band.style] ?? line);
    drawRectangle(columns, rowsOf(band, viewport), band.style, color, viewport, pixels);
  }
}

function traceOf(states: Int32Array): Span {
  let from = 0;
  while (from < states.length && states[from] < 0) from++;
  let to = states.length;
  while (to > from && states[to - 1] < 0) to--;
  return { from, to };
}

/** Rows from the bottom, one at least; not clipped. */
function rowsOf({ offset, bytes }: AddressBand, { y0, y1, height }: Viewport): Span {
  const rowsPerByte = height / (y1 - y0);
  const bottom = (offset - y0) * rowsPerByte;
  const top = (offset + bytes - y0) * rowsPerByte;
  const from = Math.ceil(bottom - 0.5);
  const to = Math.ceil(top - 0.5);
  if (from < to) return { from, to };
  const middle = Math.floor((bottom + top) / 2);
  return { from: middle, to: middle + 1 };
}

/** A side that lies at the frame's side has no line: beyond it the rectangle may go on. */
function drawRectangle(
  columns: Span,
  rows: Span,
  style: MarkStyle | undefined,
  color: number,
  { width, height }: Viewport,
  pixels: Uint32Array,
): void {
  const left = columns.from === 0 ? -1 : columns.from;
  const right = columns.to === width ? -1 : columns.to - 1;
  const top = Math.min(height, rows.to);
  for (let row = Math.max(0, rows.from); row < top; row++) {
    const base = (height - 1 - row) * width;
    const [from, to] = [base + columns.from, base + columns.to];
    if (row === rows.from || row === rows.to - 1) {
      pixels.fill(color, from, to);
      continue;
    }
    if (style !== 'block') fill(pixels, from, to, color, style);
    if (left >= 0 && left < columns.to) pixels[base + left] = color;
    if (right >= columns.from) pixels[base + right] = color;
  }
}

function fill(
  pixels: Uint32Array,
  from: number,
  to: number,
  color: number,
  style: MarkStyle | undefined,
): void {
  for (let at = from; at < to; at++) {
    const half = halfway(pixels[at], color);
    pixels[at] = style === 'gap' ? halfway(pixels[at], half) : half;
  }
}
