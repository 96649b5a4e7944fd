/** Paints over the picture: crosshair, cursors, markers, highlights, a range being drawn. All in CSS pixels of the plot. */
import type { PlotStyle } from '../theme/palette.ts';
import type { Marker } from './event-markers.ts';
import type { Highlight } from './plot-source.ts';

/** A range of x; may lie outside the plot. */
export interface Column {
  readonly left: number;
  readonly right: number;
}

/** Below the bars of highlights: a fitted plot leaves that space above its peak. */
const MARKER_TOP = 5;
const PILL_HEIGHT = 15;

export class OverlayPainter {
  readonly #context: CanvasRenderingContext2D;
  readonly #style: PlotStyle;
  readonly #width: number;
  readonly #height: number;

  /** Clears the overlay. */
  constructor(
    context: CanvasRenderingContext2D,
    style: PlotStyle,
    { width, height }: { readonly width: number; readonly height: number },
  ) {
    this.#context = context;
    this.#style = style;
    this.#width = width;
    this.#height = height;
    context.clearRect(0, 0, width, height);
    context.font = '11px system-ui, sans-serif';
    context.textBaseline = 'middle';
  }

  /**
   * What the process could reserve: a line with its name in the middle, away from highlights and OOMs. If it is above
   * the plot, only the name with an arrow.
   */
  limit(y: number, label: string): void {
    const { danger, onDanger } = this.#style;
    if (y > this.#height) return;
    const middle = Math.round(y) - 0.5;
    if (y >= 0) this.#line([0, middle], [this.#width, middle], danger, [7, 4]);
    const above = y - PILL_HEIGHT - 2;
    // Below the line if there is no space above it.
    const top = above < MARKER_TOP ? Math.max(MARKER_TOP, y + 2) : above;
    this.#pill(y >= 0 ? label : `\u2191 ${label}`, this.#width / 2, top, danger, onDanger);
  }

  /** In order of `left`. Narrow ones are drawn one pixel wide. */
  highlights(highlights: readonly (Highlight & Column)[], hasMarkers: boolean): void {
    // Leave space for the labels of OOMs and snapshots.
    const top = hasMarkers ? MARKER_TOP + 19 : MARKER_TOP;
    let labelledUpTo = 0;
    for (const { left: from, right: to, style, label, isLight } of highlights) {
      const left = Math.max(0, from);
      const right = Math.min(this.#width, Math.max(to, from + 1));
      if (right <= left) continue;
      const color = this.#highlightColor(style);
      this.#rect(left, 0, right - left, this.#height, color, isLight ? 0.04 : 0.09);
      this.#rect(left, 0, right - left, 3, color);
      if (label === '') continue;
      const labelWidth = this.#pillWidth(label);
      const labelLeft = Math.max(left, labelledUpTo);
      if (labelLeft > right || labelLeft + labelWidth > this.#width) continue;
      this.#pill(label, labelLeft + labelWidth / 2, top, color);
      labelledUpTo = labelLeft + labelWidth + 4;
    }
  }

  marker(kind: Marker['kind'], x: number): void {
    const { danger, dim } = this.#style;
    const isOom = kind === 'oom';
    const left = Math.round(x) - 0.5;
    const color = isOom ? danger : dim;
    this.#line([left, 0], [left, this.#height], color, isOom ? [] : [3, 3], isOom ? 1.5 : 1);
    this.#pill(isOom ? 'OOM' : kind, left, MARKER_TOP, color);
  }

  /** The pinned event, and the second one to measure from. */
  cursors(cursor: Column | undefined, second: Column | undefined): void {
    const { accent, dim } = this.#style;
    if (second !== undefined) {
      if (cursor !== undefined) {
        const [from, to] = cursor.left < second.left ? [cursor, second] : [second, cursor];
        const left = Math.max(0, from.right);
        const width = Math.max(0, Math.min(this.#width, to.left) - left);
        this.#rect(left, 0, width, this.#height, accent, 0.12);
      }
      this.#cursor(second, 'second cursor', dim);
    }
    // A single cursor needs no name.
    if (cursor !== undefined) this.#cursor(cursor, second && 'cursor', accent);
  }

  #cursor({ left, right }: Column, name: string | undefined, color: string): void {
    const height = this.#height;
    if (right < 0 || left > this.#width) return;
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

  /** The range that a drag is about to zoom to, from where it began. */
  range(from: number, to: number): void {
    const { accent } = this.#style;
    const [left, right] = from < to ? [from, to] : [to, from];
    this.#rect(left, 0, right - left, this.#height, accent, 0.22);
    this.#rect(left, 0, 1, this.#height, accent);
    this.#rect(right - 1, 0, 1, this.#height, accent);
  }

  /** @param label the value at its height */
  crosshair(x: number, y: number, label: string): void {
    const { ink, halo } = this.#style;
    const [left, middle] = [Math.floor(x) + 0.5, Math.floor(y) + 0.5];
    this.#context.globalAlpha = 0.55;
    this.#line([left, 0], [left, this.#height], ink);
    this.#context.globalAlpha = 0.25;
    this.#line([0, middle], [this.#width, middle], ink);
    const lowest = this.#height - PILL_HEIGHT;
    const top = Math.max(0, Math.min(lowest, middle - PILL_HEIGHT / 2));
    this.#rect(0, top, this.#pillWidth(label), PILL_HEIGHT, halo, 0.85);
    this.#context.fillStyle = ink;
    this.#context.fillText(label, 5, top + PILL_HEIGHT / 2 + 0.5);
  }

  /** A bracket over the height of the block under the pointer. */
  block(x: number, top: number, bottom: number): void {
    const { ink, halo } = this.#style;
    const left = Math.floor(x) + 0.5;
    const height = Math.max(1, bottom - top);
    this.#rect(left - 2.5, top - 1, 5, height + 2, halo);
    this.#rect(left - 1.5, top, 3, height, ink);
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
    const left = Math.max(0, Math.min(x - width / 2, this.#width - width));
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

  #highlightColor(highlight: Highlight['style']): string {
    const { danger, dim, lines } = this.#style;
    return {
      growth: danger,
      oom: danger,
      gap: lines.inactiveSplitBytes,
      pending: lines.activeBytes,
      other: dim,
    }[highlight];
  }
}
