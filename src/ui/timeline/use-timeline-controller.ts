import { type RefObject, useCallback, useEffect, useRef } from 'react';
import { LoadError } from '../../core/base/load-error.ts';
import type { DeviceInfo, SessionInfo } from '../../core/query/types.ts';
import { useStores } from '../../state/stores.ts';
import { useServices } from '../app/services.ts';
import { useTheme } from '../theme/use-theme.ts';
import { TimelineController } from './timeline-controller.ts';

/** What the controller draws on; all are there once the view is mounted. */
export interface TimelineRefs {
  readonly surface: RefObject<HTMLDivElement | null>;
  readonly base: RefObject<HTMLCanvasElement | null>;
  readonly overlay: RefObject<HTMLCanvasElement | null>;
  readonly lanes: RefObject<HTMLCanvasElement | null>;
  readonly xAxis: RefObject<SVGSVGElement | null>;
  readonly yAxis: RefObject<SVGSVGElement | null>;
  readonly grid: RefObject<SVGSVGElement | null>;
  readonly tooltip: RefObject<HTMLDivElement | null>;
  readonly readout: RefObject<HTMLDivElement | null>;
}

interface TimelineControllerProps {
  readonly info: SessionInfo;
  readonly device: DeviceInfo;
  readonly selected: number;
  readonly refs: TimelineRefs;
}

/** A controller for as long as this snapshot and device are shown. */
export function useTimelineController({
  info,
  device,
  selected,
  refs,
}: TimelineControllerProps): RefObject<TimelineController | undefined> {
  const { session, marks, idle } = useServices();
  const { view } = useStores();
  const onError = useFailureReport(info);
  const theme = useTheme();
  const controller = useRef<TimelineController | undefined>(undefined);
  const start = useRef({ theme, selected, refs });
  start.current = { theme, selected, refs };

  // biome-ignore lint/correctness/useExhaustiveDependencies: another snapshot starts afresh even where its device looks the same
  useEffect(() => {
    const { refs, ...initial } = start.current;
    const elements = elementsOf(refs);
    if (elements === undefined) return;
    // From here to the first picture the page is busy, also while no question is under way.
    const endPainting = idle.begin();
    const made = new TimelineController({
      ...initial,
      ...elements,
      device,
      session,
      view,
      onPainted: () => {
        marks.reach('painted');
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
  }, [info, device, session, view, marks, idle, onError]);

  useEffect(() => controller.current?.setTheme(theme), [theme]);
  useEffect(() => controller.current?.setSelected(selected), [selected]);
  return controller;
}

function elementsOf(refs: TimelineRefs) {
  const [base, overlay, lanes] = [refs.base.current, refs.overlay.current, refs.lanes.current];
  const surface = refs.surface.current;
  const [x, y, grid] = [refs.xAxis.current, refs.yAxis.current, refs.grid.current];
  const [tooltip, readout] = [refs.tooltip.current, refs.readout.current];
  if (!surface || !base || !overlay || !lanes || !x || !y || !grid || !tooltip || !readout)
    return undefined;
  return { elements: { surface, base, overlay, lanes, axes: { x, y, grid } }, tooltip, readout };
}

/** The worker fails only when it has died; that is told like a failed opening. */
function useFailureReport({ file }: SessionInfo): (error: unknown) => void {
  const { session } = useStores();
  return useCallback(
    (error: unknown) => {
      const isKnown = error instanceof LoadError;
      const message = error instanceof Error ? error.message : String(error);
      const { failure } = isKnown ? error : new LoadError({ code: 'unexpected', message });
      // Said once, not for every question that was under way.
      if (session.getState().phase === 'ready') session.begin(file.name).failed(failure);
    },
    [session, file],
  );
}
