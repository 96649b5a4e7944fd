import { type RefObject, useCallback, useEffect, useRef } from 'react';
import { errorText } from '../../base/errors.ts';
import { LoadError } from '../../base/load-error.ts';
import { useStores } from '../../state/stores.ts';
import { useSelectedIndex } from '../shared/selection.tsx';
import { useDevice, useServices } from '../shared/services.ts';
import { useTheme } from '../theme/use-theme.ts';
import { useBandsStore } from './bands.ts';
import { useGuidesStore } from './guides.ts';
import { PlotController, type PlotOptions } from './plot-controller.ts';
import type { PlotNavigation } from './plot-navigation.ts';
import type { PlotFrame, PlotRequest } from './plot-source.ts';

/** What the controller draws on; all are there once the view is mounted. */
export interface PlotRefs {
  readonly surface: RefObject<HTMLDivElement | null>;
  readonly base: RefObject<HTMLCanvasElement | null>;
  readonly overlay: RefObject<HTMLCanvasElement | null>;
  readonly xAxis: RefObject<SVGSVGElement | null>;
  readonly yAxis: RefObject<SVGSVGElement | null>;
  readonly grid: RefObject<SVGSVGElement | null>;
  readonly tooltip: RefObject<HTMLDivElement | null>;
  /** Where the figures at the crosshair are written, see Readout; outside of the plot's area. */
  readonly readout: RefObject<HTMLDivElement | null>;
}

/** A plot on the page: give it to a PlotArea. */
export interface PlotHandle {
  readonly refs: PlotRefs;
  /** Undefined before the plot is mounted. */
  readonly navigation: () => PlotNavigation | undefined;
  /** To be called when the device has more to show than before. */
  readonly refresh: () => void;
}

type PlotProps<Q extends PlotRequest, F extends PlotFrame> = Pick<
  PlotOptions<Q, F>,
  'source' | 'strip'
>;

/** A plot for as long as this snapshot, device and source are shown: keep the source the same. */
export function usePlot<Q extends PlotRequest, F extends PlotFrame>({
  source,
  strip,
}: PlotProps<Q, F>): PlotHandle {
  const { info, device } = useDevice();
  const { session, marks } = useServices();
  const { view } = useStores();
  const onError = useFailureReport();
  const onPainted = useCallback(() => marks.reach('painted'), [marks]);
  return usePlotOf({ source, strip, of: info, device, session, view, onPainted, onError });
}

interface PlotOfProps<Q extends PlotRequest, F extends PlotFrame>
  extends PlotProps<Q, F>,
    Pick<PlotOptions<Q, F>, 'device' | 'session' | 'view' | 'onPainted' | 'onError'> {
  /** What the device is of: for another one the plot starts afresh, even where the device looks the same. */
  readonly of: unknown;
}

/** A plot of whatever it is given. Each of these starts it afresh when it changes, but for `strip`. */
export function usePlotOf<Q extends PlotRequest, F extends PlotFrame>({
  source,
  strip,
  of,
  device,
  session,
  view,
  onPainted,
  onError,
}: PlotOfProps<Q, F>): PlotHandle {
  const selected = useSelectedIndex();
  const { idle } = useServices();
  const bands = useBandsStore();
  const guides = useGuidesStore();
  const theme = useTheme();
  const refs = usePlotRefs();
  const controller = useRef<PlotController<Q, F> | undefined>(undefined);
  const start = useRef({ theme, selected, refs, strip });
  start.current = { theme, selected, refs, strip };

  // biome-ignore lint/correctness/useExhaustiveDependencies: another snapshot starts afresh even where its device looks the same
  useEffect(() => {
    const { refs, ...initial } = start.current;
    const elements = elementsOf(refs);
    if (elements === undefined) return;
    // From here to the first picture the page is busy, also while no question is under way.
    const endPainting = idle.begin();
    const made = new PlotController({
      ...initial,
      ...elements,
      device,
      session,
      source,
      view,
      bands,
      guides,
      onPainted: () => {
        onPainted();
        endPainting();
      },
      onError,
    });
    controller.current = made;
    return () => {
      controller.current = undefined;
      made.destroy();
      endPainting();
    };
  }, [of, device, session, source, view, bands, guides, idle, onPainted, onError]);

  useEffect(() => controller.current?.setTheme(theme), [theme]);
  useEffect(() => controller.current?.setSelected(selected), [selected]);
  return {
    refs,
    navigation: () => controller.current?.navigation,
    refresh: () => controller.current?.refresh(),
  };
}

function usePlotRefs(): PlotRefs {
  return {
    surface: useRef<HTMLDivElement>(null),
    base: useRef<HTMLCanvasElement>(null),
    overlay: useRef<HTMLCanvasElement>(null),
    xAxis: useRef<SVGSVGElement>(null),
    yAxis: useRef<SVGSVGElement>(null),
    grid: useRef<SVGSVGElement>(null),
    tooltip: useRef<HTMLDivElement>(null),
    readout: useRef<HTMLDivElement>(null),
  };
}

function elementsOf(refs: PlotRefs) {
  const [surface, base, overlay] = [refs.surface.current, refs.base.current, refs.overlay.current];
  const [x, y, grid] = [refs.xAxis.current, refs.yAxis.current, refs.grid.current];
  const [tooltip, readout] = [refs.tooltip.current, refs.readout.current];
  if (!surface || !base || !overlay || !x || !y || !grid || !tooltip || !readout) return undefined;
  return { elements: { surface, base, overlay, axes: { x, y, grid } }, tooltip, readout };
}

/** The worker fails only when it has died; the page reports that as it reports a failed opening. */
export function useFailureReport(): (error: unknown) => void {
  const { info } = useDevice();
  const { session } = useStores();
  return useCallback(
    (error: unknown) => {
      const isKnown = error instanceof LoadError;
      const message = errorText(error);
      const { failure } = isKnown ? error : new LoadError({ code: 'unexpected', message });
      session.broke(info, failure);
    },
    [session, info],
  );
}
