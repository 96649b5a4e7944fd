/**
 * Colors of the plots in both themes: of allocations, and of what is drawn over them. Canvases can't read the style
 * sheet's light-dark(). The twelve stack colors were found by search: any two differ by at least 0.09 in OKLab, for
 * normal sight and for protanopia and deuteranopia (palette.test.ts measures it). Sizes follow a ramp whose lightness
 * alone shows the order.
 */
import type { CounterName } from '../../allocator/replay/types.ts';
import { LruCache } from '../../base/collections.ts';
import type { LedgerRow } from '../../device/model/ledger.ts';
import {
  colorsLeft,
  FIRST_STACK_CLASS,
  type SiteColors,
  STACK_CLASSES,
  siteColorReader,
} from '../../draw/coloring/site-colors.ts';
import type { ColorBy, Palette } from '../../draw/timeline/types.ts';

export type ThemeName = 'light' | 'dark';

const colorList = (text: string): readonly string[] => text.split(' ');

/** CSS colors of one theme's plot, in the order of the classes in src/draw/coloring/first-colorings.ts. */
const DARK = {
  background: '#12151a',
  pending: '#ff5c7c',
  thin: '#4d5561',
  // Before recording, no context, no Python stack: grays, because they mean "not known".
  absences: ['#6b7480', '#8b857a', '#5a6f88'],
  stacks: colorList(
    '#1b68b0 #cd817c #81e6bf #f5cd79 #60912b #bca52b #b4d6fd #1cb0b8 #817ed5 #825b18 #d59af8 #9d3b72',
  ),
  sizes: colorList('#3a3566 #41508c #3b6d99 #34899b #38a494 #5dbd82 #94d169 #cbdd55 #fbe54f'),
};

const LIGHT: typeof DARK = {
  background: '#ffffff',
  pending: '#e0244f',
  thin: '#c3c9d1',
  absences: ['#9aa4b1', '#b6ad9e', '#84a0c0'],
  stacks: colorList(
    '#14718f #feb79b #0ca276 #8671d0 #afb335 #a43c58 #98afff #654806 #e57eb8 #66dede #593893 #a46f05',
  ),
  sizes: colorList('#e4ec9a #b9dd88 #86cb86 #54b58d #339c94 #2f8097 #366495 #3d4688 #3b2765'),
};

const COLORS = { dark: DARK, light: LIGHT };

/** Positions in `stacks` of what holds a card; those not listed have no color of their own. */
const CARD_STACKS: Partial<Record<LedgerRow['kind'], number>> = {
  allocated: 0,
  cached: 6,
  pool: 2,
  communicator: 3,
  'process-rest': 8,
  others: 11,
};

/** The color of a row of the card; undefined for free memory, which has none. */
export function cardColor(theme: ThemeName, kind: LedgerRow['kind']): string | undefined {
  const { stacks, absences, pending } = COLORS[theme];
  const position = CARD_STACKS[kind];
  if (position !== undefined) return stacks[position];
  if (kind === 'free') return undefined;
  return kind === 'behind-allocator' ? pending : absences[kind === 'outside' ? 0 : 1];
}

export const SITE_COLORS = DARK.stacks.length;

/**
 * CSS colors of the classes. Call sites: 3 absences, then the sites. Sizes: 9. Classes: unknown, then the others.
 * All other colorings by name: none, the rest, then 12 names.
 * @param siteColors of the call sites in view, see site-colors.ts
 */
export function classColors(
  theme: ThemeName,
  colorBy: ColorBy,
  siteColors: SiteColors = '',
): readonly string[] {
  const colors = COLORS[theme];
  switch (colorBy) {
    case 'stack':
      return [...colors.absences, ...sitesOf(colors.stacks, siteColors)];
    case 'size':
      return colors.sizes;
    case 'class':
      return [...colors.absences.slice(0, 1), ...colors.stacks];
    default:
      return [...colors.absences.slice(0, 2), ...colors.stacks];
  }
}

