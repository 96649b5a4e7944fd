import type { RefObject } from 'react';
import type { CounterName } from '../../core/replay/types.ts';
import { useStores, useView } from '../../state/stores.ts';
import { ColorLegend, ColorSelect } from '../legend/color-legend.tsx';
import { AxisSwitch, FitButton } from '../plot/plot-controls.tsx';
import { COUNTERS } from '../shared/device-labels.ts';
import { plotStyle } from '../theme/plot-style.ts';
import { useTheme } from '../theme/use-theme.ts';

interface TimelineToolbarProps {
  /** Has all that is written at the crosshair: the event, and the counters of the legend. */
  readonly readout: RefObject<HTMLDivElement | null>;
  readonly onFit: () => void;
}

/** How the timeline is drawn, and what its colors and lines mean. */
export function TimelineToolbar({ readout, onFit }: TimelineToolbarProps) {
  return (
    <div className="plot-toolbar" ref={readout}>
      <div className="toolbar-row">
        <AxisSwitch />
        <FitButton onFit={onFit} />
        <ColorSelect />
        <span className="event-readout" data-readout="event" />
      </div>
      <CounterLegend />
      <ColorLegend />
    </div>
  );
}

/** Switches the lines, and says their values at the crosshair (see Readout). */
function CounterLegend() {
  const { view } = useStores();
  const lines = useView((state) => state.lines);
  const colors = plotStyle(useTheme()).lines;
  const toggle = (name: CounterName) =>
    view.commit({
      lines: lines.includes(name) ? lines.filter((line) => line !== name) : [...lines, name],
    });
  return (
    <div className="toolbar-row counter-legend">
      {COUNTERS.map(({ name, label, about }) => (
        <button
          key={name}
          type="button"
          className="counter"
          aria-pressed={lines.includes(name)}
          aria-label={`${label} line`}
          title={about}
          onClick={() => toggle(name)}
        >
          <span className="counter-swatch" style={{ background: colors[name] }} aria-hidden />
          <span className="counter-name">{label}</span>
          <span className="counter-value" data-readout={name} />
        </button>
      ))}
    </div>
  );
}
