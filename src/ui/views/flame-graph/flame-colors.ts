/**
 * Colours of boxes in both themes. Ordinary boxes say whose code it is; in a difference orange grew
 * and blue shrank, which the common kinds of colour blindness tell apart, the stronger the purer
 * the change. Texts keep a contrast of 4.5 on each of them (flame-colors.test.ts).
 */
import type { FlameGroup } from '../../../device/flame-graph/types.ts';
import type { ThemeName } from '../../theme/palette.ts';

export interface BoxColor {
  readonly fill: string;
  readonly text: string;
}

export interface FlameColors {
  readonly background: string;
  readonly outline: string;
  /** The whole, and boxes too small to see. */
  readonly whole: BoxColor;
  /** Shades, so that neighbors differ. */
  readonly own: readonly BoxColor[];
  readonly library: readonly BoxColor[];
  readonly plumbing: readonly BoxColor[];
  readonly absent: BoxColor;
  readonly unchanged: BoxColor;
  /** Weak to strong. */
  readonly grew: readonly BoxColor[];
  readonly shrank: readonly BoxColor[];
}

const shades = (text: string, ...fills: readonly string[]): readonly BoxColor[] =>
  fills.map((fill) => ({ fill, text }));

const LIGHT: FlameColors = {
  background: '#ffffff',
  outline: '#1a1e26',
  whole: { fill: '#e9ecf1', text: '#3d4654' },
  own: shades('#08264a', '#9cc6f5', '#8bbaf0', '#adcff7'),
  library: shades('#2b3340', '#d6dde7', '#cbd4e0', '#dfe5ed'),
  plumbing: shades('#4d5563', '#eeeff2', '#e6e8ec', '#f2f3f5'),
  absent: { fill: '#e8e0d0', text: '#4a4030' },
  unchanged: { fill: '#e6e9ee', text: '#2b3340' },
  grew: shades('#3d1c00', '#fbe3cb', '#f6bf8e', '#e9924a'),
  shrank: shades('#05213f', '#d3e4f8', '#9fc5ee', '#66a1e0'),
};

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

/** By whose code it is; `shade` is any number that stays the same for the same box. */
export function groupColor(
  colors: FlameColors,
  group: FlameGroup | undefined,
  shade: number,
): BoxColor {
  if (group === undefined || group.kind === 'class') return colors.whole;
  if (group.kind === 'absent') return colors.absent;
  const { kind, isPlumbing } = group.frame;
  const others = isPlumbing ? colors.plumbing : colors.library;
  const list = kind === 'user' ? colors.own : others;
  return list[shade % list.length] ?? colors.whole;
}

/** Below this share of its width a box counts as unchanged: what came went again. */
const UNCHANGED = 0.02;

/**
 * By how much of the width is one-sided. Example: +3 GiB and -1 GiB below a box are 4 GiB wide and
 * +2 GiB in value: half of it, the second orange of three.
 */
export function changeColor(colors: FlameColors, value: number, magnitude: number): BoxColor {
  const share = magnitude === 0 ? 0 : Math.abs(value) / magnitude;
  if (share < UNCHANGED) return colors.unchanged;
  const list = value > 0 ? colors.grew : colors.shrank;
  return list[Math.min(list.length - 1, Math.floor(share * list.length))] ?? colors.unchanged;
}
