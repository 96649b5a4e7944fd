import { useMemo, useState } from 'react';
import type { SegmentOrder } from '../../core/allocator-state/segment-groups.ts';
import type {
  AllocatorStateAnswer,
  AllocatorStateRequest,
} from '../../engine/handlers/allocator-state.ts';
import { useView } from '../../state/stores.ts';
import { cursorEvent } from '../cursor/cursor-steps.ts';
import { useDevice } from '../shared/device-context.ts';
import { type QueryState, useQuery, type WithoutDevice } from '../shared/use-query.ts';
import { classColors, plotColors } from '../theme/palette.ts';
import { plotStyle } from '../theme/plot-style.ts';
import { useTheme } from '../theme/use-theme.ts';
import type { BarColors } from './paint-bar.ts';

type StateRequest = WithoutDevice<AllocatorStateRequest>;

/** More pixels than any screen has are asked of nobody. */
const MOST_PIXELS = 4096;

export interface AllocatorStateView {
  readonly answer: QueryState<StateRequest, AllocatorStateAnswer>;
  readonly colors: BarColors;
  /** What is asked for; the event is that of the cursor, or the last. */
  readonly event: number;
  readonly setPositions: (positions: readonly number[]) => void;
}

/** The state at the cursor, with the rows of the positions that are on screen. */
export function useAllocatorState(order: SegmentOrder, barWidthPx: number): AllocatorStateView {
  const { device } = useDevice();
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
  const request: StateRequest = {
    event,
    order,
    positions,
    width,
    colorBy,
    classes: colors.classes.length,
    search,
  };
  return { answer: useQuery('allocatorState', request), colors, event, setPositions };
}
