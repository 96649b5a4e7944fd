import { useEffect, useState } from 'react';
import type { Legend } from '../../../draw/coloring/legend.ts';
import {
  namedSites,
  type SiteColors,
  siteColorsInView,
} from '../../../draw/coloring/site-colors.ts';
import type { ColorBy } from '../../../draw/timeline/types.ts';
import { useStores, useView } from '../../../state/stores.ts';
import type { ViewState } from '../../../state/view-store.ts';
import type { LegendRequest } from '../../../worker/handlers/coloring.ts';
import { useDevice } from '../../shared/services.ts';
import { useQuery, type WithoutDevice } from '../../shared/use-query.ts';
import { classColors, SITE_COLORS } from '../../theme/palette.ts';

export interface ShownLegend {
  readonly legend: Legend;
  /** What its swatches are rows of: the view may have gone on to another coloring. */
  readonly colorBy: ColorBy;
  readonly siteColors: SiteColors;
  readonly isAtCursor: boolean;
  /** False while that of another moment or file is on its way. */
  readonly isCurrent: boolean;
}

/** A pan changes the window with each picture; the legend is asked for when it rests. */
const REST_MS = 120;

/** The legend at the cursor or of the peak in view; undefined until it came. */
export function useLegend(): ShownLegend | undefined {
  const resting = useRestingRequest();
  const { value: legend, request, isCurrent } = useQuery('legend', resting, { cancelsStale: true });
  const siteColors = useSiteColors(request?.colorBy === 'stack' ? legend : undefined);
  if (legend === undefined || request === undefined) return undefined;
  const { colorBy, at } = request;
  return { legend, colorBy, siteColors, isAtCursor: at !== undefined, isCurrent };
}

/** Gives the call sites that a legend names colors that differ, in the plots too. */
function useSiteColors(legend: Legend | undefined): SiteColors {
  const { view } = useStores();
  const before = useView((state) => state.siteColors);
  const named = legend === undefined ? [] : namedSites(legend);
  const siteColors = legend === undefined ? before : siteColorsInView(named, before, SITE_COLORS);
  useEffect(() => {
    if (view.getState().view.siteColors !== siteColors) view.adjust({ siteColors });
  }, [view, siteColors]);
  return siteColors;
}

/** What the view asks for, {@link REST_MS} after it came to rest. */
function useRestingRequest(): WithoutDevice<LegendRequest> {
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

function requestOf({ colorBy, cursor, axis, x }: ViewState): WithoutDevice<LegendRequest> {
  const classes = classColors('light', colorBy).length;
  // With a cursor the window does not matter.
  return { colorBy, classes, at: cursor, axis, x: cursor === undefined ? x : 'all' };
}
