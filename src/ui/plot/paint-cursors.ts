/** The pinned event, the second one, and the stretch between them that is measured. */
import type { PlotStyle } from '../theme/plot-style.ts';
import { PILL_HEIGHT, paintPill } from './overlay-pill.ts';

/** An event's column in CSS pixels of the plot; may lie outside. */
export interface DrawnCursor {
  readonly left: number;
  readonly right: number;
}

export interface Cursors {
  readonly cursor: DrawnCursor | undefined;
  readonly mark: DrawnCursor | undefined;
}

interface Size {
  readonly width: number;
  readonly height: number;
}

const BETWEEN = 0.12;

export function paintCursors(
  context: CanvasRenderingContext2D,
  { cursor, mark }: Cursors,
  size: Size,
  style: PlotStyle,
): void {
  if (cursor !== undefined && mark !== undefined) {
    const [from, to] = cursor.left < mark.left ? [cursor, mark] : [mark, cursor];
    const left = Math.max(0, from.right);
    context.fillStyle = style.accent;
    context.globalAlpha = BETWEEN;
    context.fillRect(left, 0, Math.max(0, Math.min(size.width, to.left) - left), size.height);
    context.globalAlpha = 1;
  }
  // Alone, the cursor needs no name.
  if (mark !== undefined) paintCursor(context, mark, 'mark', style.dim, size, style);
  if (cursor !== undefined) {
    const name = mark === undefined ? '' : 'cursor';
    paintCursor(context, cursor, name, style.accent, size, style);
  }
}

function paintCursor(
  context: CanvasRenderingContext2D,
  { left, right }: DrawnCursor,
  name: string,
  color: string,
  { width, height }: Size,
  style: PlotStyle,
): void {
  if (right < 0 || left > width) return;
  const drawn = Math.max(1.5, right - left);
  context.fillStyle = color;
  // A wide event is outlined: filled it would hide its own picture.
  context.globalAlpha = drawn > 4 ? 0.18 : 0.9;
  context.fillRect(left, 0, drawn, height);
  context.globalAlpha = 1;
  const middle = left + drawn / 2;
  context.beginPath();
  context.moveTo(middle - 5, height);
  context.lineTo(middle + 5, height);
  context.lineTo(middle, height - 6);
  context.fill();
  if (name === '') return;
  const top = height - PILL_HEIGHT - 8;
  paintPill(context, name, { x: middle, top, width }, color, style.halo);
}
