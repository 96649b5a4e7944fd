/** Stretches that a finding speaks of: a tint over the picture and a named bar along its top. */

import type { BandStyle } from '../../core/findings/types.ts';
import type { PlotStyle } from '../theme/plot-style.ts';
import { paintPill, pillWidth } from './overlay-pill.ts';

/** In CSS pixels of the plot. */
export interface DrawnBand {
  readonly left: number;
  readonly right: number;
  readonly style: BandStyle;
  readonly label: string;
}

/** Below the labels of OOMs and snapshots. */
const LABEL_TOP = 22;
const BAR_HEIGHT = 3;
const TINT = 0.09;

/** @param bands in order of `left`; narrow ones are drawn a pixel wide */
export function paintBands(
  context: CanvasRenderingContext2D,
  bands: readonly DrawnBand[],
  { width, height }: { readonly width: number; readonly height: number },
  style: PlotStyle,
): void {
  let labelledUpTo = 0;
  for (const band of bands) {
    const left = Math.max(0, band.left);
    const right = Math.min(width, Math.max(band.right, band.left + 1));
    if (right <= left) continue;
    const color = bandColor(band.style, style);
    context.fillStyle = color;
    context.globalAlpha = TINT;
    context.fillRect(left, 0, right - left, height);
    context.globalAlpha = 1;
    context.fillRect(left, 0, right - left, BAR_HEIGHT);
    const labelWidth = band.label === '' ? 0 : pillWidth(context, band.label);
    const x = Math.max(left, labelledUpTo) + labelWidth / 2;
    if (labelWidth === 0 || x - labelWidth / 2 > right || x + labelWidth / 2 > width) continue;
    paintPill(context, band.label, { x, top: LABEL_TOP, width }, color, style.halo);
    labelledUpTo = x + labelWidth / 2 + 4;
  }
}

function bandColor(band: BandStyle, style: PlotStyle): string {
  switch (band) {
    case 'growth':
    case 'oom':
      return style.danger;
    case 'gap':
      return style.lines.inactiveSplitBytes;
    case 'pending':
      return style.lines.activeBytes;
    case 'peak':
      return style.accent;
    case 'other':
      return style.dim;
  }
}
