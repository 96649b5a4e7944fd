/** The segments over time, as a plot. */

import type { SegmentLife } from '../../core/address-map/segment-lives.ts';
import { formatBytes } from '../../core/base/format.ts';
import type { DeviceInfo } from '../../core/device/types.ts';
import type { TimelineFrame } from '../../core/raster/types.ts';
import type { SegmentFrameRequest } from '../../engine/handlers/address-map.ts';
import type { SessionApi } from '../../engine/protocol.ts';
import type { PlotHit, PlotSource } from '../plot/plot-source.ts';
import { segmentContent } from './segment-content.ts';
import { segmentPaletteFor } from './segment-palette.ts';

type SegmentSession = Pick<
  SessionApi,
  'segmentFrame' | 'recycle' | 'segmentHitOverTime' | 'crosshair'
>;

export interface SegmentSourceOptions {
  readonly device: DeviceInfo;
  readonly session: SegmentSession;
  /** -1 for none. */
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
    rangeY: ({ y }) => y,
    keepY: (y) => ({ y }),
    request: (viewport, { theme }) => {
      return { deviceIndex: index, viewport, palette: segmentPaletteFor(theme), selected };
    },
    frame: (request, signal) => session.segmentFrame(request, { signal }),
    recycle: (pixels) => void session.recycle({ deviceIndex: index, pixels }),
    lines: () => [],
    heightText: formatBytes,
    hit: async (place) => {
      const hit = await session.segmentHitOverTime({ deviceIndex: index, ...place });
      if (hit === undefined) return undefined;
      const { main, bottomBytes } = hit;
      const topBytes = bottomBytes + main.sizeBytes;
      const shown = { bottomBytes, topBytes, content: segmentContent(hit), selection: undefined };
      segments.set(shown, main.row);
      return shown;
    },
    newestAt: async (state) => {
      const { counters } = await session.crosshair({ deviceIndex: index, event: state });
      const topBytes = counters.reservedBytes;
      return topBytes === 0 ? undefined : { state, bytesFrom: topBytes - 1, bytesTo: topBytes };
    },
    pinned: (_, hit) => {
      selected = (hit && segments.get(hit)) ?? -1;
      onPinned(selected);
    },
  };
}
