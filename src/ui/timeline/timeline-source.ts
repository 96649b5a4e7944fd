/** The stack of all allocations, as a plot. */
import { formatBytes } from '../../core/base/format.ts';
import type { DeviceInfo } from '../../core/query/types.ts';
import type { CounterName } from '../../core/replay/types.ts';
import type { TimelineFrame } from '../../core/timeline/types.ts';
import type { FrameRequest } from '../../engine/frame-request.ts';
import type { SessionApi } from '../../engine/protocol.ts';
import type { LineStyle } from '../plot/line-raster.ts';
import type { PlotHit, PlotLine, PlotPlace, PlotSource } from '../plot/plot-source.ts';
import { hitContent } from '../plot/tooltip-content.ts';
import { paletteFor, type ThemeName, toAbgr } from '../theme/palette.ts';
import { dashOf, lineColor, plotStyle } from '../theme/plot-style.ts';

type TimelineSession = Pick<SessionApi, 'frame' | 'recycle' | 'hit' | 'crosshair'>;

export function timelineSource(
  device: DeviceInfo,
  session: TimelineSession,
): PlotSource<FrameRequest, TimelineFrame> {
  const { index, peaks } = device;
  const { activeBytes, reservedBytes } = peaks;
  const reachBytes = Math.max(activeBytes.bytes, reservedBytes.bytes);
  return {
    heights: ({ lines }) => ({
      reachBytes,
      // The highest that is drawn: the stack, and those lines that are switched on.
      fittedBytes: Math.max(activeBytes.bytes, ...lines.map((line) => peaks[line].bytes)),
    }),
    rangeY: ({ y }) => y,
    keepY: (y) => ({ y }),
    request: (viewport, { view, theme, selected }) => ({
      device: index,
      viewport,
      colorBy: view.colorBy,
      palette: paletteFor(theme, view.colorBy),
      lines: view.lines,
      selected,
    }),
    frame: (request, signal) => session.frame(request, { signal }),
    recycle: (pixels) => void session.recycle({ pixels }),
    lines: ({ lines }, frame, theme, pixelRatio) =>
      lines.flatMap((counter): PlotLine[] => {
        const values = frame.lines[counter];
        return values === undefined
          ? []
          : [{ values, style: lineStyle(theme, counter, pixelRatio) }];
      }),
    heightText: formatBytes,
    hit: (place) => hitAt(session, index, place),
    newestAt: async (state) => {
      const { counters } = await session.crosshair({ device: index, event: state });
      const topBytes = counters.activeBytes;
      return { state, bytesFrom: topBytes - 1, bytesTo: topBytes };
    },
  };
}

async function hitAt(
  session: TimelineSession,
  device: number,
  place: PlotPlace,
): Promise<PlotHit | undefined> {
  const hit = await session.hit({ device, ...place });
  if (hit === undefined) return undefined;
  return {
    bottomBytes: hit.bottomBytes,
    topBytes: hit.bottomBytes + hit.blockBytes,
    content: hitContent(hit),
    selection: hit.label,
  };
}

function lineStyle(theme: ThemeName, counter: CounterName, pixelRatio: number): LineStyle {
  return {
    color: lineColor(theme, counter),
    halo: toAbgr(plotStyle(theme).halo),
    thickness: Math.max(1, Math.round(1.5 * pixelRatio)),
    dash: dashOf(counter, pixelRatio),
  };
}
