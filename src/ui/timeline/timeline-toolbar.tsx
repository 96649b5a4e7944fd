import type { RefObject } from 'react';
import { ColorLegend } from '../legend/color-legend.tsx';
import { ColorSelect } from '../legend/color-select.tsx';
import { AxisSwitch } from '../plot/axis-switch.tsx';
import { FitButton } from '../plot/fit-button.tsx';
import { CounterLegend } from './counter-legend.tsx';

interface TimelineToolbarProps {
  /** Has all that is written at the crosshair: the event, and the counters of the legend. */
  readonly readout: RefObject<HTMLDivElement | null>;
  readonly onFit: () => void;
}

/** How the timeline is drawn, and what its colours and lines mean. */
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
