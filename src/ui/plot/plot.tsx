import { type ReactNode, useCallback, useEffect, useId, useRef } from 'react';
import { errorText } from '../../base/errors.ts';
import { LoadError } from '../../base/load-error.ts';
import { useStores } from '../../state/stores.ts';
import { useSelectedIndex } from '../shared/selection.tsx';
import { useDevice, useServices } from '../shared/services.ts';
import { useTheme } from '../theme/use-theme.ts';
import { PlotFrame } from './minimap.tsx';
import { type MakeStrip, PlotController } from './plot-controller.ts';
import { onPlotKey } from './plot-navigation.ts';
import { type PlotSource, useOverlayStore } from './plot-source.ts';

interface PlotProps {
  /** Keep it the same object: another source starts the plot afresh. */
  readonly source: PlotSource;
  readonly strip?: MakeStrip | undefined;
  /** What the plot shows, and its kind: 'Memory over time', 'stacked timeline'. */
  readonly label: string;
  readonly kind: string;
  /** Tells a screen reader what is drawn and what the keys do. */
  readonly hint: string;
  readonly testId?: string;
  /** A row of figures above the plot. Inside the plot it would hide peaks. */
  readonly figures?: ReactNode;
  /** Rows above and below the plot, with the classes plot-above, plot-below, plot-above-head and plot-below-head. */
  readonly children?: ReactNode;
}

/**
 * A picture of the device in view, with axes and minimap. Writes the figures at the crosshair into the data-readout
 * elements of the enclosing view (`.view`).
 */
export function Plot({ source, strip, label, kind, hint, testId, ...props }: PlotProps) {
  const { info, device } = useDevice();
  const { session, timings, idle } = useServices();
  const { view } = useStores();
  const onError = useFailureReport();
  const selected = useSelectedIndex();
  const overlays = useOverlayStore();
  const theme = useTheme();
  const root = useRef<HTMLDivElement>(null);
  const controller = useRef<PlotController>(undefined);
  const latest = useRef({ theme, selected, strip });
  latest.current = { theme, selected, strip };
  const hintId = useId();

  // biome-ignore lint/correctness/useExhaustiveDependencies: another snapshot starts afresh even where its device looks the same
  useEffect(() => {
    if (root.current === null) return;
    // The page counts as busy until the first picture, even while no request is running.
    const endPainting = idle.begin();
    const made = new PlotController({
      strip: latest.current.strip,
      look: () => latest.current,
      root: root.current,
      device,
      session,
      source,
      view,
      overlays,
      idle,
      onPainted: () => {
        timings.reach('painted');
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
  }, [info, device, session, source, view, overlays, idle, timings, onError]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the controller reads them from `latest`
  useEffect(() => controller.current?.update(), [theme, selected]);

  return (
    <>
      <div className="plot-figures">{props.figures}</div>
      <PlotFrame ref={root} above={props.children}>
        <div
          className="plot-surface"
          data-testid={testId}
          data-takes-keys
          role="application"
          // biome-ignore lint/a11y/noNoninteractiveTabindex: it takes keys, see onPlotKey
          tabIndex={0}
          aria-label={label}
          aria-roledescription={kind}
          aria-describedby={hintId}
          onKeyDown={(event) => {
            const keys = controller.current?.navigation;
            if (keys !== undefined && onPlotKey(event, keys)) event.preventDefault();
          }}
        >
          <canvas className="plot-picture" />
          <svg className="grid" aria-hidden="true" />
          <canvas className="plot-overlay" />
        </div>
      </PlotFrame>
      <p id={hintId} className="visually-hidden">
        {hint}
      </p>
    </>
  );
}

/** A request fails only if the worker has died; the page reports that like a failed opening. */
function useFailureReport(): (error: unknown) => void {
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
