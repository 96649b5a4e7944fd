/** Colours of the segments over time, one a pool; chosen among those of the stacks, which differ. */
import { SEGMENT_CLASSES, type SegmentClass } from '../../core/address-map/segment-index.ts';
import type { Palette } from '../../core/raster/types.ts';
import { plotColors, type ThemeName, toAbgr } from '../theme/palette.ts';

/** Position of each class' colour in the list of stack colours. */
const PLACES: Readonly<Record<ThemeName, Readonly<Record<SegmentClass, number>>>> = {
  dark: { small: 3, large: 0, 'expandable small': 2, 'expandable large': 7, private: 10 },
  light: { small: 4, large: 0, 'expandable small': 9, 'expandable large': 2, private: 3 },
};

export function segmentColor(theme: ThemeName, kind: SegmentClass): string {
  const { stacks, thin } = plotColors(theme);
  return stacks[PLACES[theme][kind]] ?? thin;
}

const palettes = new Map<ThemeName, Palette>();

/** The same object for the same theme. */
export function segmentPaletteFor(theme: ThemeName): Palette {
  let palette = palettes.get(theme);
  if (palette === undefined) {
    const { background, pending, thin } = plotColors(theme);
    palette = {
      classes: Uint32Array.from(SEGMENT_CLASSES, (kind) => toAbgr(segmentColor(theme, kind))),
      background: toAbgr(background),
      pending: toAbgr(pending),
      thin: toAbgr(thin),
    };
    palettes.set(theme, palette);
  }
  return palette;
}
