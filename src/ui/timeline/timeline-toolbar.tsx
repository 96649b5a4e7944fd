import type { RefObject } from 'react';
import type { DeviceInfo, SessionInfo } from '../../core/device/types.ts';
import { ColorLegend } from '../legend/color-legend.tsx';
import { ColorSelect } from '../legend/color-select.tsx';
import { AxisSwitch } from '../plot/axis-switch.tsx';
import { FitButton } from '../plot/fit-button.tsx';
import { CounterLegend } from './counter-legend.tsx';

interface TimelineToolbarProps {
  readonly info: SessionInfo;
  readonly device: DeviceInfo;
  /** Has all that is written at the crosshair: the event, and the counters of the legend. */
  readonly readout: RefObject<HTMLDivElement | null>;
  readonly onFit: () => void;
}

/** How the timeline is drawn, and what its colours and lines mean. */
export function TimelineToolbar({ info, device, readout, onFit }: TimelineToolbarProps) {
  return (
    <div className="plot-toolbar" ref={readout}>
      <div className="toolbar-row">
        <AxisSwitch device={device} />
        <FitButton onFit={onFit} />
        <ColorSelect info={info} device={device} />
        <span className="event-readout" data-readout="event" />
      </div>
      <CounterLegend />
      <ColorLegend info={info} device={device} />
    </div>
  );
}
