import './plot.css';
import { type ReactNode, useId } from 'react';
import { Y_AXIS_WIDTH } from './axes.ts';
import { Minimap } from './minimap.tsx';
import { onPlotKey } from './plot-navigation.ts';
import type { PlotHandle } from './use-plot.ts';

interface PlotAreaProps {
  readonly plot: PlotHandle;
  /** What it shows, and what kind of picture it is: 'Memory over time', 'stacked timeline'. */
  readonly label: string;
  readonly kind: string;
  /** For those who cannot see it: what is drawn and what the keys do. */
  readonly hint: string;
  readonly testId?: string;
  /** A row of figures above the plot: within, it would hide the peaks. */
  readonly figures?: ReactNode;
  /** False where the whole trace is not known yet. */
  readonly hasMinimap?: boolean;
  /** Elements of the rows above and below the plot: of classes plot-above, plot-below and their heads. */
  readonly children?: ReactNode;
}

/** The picture with its axes and the minimap. */
export function PlotArea({ plot, label, kind, hint, hasMinimap = true, ...rest }: PlotAreaProps) {
  const { refs, navigation } = plot;
  const hintId = useId();
  return (
    <>
      <div className="plot-figures">{rest.figures}</div>
      <div
        className="plot-grid"
        style={{ gridTemplateColumns: `${Y_AXIS_WIDTH}px minmax(0, 1fr)` }}
      >
        {rest.children}
        <svg ref={refs.yAxis} className="axis y-axis" width={Y_AXIS_WIDTH} aria-hidden="true">
          <g transform={`translate(${Y_AXIS_WIDTH - 1},0)`} />
        </svg>
        <div className="plot">
          <div
            ref={refs.surface}
            className="plot-surface"
            data-testid={rest.testId}
            data-takes-keys
            role="application"
            // biome-ignore lint/a11y/noNoninteractiveTabindex: it takes keys, see onPlotKey
            tabIndex={0}
            aria-label={label}
            aria-roledescription={kind}
            aria-describedby={hintId}
            onKeyDown={(event) => {
              const keys = navigation();
              if (keys !== undefined && onPlotKey(event, keys)) event.preventDefault();
            }}
          >
            <canvas ref={refs.base} />
            <svg ref={refs.grid} className="grid" aria-hidden="true" />
            <canvas ref={refs.overlay} />
          </div>
        </div>
        <svg ref={refs.xAxis} className="axis x-axis" aria-hidden="true" />
        {hasMinimap && <Minimap />}
      </div>
      <p id={hintId} className="visually-hidden">
        {hint}
      </p>
      <div
        ref={refs.tooltip}
        className="floating tooltip"
        data-testid="tooltip"
        role="tooltip"
        hidden
      />
    </>
  );
}