function sitesOf(stacks: readonly string[], siteColors: SiteColors): string[] {
  const colorOf = siteColorReader(siteColors, stacks.length);
  return Array.from({ length: STACK_CLASSES - FIRST_STACK_CLASS }, (_, at) => {
    return stacks[colorOf(FIRST_STACK_CLASS + at)] ?? '';
  });
}

/** CSS colors of the call sites that the legend does not name. */
export const otherSiteColors = (theme: ThemeName, siteColors: SiteColors): readonly string[] =>
  colorsLeft(siteColors, SITE_COLORS).map((color) => COLORS[theme].stacks[color] ?? '');

export const plotColors = (theme: ThemeName) => COLORS[theme];

/** Holds what a few themes, colorings and sets of call sites need. */
const palettes = new LruCache<Palette>(16);

/** Returns the same object for the same arguments, so an unchanged palette keeps its identity. */
export function paletteFor(
  theme: ThemeName,
  colorBy: ColorBy,
  siteColors: SiteColors = '',
): Palette {
  return palettes.getOrMake(`${theme} ${colorBy} ${siteColors}`, () =>
    makePalette(theme, classColors(theme, colorBy, siteColors)),
  );
}

/** @param colors CSS colors of the classes */
export function makePalette(theme: ThemeName, colors: readonly string[]): Palette {
  const { background, pending, thin } = COLORS[theme];
  return {
    classes: Uint32Array.from(colors, toAbgr),
    background: toAbgr(background),
    pending: toAbgr(pending),
    thin: toAbgr(thin),
  };
}

/** '#1b68b0' is 0xffb0681b: the bytes of ImageData, red first, read as a little-endian number. */
export function toAbgr(css: string): number {
  const rgb = Number.parseInt(css.slice(1), 16);
  const red = (rgb >>> 16) & 0xff;
  const green = (rgb >>> 8) & 0xff;
  const blue = rgb & 0xff;
  return ((0xff << 24) | (blue << 16) | (green << 8) | red) >>> 0;
}

/** Colors of what is drawn over the stack. */
const STYLES = {
  dark: {
    lines: {
      allocatedBytes: '#4cc2ff',
      activeBytes: '#ffb224',
      reservedBytes: '#f2f4f8',
      requestedBytes: '#7ee081',
      inactiveSplitBytes: '#e59bff',
    },
    halo: '#12151a',
    ink: '#e7eaef',
    dim: '#a0a8b5',
    accent: '#5cb3ff',
    danger: '#ff7d92',
    onDanger: '#24080e',
    track: '#2b3a4d',
    trackAlternate: '#35475e',
    trackText: '#dfe6ef',
  },
  light: {
    lines: {
      allocatedBytes: '#0b5fd0',
      activeBytes: '#b45309',
      reservedBytes: '#1a1e26',
      requestedBytes: '#17703b',
      inactiveSplitBytes: '#8b24c4',
    },
    halo: '#ffffff',
    ink: '#1a1e26',
    dim: '#565e6c',
    accent: '#0b62cc',
    danger: '#b91c35',
    onDanger: '#ffffff',
    track: '#dbe6f3',
    trackAlternate: '#c9d9ec',
    trackText: '#1f2c3d',
  },
};

export type PlotStyle = (typeof STYLES)[ThemeName];

export const plotStyle = (theme: ThemeName): PlotStyle => STYLES[theme];

/** Dashes the lines that mostly run on top of another, so both show. */
const DASHES: Readonly<Partial<Record<CounterName, readonly [number, number]>>> = {
  allocatedBytes: [5, 4],
  requestedBytes: [2, 3],
};

export function dashOf(counter: CounterName, pixelRatio: number): [number, number] | undefined {
  const dash = DASHES[counter];
  if (dash === undefined) return undefined;
  return [Math.round(dash[0] * pixelRatio), Math.round(dash[1] * pixelRatio)];
}

export const lineColor = (theme: ThemeName, counter: CounterName): number =>
  toAbgr(STYLES[theme].lines[counter]);
