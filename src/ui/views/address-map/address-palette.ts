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
  /** What a search does not match: told from free memory, and all but gone where matches go alone. */
  readonly dim: string;
  readonly faint: string;
}

const COLORS: Readonly<Record<ThemeName, AddressColors>> = {
  dark: { gap: '#564a1c', dim: '#2f363f', faint: '#1b2027' },
  light: { gap: '#ffeaa3', dim: '#dfe3e9', faint: '#f2f4f7' },
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
