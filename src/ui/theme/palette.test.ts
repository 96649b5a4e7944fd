import { describe, expect, it } from 'vitest';
import type { EntryKind } from '../../analysis/account/types.ts';
import { classLabels, MEMORY_CLASSES, MemoryClass } from '../../device/classes/types.ts';
import type { ColorBy } from '../../draw/timeline/types.ts';
import { partColor } from '../panels/findings/account-parts.ts';
import { classColors, paletteFor, plotColors, type ThemeName, toAbgr } from './palette.ts';

type Vector = readonly [number, number, number];
type Matrix = readonly [Vector, Vector, Vector];

/** Machado et al. 2009, severity 1.0, on linear RGB. */
const SIGHTS: Readonly<Record<string, Matrix>> = {
  normal: [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  protanopia: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  deuteranopia: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
};

const dot = (a: Vector, b: Vector) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const apply = (m: Matrix, v: Vector): Vector => [dot(m[0], v), dot(m[1], v), dot(m[2], v)];

function linearRgb(css: string): Vector {
  const channel = (at: number) => {
    const value = Number.parseInt(css.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  };
  return [channel(1), channel(3), channel(5)];
}

function oklab(rgb: Vector): Vector {
  const [l, m, s] = apply(
    [
      [0.4122214708, 0.5363325363, 0.0514459929],
      [0.2119034982, 0.6806995451, 0.1073969566],
      [0.0883024619, 0.2817188376, 0.6299787005],
    ],
    rgb,
  );
  return apply(
    [
      [0.2104542553, 0.793617785, -0.0040720468],
      [1.9779984951, -2.428592205, 0.4505937099],
      [0.0259040371, 0.7827717662, -0.808675766],
    ],
    [Math.cbrt(l), Math.cbrt(m), Math.cbrt(s)],
  );
}

function smallestDistance(colors: readonly string[], sight: Matrix): number {
  const points = colors.map((css) => oklab(apply(sight, linearRgb(css))));
  const distances = points.flatMap((a, i) =>
    points.slice(i + 1).map((b) => Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2])),
  );
  return Math.min(...distances);
}

const THEMES: readonly ThemeName[] = ['light', 'dark'];

describe.each(THEMES)('colors of the %s theme', (theme) => {
  it.each(Object.entries(SIGHTS))('tells stacks apart with %s', (_name, sight) => {
    expect(smallestDistance(plotColors(theme).stacks, sight)).toBeGreaterThan(0.08);
  });

  it.each(Object.entries(SIGHTS))('orders sizes by lightness with %s', (_name, sight) => {
    const lightness = plotColors(theme).sizes.map((css) => oklab(apply(sight, linearRgb(css)))[0]);
    const ordered = [...lightness].sort((a, b) => (theme === 'dark' ? a - b : b - a));
    expect(lightness).toEqual(ordered);
  });

  it.each(Object.entries(SIGHTS))('keeps stacks apart from the background with %s', (_, sight) => {
    const { stacks, background } = plotColors(theme);
    for (const color of stacks) {
      expect(smallestDistance([color, background], sight)).toBeGreaterThan(0.1);
    }
  });

  it('gives the sites in view the requested colors', () => {
    const [, , , first, second] = classColors(theme, 'stack', '3:5,4:0');
    const { stacks } = plotColors(theme);
    expect([first, second]).toEqual([stacks[5], stacks[0]]);
  });

  it('keeps pending blocks apart from every class', () => {
    const colors = [...new Set(classColors(theme, 'stack')), plotColors(theme).pending];
    expect(smallestDistance(colors.slice(3), SIGHTS.normal)).toBeGreaterThan(0.08);
  });
});

describe.each(THEMES)('parts of the account in the %s theme', (theme) => {
  const colorOf = (kind: EntryKind, colorBy: ColorBy = 'class', ...classes: MemoryClass[]) =>
    partColor(theme, colorBy, {
      kind,
      classes: classes.map((of) => ({ class: of, bytes: 1, count: 1 })),
    });

  it('have no color while the plots are colored by anything else, or if their blocks have several', () => {
    const { Activations, Temporaries } = MemoryClass;
    expect(colorOf('activations', 'stack')).toBeUndefined();
    expect(colorOf('kept-graph', 'class', Activations, Temporaries)).toBeUndefined();
    expect(colorOf('kept-graph', 'class', Activations)).toBe(colorOf('activations'));
  });

  it('have the colors of the classes in the legend', () => {
    for (const { class: of, label } of classLabels()) {
      const id = MEMORY_CLASSES[of]?.id;
      const kind = id === 'growing-state' ? 'kv-cache' : id;
      expect(colorOf(kind as EntryKind), label).toBe(classColors(theme, 'class')[of]);
    }
  });
});

describe('palettes', () => {
  it('writes colors in the byte order of ImageData', () => {
    expect(toAbgr('#1b68b0')).toBe(0xffb0681b);
  });

  it('returns one object per theme and coloring', () => {
    expect(paletteFor('dark', 'size')).toBe(paletteFor('dark', 'size'));
    expect(paletteFor('dark', 'size')).not.toBe(paletteFor('light', 'size'));
  });

  it.each(['stack', 'size', 'category'] as const)(
    'by %s: has the same classes in both themes',
    (by) => {
      const { length } = paletteFor('light', by).classes;
      expect(paletteFor('dark', by).classes).toHaveLength(length);
      expect(length).toBeGreaterThan(3);
    },
  );
});
