import type { Viewport } from '../../core/raster/types.ts';
import type { ThemeName } from '../theme/palette.ts';
import type { PlotNavigation } from './plot-navigation.ts';
import type { Tooltip } from './tooltip.ts';

/** A canvas above or below the plot that shares its x axis, such as the annotations. */
export interface PlotStrip<F> {
  /** @param frame the newest picture of the plot, which may be of another viewport */
  paint(viewport: Viewport, theme: ThemeName, frame: F | undefined): void;
  destroy(): void;
}

/** What a strip gets of the plot that it belongs to. */
export interface StripHost {
  readonly navigation: PlotNavigation;
  readonly tooltip: Tooltip;
  /** The strip has changed. */
  readonly repaint: () => void;
}
