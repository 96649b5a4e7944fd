/** The colors of the address map that the timeline has no use for. */

import { LruCache } from '../../../base/lru-cache.ts';
import type { MarkStyle } from '../../../draw/address-map/address-bands.ts';
import type { ViewState } from '../../../state/view-store.ts';
import type { DimmablePalette } from '../../../worker/handlers/address-map.ts';
import { paletteFor, plotColors, type ThemeName, toAbgr } from '../../theme/palette.ts';
import { plotStyle } from '../../theme/plot-style.ts';

interface AddressColors {
  /** Reserved and free: stands out from every block and from the background, and is calm in areas. */
  readonly gap: string;
  /** What a search does not match: it must differ from free memory. `faint` where only matches are shown. */
  readonly dim: string;
  readonly faint: string;
  /** In the strip below the map: all that is free, and its largest range. */
  readonly free: string;
  readonly largest: string;
}

const COLORS: Readonly<Record<ThemeName, AddressColors>> = {
  dark: { gap: '#564a1c', dim: '#2f363f', faint: '#1b2027', free: '#8a7730', largest: '#fff2bd' },
  light: { gap: '#ffeaa3', dim: '#dfe3e9', faint: '#f2f4f7', free: '#f4d774', largest: '#7a4b00' },
};

export const addressColors = (theme: ThemeName): AddressColors => COLORS[theme];

/** Of a finding's blocks and gaps: the colors that its band has over the plot. */
export function markColors(theme: ThemeName): Readonly<Record<MarkStyle, string>> {
  const { danger, lines } = plotStyle(theme);
  return { block: danger, gap: lines.inactiveSplitBytes };
}

const palettes = new LruCache<DimmablePalette>(16);

/** The same object for the same arguments, as paletteFor. */
export function addressPaletteFor(
  theme: ThemeName,
  { colorBy, siteColors, onlyMatches }: Pick<ViewState, 'colorBy' | 'siteColors' | 'onlyMatches'>,
): DimmablePalette {
  return palettes.getOrMake(`${theme} ${colorBy} ${onlyMatches} ${siteColors}`, () => {
    const { gap, dim, faint } = COLORS[theme];
    return {
      ...paletteFor(theme, colorBy, siteColors),
      gap: toAbgr(gap),
      dim: toAbgr(onlyMatches ? faint : dim),
      // Segments stand apart as tiles do, by what is behind them.
      separator: toAbgr(plotColors(theme).background),
      marks: { block: toAbgr(markColors(theme).block), gap: toAbgr(markColors(theme).gap) },
    };
  });
}
