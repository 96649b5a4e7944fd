/** Paints over the picture: crosshair, cursors, markers, highlights, a range being drawn. */
import type { PlotStyle } from '../theme/palette.ts';
import type { Marker } from './event-marks.ts';
import type { Highlight } from './overlays.ts';

/** An event's column in CSS pixels of the plot; may lie outside. */
interface Column {
  readonly left: number;
  readonly right: number;
}

export interface DrawnHighlight extends Column, Pick<Highlight, 'style' | 'label' | 'isLight'> {}

/** All in CSS pixels of the plot. */
export interface OverlayScene {
  readonly width: number;
  readonly height: number;
  /** `label` is the axis value at its height. */
  readonly pointer: { readonly x: number; readonly y: number; readonly label: string } | undefined;
  readonly block: { readonly top: number; readonly bottom: number } | undefined;
  /** The pinned event, and the second one to measure from. */
  readonly cursor: Column | undefined;
  readonly secondCursor: Column | undefined;
  /** In order of `left`. */
  readonly highlights: readonly DrawnHighlight[];
  /** What the process could reserve; may lie above or below the plot. */
  readonly limit: { readonly y: number; readonly label: string } | undefined;
  readonly range: { readonly from: number; readonly to: number } | undefined;
  readonly markers: readonly Pick<Marker, 'kind' | 'x'>[];
}

/** Below the bars of highlights: a fitted plot leaves that space above its peak. */
const MARKER_TOP = 5;
const PILL_HEIGHT = 15;

export function paintOverlay(
  context: CanvasRenderingContext2D,
  scene: OverlayScene,
  style: PlotStyle,
): void {
  new OverlayPainter(context, scene, style).paint();
}

class OverlayPainter {
  readonly #context: CanvasRenderingContext2D;
  readonly #scene: OverlayScene;
  readonly #style: PlotStyle;

  constructor(context: CanvasRenderingContext2D, scene: OverlayScene, style: PlotStyle) {
    this.#context = context;
    this.#scene = scene;
    this.#style = style;
  }

  paint(): void {
    const { width, height, limit, range, pointer } = this.#scene;
    this.#context.clearRect(0, 0, width, height);
    this.#context.font = '11px system-ui, sans-serif';
    this.#context.textBaseline = 'middle';
    if (limit !== undefined) this.#limit(limit);
    this.#highlights();
    for (const marker of this.#scene.markers) this.#marker(marker);
    this.#cursors();
    if (range !== undefined) this.#range(range);
    if (pointer !== undefined) this.#crosshair(pointer);
  }

  /**
   * A line with its name in the middle, away from highlights and OOMs. If it is above the plot, only the name with an
   * arrow.
   */
  #limit({ y, label }: NonNullable<OverlayScene['limit']>): void {
    const { width, height } = this.#scene;
    const { danger, onDanger } = this.#style;
    if (y > height) return;
    if (y >= 0) this.#line([0, Math.round(y) - 0.5], [width, Math.round(y) - 0.5], danger, [7, 4]);
    const above = y - PILL_HEIGHT - 2;
    // Below the line if there is no space above it.
    const top = above < MARKER_TOP ? Math.max(MARKER_TOP, y + 2) : above;
    this.#pill(y >= 0 ? label : `\u2191 ${label}`, width / 2, top, danger, onDanger);
  }

  /** Narrow ones are drawn one pixel wide. */
  #highlights(): void {
    const { width, height, highlights, markers } = this.#scene;
    // Leave space for the labels of OOMs and snapshots.
    const top = markers.length === 0 ? MARKER_TOP : MARKER_TOP + 19;
    let labelledUpTo = 0;
    for (const { left: from, right: to, style, label, isLight } of highlights) {
      const left = Math.max(0, from);
      const right = Math.min(width, Math.max(to, from + 1));
      if (right <= left) continue;
      const color = highlightColor(style, this.#style);
      this.#rect(left, 0, right - left, height, color, isLight ? 0.04 : 0.09);
      this.#rect(left, 0, right - left, 3, color);
      if (label === '') continue;
      const labelWidth = this.#pillWidth(label);
      const labelLeft = Math.max(left, labelledUpTo);
      if (labelLeft > right || labelLeft + labelWidth > width) continue;
      this.#pill(label, labelLeft + labelWidth / 2, top, color);
      labelledUpTo = labelLeft + labelWidth + 4;
    }
  }

