/** What moves with the pointer, over the picture: crosshair, markers, a range being drawn. */

import type { BandStyle } from '../../analysis/findings/types.ts';
import type { PlotStyle } from '../theme/plot-style.ts';
import type { Marker } from './markers.ts';

/** All in CSS pixels of the plot. */
export interface OverlayScene {
  readonly width: number;
  readonly height: number;
  readonly pointer: { readonly x: number; readonly y: number } | undefined;
  /** Bytes at the pointer, as the axis says it. */
  readonly pointerLabel: string;
  /** The block under the pointer, from its upper to its lower edge. */
  readonly block: { readonly top: number; readonly bottom: number } | undefined;
  readonly cursors: Cursors;
  /** In order. */
  readonly bands: readonly DrawnBand[];
  /** What the process could reserve; may lie above the plot or below it. */
  readonly limit: { readonly y: number; readonly label: string } | undefined;
  readonly range: { readonly from: number; readonly to: number } | undefined;
  readonly markers: readonly { readonly marker: Marker; readonly x: number }[];
}

/** Below the bars of bands, in the room that a fitted plot leaves above its peak. */
const MARKER_TOP = 5;

const FONT = '11px system-ui, sans-serif';

export function paintOverlay(
  context: CanvasRenderingContext2D,
  scene: OverlayScene,
  style: PlotStyle,
): void {
  context.clearRect(0, 0, scene.width, scene.height);
  context.font = FONT;
  context.textBaseline = 'middle';
  if (scene.limit !== undefined) paintLimit(context, scene.limit, scene, style);
  paintBands(context, scene.bands, scene, style);
  for (const { marker, x } of scene.markers) paintMarker(context, marker, x, scene, style);
  paintCursors(context, scene.cursors, scene, style);
  if (scene.range !== undefined) paintRange(context, scene.range, scene, style);
  if (scene.pointer !== undefined) paintCrosshair(context, scene.pointer, scene, style);
}

function paintMarker(
  context: CanvasRenderingContext2D,
  { kind }: Marker,
  x: number,
  { width, height }: OverlayScene,
  style: PlotStyle,
): void {
  const isOom = kind === 'oom';
  const left = Math.round(x) - 0.5;
  context.strokeStyle = isOom ? style.danger : style.dim;
  context.lineWidth = isOom ? 1.5 : 1;
  context.setLineDash(isOom ? [] : [3, 3]);
  strokeLine(context, left, 0, left, height);
  context.setLineDash([]);
  const text = isOom ? 'OOM' : kind;
  const color = isOom ? style.danger : style.dim;
  paintPill(context, text, { x: left, top: MARKER_TOP, width }, color, style.halo);
}

/** A line with its name in the middle, away from bands and OOMs; of one above the plot the name, with an arrow. */
function paintLimit(
  context: CanvasRenderingContext2D,
  { y, label }: NonNullable<OverlayScene['limit']>,
  { width, height }: OverlayScene,
  style: PlotStyle,
): void {
  if (y > height) return;
  const top = Math.round(y) - 0.5;
  if (y >= 0) {
    context.strokeStyle = style.danger;
    context.lineWidth = 1;
    context.setLineDash([7, 4]);
    strokeLine(context, 0, top, width, top);
    context.setLineDash([]);
  }
  const text = y >= 0 ? label : `\u2191 ${label}`;
  // Below the line where there is no room above it.
  const pillTop =
    y - PILL_HEIGHT - 2 < MARKER_TOP ? Math.max(MARKER_TOP, y + 2) : y - PILL_HEIGHT - 2;
  paintPill(context, text, { x: width / 2, top: pillTop, width }, style.danger, style.onDanger);
}

function paintRange(
  context: CanvasRenderingContext2D,
  { from, to }: { readonly from: number; readonly to: number },
  { height }: OverlayScene,
  style: PlotStyle,
): void {
  const [left, right] = from < to ? [from, to] : [to, from];
  context.fillStyle = style.accent;
  context.globalAlpha = 0.22;
  context.fillRect(left, 0, right - left, height);
  context.globalAlpha = 1;
  context.fillRect(left, 0, 1, height);
  context.fillRect(right - 1, 0, 1, height);
}

function paintCrosshair(
  context: CanvasRenderingContext2D,
  { x, y }: { readonly x: number; readonly y: number },
  { width, height, block, pointerLabel }: OverlayScene,
  style: PlotStyle,
): void {
  const [left, top] = [Math.floor(x) + 0.5, Math.floor(y) + 0.5];
  context.lineWidth = 1;
  context.strokeStyle = style.ink;
  context.globalAlpha = 0.55;
  strokeLine(context, left, 0, left, height);
  context.globalAlpha = 0.25;
  strokeLine(context, 0, top, width, top);
  context.globalAlpha = 1;
  if (block !== undefined) paintBlockEdges(context, block, left, style);
  paintPointerLabel(context, pointerLabel, top, height, style);
}

