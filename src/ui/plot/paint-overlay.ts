/** What moves with the pointer, over the picture: crosshair, markers, a range being drawn. */
import type { PlotStyle } from '../theme/plot-style.ts';
import type { Marker } from './markers.ts';
import { PILL_HEIGHT, paintPill } from './overlay-pill.ts';
import { type DrawnBand, paintBands } from './paint-bands.ts';
import { type Cursors, paintCursors } from './paint-cursors.ts';

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
  readonly range: { readonly from: number; readonly to: number } | undefined;
  readonly markers: readonly { readonly marker: Marker; readonly x: number }[];
}

const FONT = '11px system-ui, sans-serif';

export function paintOverlay(
  context: CanvasRenderingContext2D,
  scene: OverlayScene,
  style: PlotStyle,
): void {
  context.clearRect(0, 0, scene.width, scene.height);
  context.font = FONT;
  context.textBaseline = 'middle';
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
  const text = isOom ? 'OOM' : 'snapshot';
  const color = isOom ? style.danger : style.dim;
  paintPill(context, text, { x: left, top: 3, width }, color, style.halo);
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
