/** Draws a layout on a canvas: only what is in view, texts only where they fit. */
import { elided } from '../../plot/canvas.ts';
import { type BoxColor, changeColor, type FlameColors, groupColor } from './flame-colors.ts';
import { boxLabel, type FlameFigures, groupPlace } from './flame-labels.ts';
import type { BoxIndex, FlameLayout } from './flame-layout.ts';

export const LEVEL_HEIGHT_PX = 20;
const FONT =
  '11.5px system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif';
const PADDING_PX = 5;
/** A narrower box has no room for a letter and an ellipsis. */
const NARROWEST_TEXT_PX = 18;
/** What does not match a search, or is not of the chosen row. */
const DIMMED = 0.28;

export interface FlameScene {
  readonly layout: FlameLayout;
  readonly colors: FlameColors;
  readonly figures: FlameFigures;
  /** Key of the group chosen in the table: its boxes are outlined. */
  readonly chosenKey: string | undefined;
  readonly selected: BoxIndex | undefined;
  readonly hovered: BoxIndex | undefined;
  /** CSS pixels. */
  readonly width: number;
  readonly height: number;
  readonly scrollTop: number;
  readonly pixelRatio: number;
}

/** The part of a canvas' context that is used. */
export type FlameContext = Pick<
  CanvasRenderingContext2D,
  | 'fillRect'
  | 'strokeRect'
  | 'fillText'
  | 'measureText'
  | 'fillStyle'
  | 'strokeStyle'
  | 'lineWidth'
  | 'globalAlpha'
  | 'font'
>;

export function paintFlame(ctx: FlameContext, scene: FlameScene): void {
  const { layout, colors, width, height, scrollTop } = scene;
  ctx.globalAlpha = 1;
  ctx.fillStyle = colors.background;
  ctx.fillRect(0, 0, width, height);
  ctx.font = FONT;
  const first = Math.floor(scrollTop / LEVEL_HEIGHT_PX);
  const last = Math.ceil((scrollTop + height) / LEVEL_HEIGHT_PX);
  for (const level of layout.levels.slice(first, last)) {
    for (const box of level) paintBox(ctx, scene, box);
  }
  outline(ctx, scene, scene.hovered, 1);
  outline(ctx, scene, scene.selected, 2);
}

interface Rect {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** On whole device pixels, with one left free between neighbours. */
function rectOf({ layout, width, scrollTop, pixelRatio }: FlameScene, box: BoxIndex): Rect {
  const snap = (x: number) => Math.round(x * width * pixelRatio) / pixelRatio;
  const left = snap(layout.x0[box] ?? 0);
  const gap = 1 / pixelRatio;
  return {
    x: left,
    y: (layout.level[box] ?? 0) * LEVEL_HEIGHT_PX - scrollTop,
    width: snap(layout.x1[box] ?? 0) - left - gap,
    height: LEVEL_HEIGHT_PX - gap,
  };
}

function paintBox(ctx: FlameContext, scene: FlameScene, box: BoxIndex): void {
  const rect = rectOf(scene, box);
  if (rect.width <= 0) return;
  const { boxes } = scene.layout.graph;
  const color = colorOf(scene, box);
  const magnitude = boxes.magnitude[box] ?? 0;
  const matched =
    scene.figures.hasSearch && magnitude > 0 ? (boxes.matched[box] ?? 0) / magnitude : 1;
  ctx.fillStyle = color.fill;
  if (matched < 1) {
    ctx.globalAlpha = DIMMED;
    ctx.fillRect(rect.x, rect.y, rect.width, rect.height);
    ctx.globalAlpha = 1;
  }
  // The share that matches, from the left, in full colour.
  if (matched > 0) ctx.fillRect(rect.x, rect.y, rect.width * matched, rect.height);
  if (scene.chosenKey !== undefined && scene.layout.keyOf(box) === scene.chosenKey) {
    stroke(ctx, scene, rect, 1);
  }
  if (rect.width >= NARROWEST_TEXT_PX)
    paintText(ctx, scene, box, rect, matched > 0 ? color.text : scene.colors.whole.text);
}

function colorOf({ layout, colors, figures }: FlameScene, box: BoxIndex): BoxColor {
  const { boxes } = layout.graph;
  const group = boxes.group[box] ?? -1;
  if (figures.isDifference)
    return changeColor(colors, boxes.value[box] ?? 0, boxes.magnitude[box] ?? 0);
  return groupColor(colors, layout.graph.groups[group], group);
}

function paintText(
  ctx: FlameContext,
  { layout }: FlameScene,
  box: BoxIndex,
  rect: Rect,
  color: string,
): void {
  const group = layout.groupOf(box);
  const room = rect.width - 2 * PADDING_PX;
  const y = rect.y + rect.height / 2 + 0.5;
  const label = elided(ctx, boxLabel(layout, box), room);
  if (label === '') return;
  ctx.fillStyle = color;
  ctx.fillText(label, rect.x + PADDING_PX, y);
  const place = group === undefined ? '' : groupPlace(group);
  const used = ctx.measureText(label).width + 2 * PADDING_PX;
  if (place === '' || ctx.measureText(place).width > room - used) return;
  ctx.globalAlpha = 0.75;
  ctx.fillText(place, rect.x + PADDING_PX + used, y);
  ctx.globalAlpha = 1;
}

function outline(
  ctx: FlameContext,
  scene: FlameScene,
  box: BoxIndex | undefined,
  lineWidth: number,
): void {
  if (box !== undefined) stroke(ctx, scene, rectOf(scene, box), lineWidth);
}

function stroke(ctx: FlameContext, scene: FlameScene, rect: Rect, lineWidth: number): void {
  ctx.strokeStyle = scene.colors.outline;
  ctx.lineWidth = lineWidth;
  const inset = lineWidth / 2;
  ctx.strokeRect(
    rect.x + inset,
    rect.y + inset,
    Math.max(0, rect.width - lineWidth),
    rect.height - lineWidth,
  );
}
