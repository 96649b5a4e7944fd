import { useEffect, useState } from 'react';
import type { Legend } from '../../core/coloring/legend.ts';
import type { ColorBy } from '../../core/raster/types.ts';
import type { ColoringChoice, LegendRequest } from '../../engine/handlers/coloring.ts';
import { useStores } from '../../state/stores.ts';
import type { ViewState } from '../../state/view-store.ts';
import { useDevice } from '../shared/device-context.ts';
import { useQuery, type WithoutDevice } from '../shared/use-query.ts';
import { classColors } from '../theme/palette.ts';

export interface ShownLegend {
  readonly legend: Legend;
  /** What its swatches are rows of: the view may have gone on to another coloring. */
  readonly colorBy: ColorBy;
  readonly isAtCursor: boolean;
}

/** A pan changes the window with each picture; the legend is asked for when it rests. */
const REST_MS = 120;

/** The legend at the cursor or of the peak in view; undefined until it came. */
export function useLegend(): ShownLegend | undefined {
  const { value: legend, request } = useQuery('legend', useRestingRequest(), {
    cancelsStale: true,
  });
  if (legend === undefined || request === undefined) return undefined;
  return { legend, colorBy: request.colorBy, isAtCursor: request.at !== undefined };
}

/** What the view asks for, {@link REST_MS} after it came to rest. */
function useRestingRequest(): Request {
  const { info } = useDevice();
  const { view } = useStores();
  const [request, setRequest] = useState(() => requestOf(view.getState().view));
  // biome-ignore lint/correctness/useExhaustiveDependencies: another snapshot is asked at once
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const settle = () => setRequest(requestOf(view.getState().view));
    settle();
    const unsubscribe = view.subscribe(() => {
      clearTimeout(timer);
      timer = setTimeout(settle, REST_MS);
    });
    return () => {
      unsubscribe();
      clearTimeout(timer);
    };
  }, [view, info]);
  return request;
}

type Request = WithoutDevice<LegendRequest>;

function requestOf({ colorBy, cursor, axis, x }: ViewState): Request {
  const classes = classColors('light', colorBy).length;
  // With a cursor the window does not matter.
  return { colorBy, classes, at: cursor, axis, x: cursor === undefined ? x : 'all' };
}

const NONE: readonly ColoringChoice[] = [];

/** Which colorings tell something apart on this device; empty until it is known. */
export function useColorings(): readonly ColoringChoice[] {
  return useQuery('colorings', {}).value ?? NONE;
}
