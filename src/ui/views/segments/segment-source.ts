/** The segments over time as a plot, and their colors. */

import { LruCache } from '../../../base/collections.ts';
import { formatBytes } from '../../../base/format.ts';
import type { DeviceInfo } from '../../../device/model/device-info.ts';
import type { SegmentLife } from '../../../draw/address-map/segment-lives.ts';
import { SEGMENT_CLASSES, type SegmentClass } from '../../../draw/address-map/segment-timeline.ts';
import type { Palette, TimelineFrame } from '../../../draw/timeline/types.ts';
import type { SegmentFrameRequest, SessionApi } from '../../../worker/protocol.ts';
import type { PlotHit, PlotSource } from '../../plot/plot-source.ts';
import { segmentContent } from '../../shared/segment-content.tsx';
import { makePalette, plotColors, type ThemeName } from '../../theme/palette.ts';

export interface SegmentSourceOptions {
  readonly device: DeviceInfo;
  readonly session: Pick<SessionApi, 'query'>;
  readonly onPinned: (segment: SegmentLife) => void;
}

export function segmentSource({
  device,
  session,
  onPinned,
}: SegmentSourceOptions): PlotSource<SegmentFrameRequest, TimelineFrame> {
  const { index, peaks } = device;
  const highestBytes = peaks.reservedBytes.bytes;
  const heights = { reachBytes: highestBytes, fittedBytes: highestBytes };
  const segments = new WeakMap<PlotHit, SegmentLife>();
  let selected: SegmentLife = -1;
  return {
    heights: () => heights,
    yField: 'y',
    request: (viewport, { theme }) => {
      return { deviceIndex: index, viewport, palette: segmentPaletteFor(theme), selected };
    },
    frame: (request, signal) => session.query('segmentFrame', request, { signal }),
    heightText: formatBytes,
    hit: async (place) => {
      const { hit, crosshair } = await session.query('segmentHitOverTime', {
        deviceIndex: index,
        ...place,
      });
      if (hit === undefined) return { hit, crosshair };
      const { main, bottomBytes } = hit;
      const topBytes = bottomBytes + main.sizeBytes;
      const shown = { bottomBytes, topBytes, content: segmentContent(hit), selection: undefined };
      segments.set(shown, main.row);
      return { hit: shown, crosshair };
    },
    newestAt: async (state) => {
      const { counters } = await session.query('crosshair', { deviceIndex: index, event: state });
      const topBytes = counters.reservedBytes;
      return topBytes === 0 ? undefined : { state, bytesFrom: topBytes - 1, bytesTo: topBytes };
    },
    pinned: (_, hit) => {
      selected = (hit && segments.get(hit)) ?? -1;
      onPinned(selected);
    },
  };
}

/** Position of each class's color among the stack colors, which differ well: one per pool. */
const PLACES: Readonly<Record<ThemeName, Readonly<Record<SegmentClass, number>>>> = {
  dark: { small: 3, large: 0, 'expandable small': 2, 'expandable large': 7, private: 10 },
  light: { small: 4, large: 0, 'expandable small': 9, 'expandable large': 2, private: 3 },
};

export function segmentColor(theme: ThemeName, kind: SegmentClass): string {
  const { stacks, thin } = plotColors(theme);
  return stacks[PLACES[theme][kind]] ?? thin;
}

const palettes = new LruCache<Palette>(2);

/** Returns the same object for the same theme. */
const segmentPaletteFor = (theme: ThemeName): Palette =>
  palettes.getOrMake(theme, () =>
    makePalette(
      theme,
      SEGMENT_CLASSES.map((kind) => segmentColor(theme, kind)),
    ),
  );