  #marker({ kind, x }: OverlayScene['markers'][number]): void {
    const { danger, dim } = this.#style;
    const isOom = kind === 'oom';
    const left = Math.round(x) - 0.5;
    const color = isOom ? danger : dim;
    this.#line([left, 0], [left, this.#scene.height], color, isOom ? [] : [3, 3], isOom ? 1.5 : 1);
    this.#pill(isOom ? 'OOM' : kind, left, MARKER_TOP, color);
  }

  #cursors(): void {
    const { cursor, secondCursor, width, height } = this.#scene;
    const { accent, dim } = this.#style;
    if (secondCursor !== undefined) {
      if (cursor !== undefined) {
        const [from, to] =
          cursor.left < secondCursor.left ? [cursor, secondCursor] : [secondCursor, cursor];
        const left = Math.max(0, from.right);
        this.#rect(left, 0, Math.max(0, Math.min(width, to.left) - left), height, accent, 0.12);
      }
      this.#cursor(secondCursor, 'second cursor', dim);
    }
    // A single cursor needs no name.
    if (cursor !== undefined) this.#cursor(cursor, secondCursor && 'cursor', accent);
  }

  #cursor({ left, right }: Column, name: string | undefined, color: string): void {
    const { width, height } = this.#scene;
    if (right < 0 || left > width) return;
    const drawn = Math.max(1.5, right - left);
    // Tint a wide event: a solid fill would hide its picture.
    this.#rect(left, 0, drawn, height, color, drawn > 4 ? 0.18 : 0.9);
    const middle = left + drawn / 2;
    this.#context.beginPath();
    this.#context.moveTo(middle - 5, height);
    this.#context.lineTo(middle + 5, height);
    this.#context.lineTo(middle, height - 6);
    this.#context.fill();
    if (name !== undefined) this.#pill(name, middle, height - PILL_HEIGHT - 8, color);
  }

  #range({ from, to }: NonNullable<OverlayScene['range']>): void {
    const { height } = this.#scene;
    const { accent } = this.#style;
    const [left, right] = from < to ? [from, to] : [to, from];
    this.#rect(left, 0, right - left, height, accent, 0.22);
    this.#rect(left, 0, 1, height, accent);
    this.#rect(right - 1, 0, 1, height, accent);
  }

  #crosshair({ x, y, label }: NonNullable<OverlayScene['pointer']>): void {
    const { width, height, block } = this.#scene;
    const { ink, halo } = this.#style;
    const [left, middle] = [Math.floor(x) + 0.5, Math.floor(y) + 0.5];
    this.#context.globalAlpha = 0.55;
    this.#line([left, 0], [left, height], ink);
    this.#context.globalAlpha = 0.25;
    this.#line([0, middle], [width, middle], ink);
    this.#context.globalAlpha = 1;
    if (block !== undefined) {
      // A bracket over the height of the block under the pointer.
      const blockHeight = Math.max(1, block.bottom - block.top);
      this.#rect(left - 2.5, block.top - 1, 5, blockHeight + 2, halo);
      this.#rect(left - 1.5, block.top, 3, blockHeight, ink);
    }
    const top = Math.max(0, Math.min(height - PILL_HEIGHT, middle - PILL_HEIGHT / 2));
    this.#rect(0, top, this.#pillWidth(label), PILL_HEIGHT, halo, 0.85);
    this.#context.fillStyle = ink;
    this.#context.fillText(label, 5, top + PILL_HEIGHT / 2 + 0.5);
  }

  #rect(left: number, top: number, width: number, height: number, color: string, alpha = 1): void {
    this.#context.fillStyle = color;
    this.#context.globalAlpha = alpha;
    this.#context.fillRect(left, top, width, height);
    this.#context.globalAlpha = 1;
  }

  #line(
    from: readonly [x: number, y: number],
    to: readonly [x: number, y: number],
    color: string,
    dash: readonly number[] = [],
    width = 1,
  ): void {
    this.#context.strokeStyle = color;
    this.#context.lineWidth = width;
    this.#context.setLineDash([...dash]);
    this.#context.beginPath();
    this.#context.moveTo(...from);
    this.#context.lineTo(...to);
    this.#context.stroke();
  }

  /** A label across a vertical line at `x`, kept inside the plot. */
  #pill(text: string, x: number, top: number, color: string, ink = this.#style.halo): void {
    const width = this.#pillWidth(text);
    const left = Math.max(0, Math.min(x - width / 2, this.#scene.width - width));
    this.#context.fillStyle = color;
    this.#context.beginPath();
    this.#context.roundRect(left, top, width, PILL_HEIGHT, 3);
    this.#context.fill();
    this.#context.fillStyle = ink;
    this.#context.fillText(text, left + 5, top + PILL_HEIGHT / 2 + 0.5);
  }

  #pillWidth(text: string): number {
    return Math.ceil(this.#context.measureText(text).width) + 10;
  }
}

function highlightColor(highlight: Highlight['style'], style: PlotStyle): string {
  switch (highlight) {
    case 'growth':
    case 'oom':
      return style.danger;
    case 'gap':
      return style.lines.inactiveSplitBytes;
    case 'pending':
      return style.lines.activeBytes;
    case 'other':
      return style.dim;
  }
}
