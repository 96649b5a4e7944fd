/**
 * Colors of allocations in both themes.
 *
 * The twelve stack colors were searched for, not picked: any two differ by at least 0.09 in OKLab,
 * for normal sight and for protanopia and deuteranopia (palette.test.ts measures it). Sizes go
 * along a ramp whose lightness alone tells the order.
 */
import { LruCache } from '../../base/lru-cache.ts';
import {
  colorOfClass,
  FIRST_STACK_CLASS,
  readSiteColors,
  type SiteColors,
  STACK_CLASSES,
} from '../../draw/coloring/site-colors.ts';
import type { ColorBy, Palette } from '../../draw/timeline/types.ts';

export type ThemeName = 'light' | 'dark';

/** CSS colors of one theme's plot, in the order of the classes of src/draw/coloring/classes.ts. */
interface PlotColors {
  readonly background: string;
  readonly pending: string;
  readonly thin: string;
  /** Before recording, no context, no Python stack: greys, since they say "not known". */
  readonly absences: readonly string[];
  readonly stacks: readonly string[];
  readonly sizes: readonly string[];
}

const DARK: PlotColors = {
  background: '#12151a',
  pending: '#ff5c7c',
  thin: '#4d5561',
  absences: ['#6b7480', '#8b857a', '#5a6f88'],
  stacks: [
    '#1b68b0',
    '#cd817c',
    '#81e6bf',
    '#f5cd79',
    '#60912b',
    '#bca52b',
    '#b4d6fd',
    '#1cb0b8',
    '#817ed5',
    '#825b18',
    '#d59af8',
    '#9d3b72',
  ],
  sizes: [
    '#3a3566',
    '#41508c',
    '#3b6d99',
    '#34899b',
    '#38a494',
    '#5dbd82',
    '#94d169',
    '#cbdd55',
    '#fbe54f',
  ],
};

const LIGHT: PlotColors = {
  background: '#ffffff',
  pending: '#e0244f',
  thin: '#c3c9d1',
  absences: ['#9aa4b1', '#b6ad9e', '#84a0c0'],
  stacks: [
    '#14718f',
    '#feb79b',
    '#0ca276',
    '#8671d0',
    '#afb335',
    '#a43c58',
    '#98afff',
    '#654806',
    '#e57eb8',
    '#66dede',
    '#593893',
    '#a46f05',
  ],
  sizes: [
    '#e4ec9a',
    '#b9dd88',
    '#86cb86',
    '#54b58d',
    '#339c94',
    '#2f8097',
    '#366495',
    '#3d4688',
    '#3b2765',
  ],
};

const COLORS: Readonly<Record<ThemeName, PlotColors>> = { dark: DARK, light: LIGHT };

/** How many colors call sites have. */
export const SITE_COLORS = DARK.stacks.length;

/**
 * CSS colors of the classes: 3 absences, then the call sites; 9 sizes; by class unknown, then the others; for all that has names, none, the
 * rest and 12 of them.
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
  const given = readSiteColors(siteColors);
  return Array.from({ length: STACK_CLASSES - FIRST_STACK_CLASS }, (_, at) => {
    const siteClass = FIRST_STACK_CLASS + at;
    return stacks[given.get(siteClass) ?? colorOfClass(siteClass, stacks.length)] ?? '';
  });
}

export function plotColors(theme: ThemeName): PlotColors {
  return COLORS[theme];
}

/** Of the last ones: as many as a few themes, colorings and views of call sites make. */
const palettes = new LruCache<Palette>(16);

/** The same object for the same arguments, so that an unchanged palette has the same identity. */
export function paletteFor(
  theme: ThemeName,
  colorBy: ColorBy,
  siteColors: SiteColors = '',
): Palette {
  return palettes.getOrMake(`${theme} ${colorBy} ${siteColors}`, () => {
    const { background, pending, thin } = COLORS[theme];
    return {
      classes: Uint32Array.from(classColors(theme, colorBy, siteColors), toAbgr),
      background: toAbgr(background),
      pending: toAbgr(pending),
      thin: toAbgr(thin),
    };
  });
}

/** '#1b68b0' is 0xffb0681b: the bytes of ImageData, red first, read as a little-endian number. */
export function toAbgr(css: string): number {
  const rgb = Number.parseInt(css.slice(1), 16);
  const red = (rgb >>> 16) & 0xff;
  const green = (rgb >>> 8) & 0xff;
  const blue = rgb & 0xff;
  return ((0xff << 24) | (blue << 16) | (green << 8) | red) >>> 0;
}
