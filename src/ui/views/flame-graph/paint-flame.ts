/** Draws a layout on a canvas: only what is in view, texts only if they fit. */

import type { FlameGroup } from '../../../device/flame-graph/types.ts';
import { elided } from '../../plot/canvas.ts';
import type { ThemeName } from '../../theme/palette.ts';
import { boxLabel, type FlameFigures, groupPlace } from './flame-labels.ts';
import type { FlameBox, FlameLayout } from './flame-layout.ts';

export const LEVEL_HEIGHT_PX = 20;
const FONT =
  '11.5px system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif';
const PADDING_PX = 5;
/** A narrower box has no space for a letter and an ellipsis. */
const NARROWEST_TEXT_PX = 18;
/** Opacity of boxes that don't match the search or the chosen row. */
const DIMMED = 0.28;

export interface FlameScene {
  readonly layout: FlameLayout;
  readonly colors: FlameColors;
  readonly figures: FlameFigures;
  /** Key of the group chosen in the table: its boxes are outlined. */
  readonly chosenKey: string | undefined;
  readonly selected: FlameBox | undefined;
  readonly hovered: FlameBox | undefined;
  /** CSS pixels. */
  readonly width: number;
  readonly height: number;
  readonly scrollTop: number;
  readonly pixelRatio: number;
  /** The outermost box is at the bottom, and what is inside it above. */
  readonly isUp: boolean;
}

type Levels = Pick<FlameScene, 'layout' | 'height' | 'isUp'>;

/** Of the content, which is scrolled. */
const contentHeightPx = ({ layout, height }: Omit<Levels, 'isUp'>): number =>
  Math.max(layout.levels.length * LEVEL_HEIGHT_PX, height);

/** Where a level begins, from the top of the content. */
export const levelTopPx = (levels: Levels, level: number): number =>
  levels.isUp ? contentHeightPx(levels) - (level + 1) * LEVEL_HEIGHT_PX : level * LEVEL_HEIGHT_PX;

/** The level at a place of the content. */
export const levelAtPx = (levels: Levels, y: number): number =>
  Math.floor((levels.isUp ? contentHeightPx(levels) - y : y) / LEVEL_HEIGHT_PX);

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
  const ends = [levelAtPx(scene, scrollTop), levelAtPx(scene, scrollTop + height)];
  const first = Math.max(0, Math.min(...ends));
  for (const level of layout.levels.slice(first, Math.max(...ends) + 1)) {
    for (const box of level) paintBox(ctx, scene, box);
  }
  if (scene.hovered !== undefined) outline(ctx, scene, scene.hovered, 1);
  if (scene.selected !== undefined) outline(ctx, scene, scene.selected, 2);
}

