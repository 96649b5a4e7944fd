import { useMemo, useState } from 'react';
import type { SegmentOrder } from '../../core/allocator-state/segment-groups.ts';
import type { DeviceInfo, SessionInfo } from '../../core/device/types.ts';
import type {
  AllocatorStateAnswer,
  AllocatorStateRequest,
} from '../../engine/handlers/allocator-state.ts';
import type { SessionApi } from '../../engine/protocol.ts';
import { useView } from '../../state/stores.ts';
import { cursorEvent } from '../cursor/cursor-steps.ts';
import { type Answer, useQuery } from '../shared/use-query.ts';
import { classColors, plotColors } from '../theme/palette.ts';
import { plotStyle } from '../theme/plot-style.ts';
import { useTheme } from '../theme/use-theme.ts';
import type { BarColors } from './paint-bar.ts';

const ask = (session: SessionApi, request: AllocatorStateRequest) =>
  session.allocatorState(request);

/** More pixels than any screen has are asked of nobody. */
const MOST_PIXELS = 4096;

export interface AllocatorStateView {
  readonly answer: Answer<AllocatorStateAnswer>;
  readonly colors: BarColors;
  /** What is asked for; the event is that of the cursor, or the last. */
  readonly event: number;
  readonly setPositions: (positions: readonly number[]) => void;
}

/** The state at the cursor, with the rows of the positions that are on screen. */
export function useAllocatorState(
  info: SessionInfo,
  device: DeviceInfo,
  order: SegmentOrder,
  barWidthPx: number,
): AllocatorStateView {
  const cursor = useView((view) => view.cursor);
  const colorBy = useView((view) => view.colorBy);
  const search = useView((view) => view.search);
  const onlyMatches = useView((view) => view.onlyMatches);
  const theme = useTheme();
  const [positions, setPositions] = useState<readonly number[]>([]);
  const colors = useMemo((): BarColors => {
    const { pending, background, thin } = plotColors(theme);
    return {
      classes: classColors(theme, colorBy),
      pending,
      unmatched: onlyMatches ? thin : undefined,
      edge: background,
      selection: plotStyle(theme).ink,
    };
  }, [theme, colorBy, onlyMatches]);
  const event = cursorEvent(device, cursor);
  const width = Math.min(MOST_PIXELS, Math.round(barWidthPx * window.devicePixelRatio));
  const request: AllocatorStateRequest = {
    deviceIndex: device.index,
    event,
    order,
    positions,
    width,
    colorBy,
    classes: colors.classes.length,
    search,
  };
  return { answer: useQuery(ask, request, info), colors, event, setPositions };
}