/** A bracket over the height of the block under the pointer. */
function paintBlockEdges(
  context: CanvasRenderingContext2D,
  { top, bottom }: { readonly top: number; readonly bottom: number },
  x: number,
  style: PlotStyle,
): void {
  context.fillStyle = style.halo;
  context.fillRect(x - 2.5, top - 1, 5, Math.max(1, bottom - top) + 2);
  context.fillStyle = style.ink;
  context.fillRect(x - 1.5, top, 3, Math.max(1, bottom - top));
}

function paintPointerLabel(
  context: CanvasRenderingContext2D,
  text: string,
  y: number,
  height: number,
  style: PlotStyle,
): void {
  const width = Math.ceil(context.measureText(text).width) + 10;
  const top = Math.max(0, Math.min(height - PILL_HEIGHT, y - PILL_HEIGHT / 2));
  context.fillStyle = style.halo;
  context.globalAlpha = 0.85;
  context.fillRect(0, top, width, PILL_HEIGHT);
  context.globalAlpha = 1;
  context.fillStyle = style.ink;
  context.fillText(text, 5, top + PILL_HEIGHT / 2 + 0.5);
}

function strokeLine(
  context: CanvasRenderingContext2D,
  fromX: number,
  fromY: number,
  toX: number,
  toY: number,
): void {
  context.beginPath();
  context.moveTo(fromX, fromY);
  context.lineTo(toX, toY);
  context.stroke();
}

const PILL_HEIGHT = 15;

/** A label across a vertical line at `x`, kept inside the plot. */
function paintPill(
  context: CanvasRenderingContext2D,
  text: string,
  at: { readonly x: number; readonly top: number; readonly width: number },
  color: string,
  ink: string,
): void {
  const textWidth = pillWidth(context, text);
  const left = Math.max(0, Math.min(at.x - textWidth / 2, at.width - textWidth));
  context.fillStyle = color;
  context.beginPath();
  context.roundRect(left, at.top, textWidth, PILL_HEIGHT, 3);
  context.fill();
  context.fillStyle = ink;
  context.fillText(text, left + 5, at.top + PILL_HEIGHT / 2 + 0.5);
}

function pillWidth(context: CanvasRenderingContext2D, text: string): number {
  return Math.ceil(context.measureText(text).width) + 10;
}

/** Part of the trace that a finding is about, in CSS pixels of the plot: a tint, and a named bar at the top. */
export interface DrawnBand {
  readonly left: number;
  readonly right: number;
  readonly style: BandStyle;
  readonly label: string;
  readonly isLight: boolean;
}

/** Below the labels of OOMs and snapshots, where there are any. */
const labelTop = (markers: OverlayScene['markers']): number =>
  markers.length === 0 ? MARKER_TOP : MARKER_TOP + 19;
const BAR_HEIGHT = 3;
const TINT = 0.09;
const LIGHT_TINT = 0.04;

/** @param bands in order of `left`; narrow ones are drawn a pixel wide */
function paintBands(
  context: CanvasRenderingContext2D,
  bands: readonly DrawnBand[],
  { width, height, markers }: Pick<OverlayScene, 'width' | 'height' | 'markers'>,
  style: PlotStyle,
): void {
  let labelledUpTo = 0;
  for (const band of bands) {
    const left = Math.max(0, band.left);
    const right = Math.min(width, Math.max(band.right, band.left + 1));
    if (right <= left) continue;
    const color = bandColor(band.style, style);
    context.fillStyle = color;
    context.globalAlpha = band.isLight ? LIGHT_TINT : TINT;
    context.fillRect(left, 0, right - left, height);
    context.globalAlpha = 1;
    context.fillRect(left, 0, right - left, BAR_HEIGHT);
    const labelWidth = band.label === '' ? 0 : pillWidth(context, band.label);
    const x = Math.max(left, labelledUpTo) + labelWidth / 2;
    if (labelWidth === 0 || x - labelWidth / 2 > right || x + labelWidth / 2 > width) continue;
    paintPill(context, band.label, { x, top: labelTop(markers), width }, color, style.halo);
    labelledUpTo = x + labelWidth / 2 + 4;
  }
}

function bandColor(band: BandStyle, style: PlotStyle): string {
  switch (band) {
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

/** An event's column in CSS pixels of the plot; may lie outside. */
export interface DrawnCursor {
  readonly left: number;
  readonly right: number;
}

/** The pinned event, and the second one: what is between them is measured. */
interface Cursors {
  readonly cursor: DrawnCursor | undefined;
  readonly mark: DrawnCursor | undefined;
}

interface Size {
  readonly width: number;
  readonly height: number;
}

const BETWEEN = 0.12;

function paintCursors(
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
