import { describe, expect, it } from 'vitest';
import type { FlameGroup } from '../../../device/flame-graph/types.ts';
import type { FrameKind } from '../../../device/model/types.ts';
import { type BoxColor, changeColor, flameColors, groupColor } from './paint-flame.ts';

type Rgb = readonly [number, number, number];

function linear(css: string): Rgb {
  const channel = (at: number) => {
    const value = Number.parseInt(css.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  };
  return [channel(1), channel(3), channel(5)];
}

const luminance = ([r, g, b]: Rgb) => 0.2126 * r + 0.7152 * g + 0.0722 * b;

function contrast(a: string, b: string): number {
  const [low, high] = [luminance(linear(a)), luminance(linear(b))].sort((x, y) => x - y);
  return ((high ?? 0) + 0.05) / ((low ?? 0) + 0.05);
}

/** Red as seen with protanopia and deuteranopia (Machado et al. 2009); blue hardly differs. */
const RED_SEEN: readonly Rgb[] = [
  [0.152286, 1.052583, -0.204868],
  [0.367322, 0.860646, -0.227968],
];

describe.each(['light', 'dark'] as const)('%s', (theme) => {
  const colors = flameColors(theme);
  const { whole, own, library, plumbing, absent, unchanged, grew, shrank } = colors;
  const all: readonly BoxColor[] = [
    whole,
    ...own,
    ...library,
    ...plumbing,
    absent,
    unchanged,
    ...grew,
    ...shrank,
  ];

  it.each(all)('can be read: $text on $fill', ({ fill, text }) => {
    expect(contrast(fill, text)).toBeGreaterThanOrEqual(4.5);
  });

  it('tells growth from shrinkage without red and green', () => {
    for (const seen of RED_SEEN) {
      const warmth = ({ fill }: BoxColor) => {
        const rgb = linear(fill);
        const red = seen[0] * rgb[0] + seen[1] * rgb[1] + seen[2] * rgb[2];
        return red - rgb[2];
      };
      for (const color of grew) expect(warmth(color)).toBeGreaterThan(0.01);
      for (const color of shrank) expect(warmth(color)).toBeLessThan(-0.01);
    }
  });

  it('grows stronger as the change becomes one-sided', () => {
    expect(changeColor(colors, 0, 10)).toBe(unchanged);
    expect(changeColor(colors, 2, 10)).toBe(grew[0]);
    expect(changeColor(colors, 5, 10)).toBe(grew[1]);
    expect(changeColor(colors, 10, 10)).toBe(grew[2]);
    expect(changeColor(colors, -10, 10)).toBe(shrank[2]);
    expect(changeColor(colors, 0, 0)).toBe(unchanged);
  });

  it('says whose code a box is', () => {
    const frame = (kind: FrameKind, isPlumbing: boolean): FlameGroup => ({
      kind: 'frame',
      label: 'f',
      location: '',
      search: undefined,
      level: 'line',
      targets: [],
      frame: { name: 'f', filename: 'f.py', line: 1, kind, isPlumbing, extras: undefined },
    });
    expect(own).toContain(groupColor(colors, frame('user', false), 7));
    expect(library).toContain(groupColor(colors, frame('pytorch', false), 7));
    expect(plumbing).toContain(groupColor(colors, frame('cpp', true), 7));
    expect(groupColor(colors, { kind: 'absent', reason: 'no-context' }, 7)).toBe(absent);
    expect(groupColor(colors, undefined, 0)).toBe(whole);
  });
});
