import { useEffect, useState } from 'react';
import type { Legend } from '../../core/coloring/legend.ts';
import type { DeviceInfo, SessionInfo } from '../../core/device/types.ts';
import type { ColorBy } from '../../core/raster/types.ts';
import type { ColoringChoice, LegendRequest } from '../../engine/handlers/coloring.ts';
import type { SessionApi } from '../../engine/protocol.ts';
import { useStores } from '../../state/stores.ts';
import type { ViewState } from '../../state/view-store.ts';
import { useServices } from '../shared/services.ts';
import { useQuery } from '../shared/use-query.ts';
import { classColors } from '../theme/palette.ts';

export interface ShownLegend {
  readonly legend: Legend;
  /** What its swatches are rows of: the view may have gone on to another colouring. */
  readonly colorBy: ColorBy;
  readonly isAtCursor: boolean;
}

/** A pan changes the window with each picture; the legend is asked for when it rests. */
const REST_MS = 120;

/** The legend at the cursor or of the peak in view; undefined until it came. */
export function useLegend(info: SessionInfo, device: DeviceInfo): ShownLegend | undefined {
  const { session } = useServices();
  const { view } = useStores();
  const [shown, setShown] = useState<ShownLegend>();
  // biome-ignore lint/correctness/useExhaustiveDependencies: another snapshot has another legend
  useEffect(() => {
    let asked = '';
    let timer: ReturnType<typeof setTimeout> | undefined;
    let stop = new AbortController();
    const ask = () => {
      const request = requestOf(view.getState().view, device.index);
      const key = JSON.stringify(request);
      if (key === asked) return;
      asked = key;
      stop.abort();
      stop = new AbortController();
      const { signal } = stop;
      const { colorBy, at } = request;
      session.legend(request, { signal }).then(
        (legend) => !signal.aborted && setShown({ legend, colorBy, isAtCursor: at !== undefined }),
        // Given up, or the worker is gone: the plot says so.
        () => undefined,
      );
    };
    ask();
    const unsubscribe = view.subscribe(() => {
      clearTimeout(timer);
      timer = setTimeout(ask, REST_MS);
    });
    return () => {
      unsubscribe();
      clearTimeout(timer);
      stop.abort();
    };
  }, [session, view, info, device.index]);
  return shown;
}

function requestOf({ colorBy, cursor, axis, x }: ViewState, deviceIndex: number): LegendRequest {
  const classes = classColors('light', colorBy).length;
  // With a cursor the window does not matter.
  return { deviceIndex, colorBy, classes, at: cursor, axis, x: cursor === undefined ? x : 'all' };
}

const NONE: readonly ColoringChoice[] = [];

const askColorings = (session: SessionApi, question: { readonly deviceIndex: number }) =>
  session.colorings(question);

/** Which colourings tell something apart on this device; empty until it is known. */
export function useColorings(info: SessionInfo, device: DeviceInfo): readonly ColoringChoice[] {
  return useQuery(askColorings, { deviceIndex: device.index }, info).value ?? NONE;
}