interface Rect {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** On whole device pixels, with one left free between neighbors. */
function rectOf(scene: FlameScene, box: FlameBox): Rect {
  const { width, scrollTop, pixelRatio } = scene;
  const snap = (x: number) => Math.round(x * width * pixelRatio) / pixelRatio;
  const left = snap(box.x0);
  const gap = 1 / pixelRatio;
  return {
    x: left,
    y: levelTopPx(scene, box.depth) - scrollTop,
    width: snap(box.x1) - left - gap,
    height: LEVEL_HEIGHT_PX - gap,
  };
}

function paintBox(ctx: FlameContext, scene: FlameScene, box: FlameBox): void {
  const rect = rectOf(scene, box);
  if (rect.width <= 0) return;
  const { magnitude, key } = box.data;
  const color = colorOf(scene, box);
  const matched = scene.figures.hasSearch && magnitude > 0 ? box.data.matched / magnitude : 1;
  ctx.fillStyle = color.fill;
  if (matched < 1) {
    ctx.globalAlpha = DIMMED;
    ctx.fillRect(rect.x, rect.y, rect.width, rect.height);
    ctx.globalAlpha = 1;
  }
  // Fill the share that matches, from the left, in full color.
  if (matched > 0) ctx.fillRect(rect.x, rect.y, rect.width * matched, rect.height);
  if (key === scene.chosenKey) outline(ctx, scene, box, 1);
  if (rect.width >= NARROWEST_TEXT_PX)
    paintText(ctx, box, rect, matched > 0 ? color.text : scene.colors.whole.text);
}

function colorOf({ colors, figures }: FlameScene, { data }: FlameBox): BoxColor {
  if (figures.isDifference) return changeColor(colors, data.value, data.magnitude);
  return groupColor(colors, data.group, data.groupIndex);
}

function paintText(ctx: FlameContext, box: FlameBox, rect: Rect, color: string): void {
  const width = rect.width - 2 * PADDING_PX;
  const y = rect.y + rect.height / 2 + 0.5;
  const label = elided(ctx, boxLabel(box), width);
  if (label === '') return;
  ctx.fillStyle = color;
  ctx.fillText(label, rect.x + PADDING_PX, y);
  const place = groupPlace(box.data.group);
  const used = ctx.measureText(label).width + 2 * PADDING_PX;
  if (place === '' || ctx.measureText(place).width > width - used) return;
  ctx.globalAlpha = 0.75;
  ctx.fillText(place, rect.x + PADDING_PX + used, y);
  ctx.globalAlpha = 1;
}

function outline(ctx: FlameContext, scene: FlameScene, box: FlameBox, lineWidth: number): void {
  const { x, y, width, height } = rectOf(scene, box);
  ctx.strokeStyle = scene.colors.outline;
  ctx.lineWidth = lineWidth;
  const inset = lineWidth / 2;
  ctx.strokeRect(x + inset, y + inset, Math.max(0, width - lineWidth), height - lineWidth);
}

/**
 * Colors of boxes in both themes. Ordinary boxes show whose code it is. In a difference, orange grew and blue shrank,
 * which people with common color blindness can tell apart; the purer the change, the stronger the color. Texts keep a
 * contrast of 4.5 on every color (flame-colors.test.ts).
 */

export interface BoxColor {
  readonly fill: string;
  readonly text: string;
}

const shades = (text: string, ...fills: readonly string[]): readonly BoxColor[] =>
  fills.map((fill) => ({ fill, text }));

const LIGHT = {
  background: '#ffffff',
  outline: '#1a1e26',
  /** The root, and boxes too small to see. */
  whole: { fill: '#e9ecf1', text: '#3d4654' },
  /** Shades, so neighbors differ. */
  own: shades('#08264a', '#9cc6f5', '#8bbaf0', '#adcff7'),
  library: shades('#2b3340', '#d6dde7', '#cbd4e0', '#dfe5ed'),
  plumbing: shades('#4d5563', '#eeeff2', '#e6e8ec', '#f2f3f5'),
  absent: { fill: '#e8e0d0', text: '#4a4030' },
  unchanged: { fill: '#e6e9ee', text: '#2b3340' },
  /** Weak to strong. */
  grew: shades('#3d1c00', '#fbe3cb', '#f6bf8e', '#e9924a'),
  shrank: shades('#05213f', '#d3e4f8', '#9fc5ee', '#66a1e0'),
};

export type FlameColors = typeof LIGHT;

const DARK: FlameColors = {
  background: '#12151a',
  outline: '#f2f4f8',
  whole: { fill: '#262b34', text: '#c6ccd6' },
  own: shades('#f1f7ff', '#1f5d9e', '#1a5290', '#2867a8'),
  library: shades('#dfe5ee', '#353d4a', '#2e3642', '#3c4553'),
  plumbing: shades('#aab2bf', '#22262e', '#1e2229', '#272c35'),
  absent: { fill: '#474133', text: '#efe7d6' },
  unchanged: { fill: '#2e3440', text: '#dfe5ee' },
  grew: shades('#fff4e8', '#553a21', '#7d4a1b', '#a15a10'),
  shrank: shades('#eef6ff', '#223d5a', '#235688', '#2468b4'),
};

export const flameColors = (theme: ThemeName): FlameColors => (theme === 'dark' ? DARK : LIGHT);

/** Depends on whose code it is, or whether autograd saved it; `shade` is any number that is stable for a box. */
export function groupColor(
  colors: FlameColors,
  group: FlameGroup | undefined,
  shade: number,
): BoxColor {
  if (group === undefined || group.kind === 'class') return colors.whole;
  if (group.kind === 'absent') return colors.absent;
  const list = colors[shadesOf(group)];
  return list[shade % list.length] ?? colors.whole;
}

function shadesOf(group: Extract<FlameGroup, { readonly kind: 'frame' | 'holder' }>) {
  if (group.kind === 'holder') return group.isGraph ? 'library' : 'own';
  if (group.frame.kind === 'user') return 'own';
  return group.frame.isPlumbing ? 'plumbing' : 'library';
}

/** Below this share of its width a box counts as unchanged: growth and shrinking cancel out. */
const UNCHANGED = 0.02;

/**
 * By how one-sided the change is. Example: +3 GiB and -1 GiB below a box make it 4 GiB wide with a value of +2 GiB:
 * half of it, the second orange of three.
 */
export function changeColor(colors: FlameColors, value: number, magnitude: number): BoxColor {
  const share = magnitude === 0 ? 0 : Math.abs(value) / magnitude;
  if (share < UNCHANGED) return colors.unchanged;
  const list = value > 0 ? colors.grew : colors.shrank;
  return list[Math.min(list.length - 1, Math.floor(share * list.length))] ?? colors.unchanged;
}
