/** Paints over the picture: crosshair, cursors, markers, highlights, a range being drawn. All in CSS pixels of the plot. */
import type { PlotStyle } from '../theme/palette.ts';
import type { Marker } from './event-markers.ts';
import type { Highlight } from './plot-source.ts';

/** A range of x; may lie outside the plot. */
export interface Column {
  readonly left: number;
  readonly right: number;
}

type Place = readonly [x: number, y: number];

/** Below the bars of highlights: a fitted plot leaves that space above its peak. */
const MARKER_TOP = 5;
const PILL_HEIGHT = 15;

export function overlayPainter(
  context: CanvasRenderingContext2D,
  { accent, danger, dim, halo, ink, lines, onDanger }: PlotStyle,
  { width, height }: { readonly width: number; readonly height: number },
) {
  context.clearRect(0, 0, width, height);
  context.font = '11px system-ui, sans-serif';
  context.textBaseline = 'middle';
  const highlightColors: Readonly<Record<Highlight['style'], string>> = {
    growth: danger,
    oom: danger,
    gap: lines.inactiveSplitBytes,
    pending: lines.activeBytes,
    other: dim,
  };

  function rect(left: number, top: number, wide: number, high: number, color: string, alpha = 1) {
    context.fillStyle = color;
    context.globalAlpha = alpha;
    context.fillRect(left, top, wide, high);
    context.globalAlpha = 1;
  }

  function line(from: Place, to: Place, color: string, dash: number[] = [], thickness = 1) {
    context.strokeStyle = color;
    context.lineWidth = thickness;
    context.setLineDash(dash);
    context.beginPath();
    context.moveTo(...from);
    context.lineTo(...to);
    context.stroke();
  }

  /** Of markers. */
  const labeledAt: number[] = [];
  const pillWidth = (text: string) => Math.ceil(context.measureText(text).width) + 10;

  /** A label across a vertical line at `x`, kept inside the plot. */
  function pill(text: string, x: number, top: number, color: string, textColor = halo) {
    const wide = pillWidth(text);
    const left = Math.max(0, Math.min(x - wide / 2, width - wide));
    context.fillStyle = color;
    context.beginPath();
    context.roundRect(left, top, wide, PILL_HEIGHT, 3);
    context.fill();
    context.fillStyle = textColor;
    context.fillText(text, left + 5, top + PILL_HEIGHT / 2 + 0.5);
  }

  function cursor({ left, right }: Column, name: string | undefined, color: string) {
    if (right < 0 || left > width) return;
    const drawn = Math.max(1.5, right - left);
    // Tint a wide event: a solid fill would hide its picture.
    rect(left, 0, drawn, height, color, drawn > 4 ? 0.18 : 0.9);
    const middle = left + drawn / 2;
    context.beginPath();
    context.moveTo(middle - 5, height);
    context.lineTo(middle + 5, height);
    context.lineTo(middle, height - 6);
    context.fill();
    if (name !== undefined) pill(name, middle, height - PILL_HEIGHT - 8, color);
  }

  return {
    /**
     * What the process could reserve: a line with its name in the middle, away from highlights and OOMs. If it is above
     * the plot, only the name with an arrow.
     */
    limit(y: number, label: string) {
      if (y > height) return;
      const middle = Math.round(y) - 0.5;
      if (y >= 0) line([0, middle], [width, middle], danger, [7, 4]);
      const above = y - PILL_HEIGHT - 2;
      // Below the line if there is no space between it and the labels of markers.
      const free = MARKER_TOP + PILL_HEIGHT + 2;
      const top = above < free ? Math.max(free, y + 2) : above;
      pill(y >= 0 ? label : `\u2191 ${label}`, width / 2, top, danger, onDanger);
    },

    /** In order of `left`. Narrow ones are drawn one pixel wide. */
    highlights(highlights: readonly (Highlight & Column)[], hasMarkers: boolean) {
      // Leave space for the labels of OOMs and snapshots.
      const top = hasMarkers ? MARKER_TOP + 19 : MARKER_TOP;
      let labeledUpTo = 0;
      for (const { left: from, right: to, style, label, isLight } of highlights) {
        const left = Math.max(0, from);
        const right = Math.min(width, Math.max(to, from + 1));
        if (right <= left) continue;
        const color = highlightColors[style];
        rect(left, 0, right - left, height, color, isLight ? 0.04 : 0.09);
        rect(left, 0, right - left, 3, color);
        if (label === '') continue;
        const labelLeft = Math.max(left, labeledUpTo);
        const labelRight = labelLeft + pillWidth(label);
        if (labelLeft > right || labelRight > width) continue;
        pill(label, (labelLeft + labelRight) / 2, top, color);
        labeledUpTo = labelRight + 4;
      }
    },

    marker(kind: Marker['kind'], x: number) {
      const left = Math.round(x) - 0.5;
      if (kind === 'oom') line([left, 0], [left, height], danger, [], 1.5);
      else line([left, 0], [left, height], dim, [3, 3]);
    },

    /**
     * Above all lines and cursors. OOMs come first: they are always labeled, others only where no label is in the way.
     */
    markerLabel(kind: Marker['kind'], x: number) {
      const isOom = kind === 'oom';
      const left = Math.round(x) - 0.5;
      const text = isOom ? 'OOM' : kind;
      const isFree = labeledAt.every((other) => Math.abs(other - left) > pillWidth(text));
      if (!isOom && !isFree) return;
      labeledAt.push(left);
      pill(text, left, MARKER_TOP, isOom ? danger : dim);
    },

    cursors(first: Column | undefined, second: Column | undefined) {
      if (first !== undefined && second !== undefined) {
        const [from, to] = first.left < second.left ? [first, second] : [second, first];
        const left = Math.max(0, from.right);
        rect(left, 0, Math.max(0, Math.min(width, to.left) - left), height, accent, 0.12);
      }
      if (second !== undefined) cursor(second, 'second cursor', dim);
      // A single cursor needs no name.
      if (first !== undefined) cursor(first, second && 'cursor', accent);
    },

    /** The range that a drag is about to zoom to, from where it began. */
    range(from: number, to: number) {
      const [left, right] = from < to ? [from, to] : [to, from];
      rect(left, 0, right - left, height, accent, 0.22);
      rect(left, 0, 1, height, accent);
      rect(right - 1, 0, 1, height, accent);
    },

    /** @param label the value at its height */
    crosshair(x: number, y: number, label: string) {
      const [left, middle] = [Math.floor(x) + 0.5, Math.floor(y) + 0.5];
      context.globalAlpha = 0.55;
      line([left, 0], [left, height], ink);
      context.globalAlpha = 0.25;
      line([0, middle], [width, middle], ink);
      const top = Math.max(0, Math.min(height - PILL_HEIGHT, middle - PILL_HEIGHT / 2));
      rect(0, top, pillWidth(label), PILL_HEIGHT, halo, 0.85);
      context.fillStyle = ink;
      context.fillText(label, 5, top + PILL_HEIGHT / 2 + 0.5);
    },

    /** A bracket over the height of the block under the pointer. */
    block(x: number, top: number, bottom: number) {
      const left = Math.floor(x) + 0.5;
      const high = Math.max(1, bottom - top);
      rect(left - 2.5, top - 1, 5, high + 2, halo);
      rect(left - 1.5, top, 3, high, ink);
    },
  };
}
