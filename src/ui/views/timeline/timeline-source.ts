/** The stack of all allocations, as a plot. */

import { formatBytes } from '../../../base/format.ts';
import type { DeviceInfo } from '../../../device/model/device-info.ts';
import type { TimelineFrame } from '../../../draw/timeline/types.ts';
import type { ViewState } from '../../../state/view-store.ts';
import type { FrameRequest, MatchingRequest, SessionApi } from '../../../worker/protocol.ts';
import type { PlotLine, PlotSource } from '../../plot/plot-source.ts';
import { hitContent } from '../../plot/tooltip.ts';
import { dashOf, lineColor, paletteFor, plotStyle, toAbgr } from '../../theme/palette.ts';

/**
 * @param view what is shown now: queries about a place use the same search and order
 * @param limitBytes what the process could reserve, once known
 */
export function timelineSource(
  device: DeviceInfo,
  session: Pick<SessionApi, 'query'>,
  view: () => ViewState,
  limitBytes: () => number | undefined = () => undefined,
): PlotSource<FrameRequest, TimelineFrame> {
  const { index, peaks } = device;
  const { activeBytes, reservedBytes } = peaks;
  const reachBytes = Math.max(activeBytes.bytes, reservedBytes.bytes);
  let matches = { search: '', peakBytes: 0 };
  return {
    heights: ({ lines, search, onlyMatches }) => {
      if (onlyMatches && search !== '' && search === matches.search) {
        return { reachBytes, fittedBytes: matches.peakBytes };
      }
      // The highest of what is drawn: the stack, and the lines that are on.
      const lineBytes = lines.map((line) => peaks[line].bytes);
      const fittedBytes = fittedWithLimit(Math.max(activeBytes.bytes, ...lineBytes), limitBytes());
      return { reachBytes: Math.max(reachBytes, fittedBytes), fittedBytes };
    },
    limitBytes,
    yField: 'y',
    request: (viewport, { view, theme, selected, highlighted }) => ({
      deviceIndex: index,
      viewport,
      colorBy: view.colorBy,
      palette: paletteFor(theme, view.colorBy, view.siteColors),
      lines: view.lines,
      selected,
      ...matchingOf(view),
      highlight: view.search === '' ? highlighted : '',
    }),
    frame: async (request, signal) => {
      const frame = await session.query('frame', request, { signal });
      const { search, onlyMatches } = request;
      if (onlyMatches) matches = { search, peakBytes: frame.stackPeakBytes };
      return frame;
    },
    lines: ({ lines }, frame, theme, pixelRatio) => {
      const common = {
        halo: toAbgr(plotStyle(theme).halo),
        thickness: Math.max(1, Math.round(1.5 * pixelRatio)),
        isDense: hasManyEventsAColumn(frame),
      };
      return lines.flatMap((counter): PlotLine[] => {
        const values = frame.lines[counter];
        if (values === undefined) return [];
        const [color, dash] = [lineColor(theme, counter), dashOf(counter, pixelRatio)];
        return [{ values, style: { ...common, color, dash } }];
      });
    },
    heightText: formatBytes,
    hit: async (place) => {
      const asked = { deviceIndex: index, ...place, ...matchingOf(view()) };
      const { hit, crosshair } = await session.query('hit', asked);
      if (hit === undefined) return { hit, crosshair };
      const { bottomBytes, label: selection } = hit;
      const topBytes = bottomBytes + hit.blockBytes;
      return { hit: { bottomBytes, topBytes, content: hitContent(hit), selection }, crosshair };
    },
    newestAt: async (state) => {
      const topBytes = await session.query('stackBytes', {
        deviceIndex: index,
        state,
        ...matchingOf(view()),
      });
      return { state, bytesFrom: topBytes - 1, bytesTo: topBytes };
    },
  };
}

/** A fitted plot includes a limit up to this many times the height of everything else. */
const SHOWN_ABOVE = 1.25;

/** Height of a fitted plot. @param bytes the highest of everything else it draws */
export function fittedWithLimit(bytes: number, limitBytes = 0): number {
  return limitBytes > SHOWN_ABOVE * bytes ? bytes : Math.max(bytes, limitBytes);
}

/** Without a search the cursor does not matter, so moving it keeps the picture. */
function matchingOf({
  search,
  onlyMatches,
  cursor,
  colorBy,
  stackOrder,
}: ViewState): MatchingRequest {
  const isSearching = search !== '';
  return {
    search,
    onlyMatches: isSearching && onlyMatches,
    at: isSearching ? cursor : undefined,
    stackOrder: colorBy === 'class' ? stackOrder : 'time',
  };
}

function hasManyEventsAColumn({ states }: TimelineFrame): boolean {
  const shown = states.filter((state) => state >= 0);
  return (shown.at(-1) ?? 0) - (shown[0] ?? 0) > shown.length;
}
