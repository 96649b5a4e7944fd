import type { RefObject } from 'react';
import type { DeviceInfo } from '../../core/query/types.ts';
import { AxisSwitch } from '../plot/axis-switch.tsx';
import { FitButton } from '../plot/fit-button.tsx';
import { ColorLegend } from './color-legend.tsx';
import { ColorSelect } from './color-select.tsx';
import { CounterLegend } from './counter-legend.tsx';

interface TimelineToolbarProps {
  readonly device: DeviceInfo;
  readonly readout: RefObject<HTMLDivElement | null>;
  readonly onFit: () => void;
}

/** How the timeline is drawn, and what its colours and lines mean. */
export function TimelineToolbar({ device, readout, onFit }: TimelineToolbarProps) {
  return (
    <div className="plot-toolbar">
      <div className="toolbar-row">
        <AxisSwitch device={device} />
        <FitButton onFit={onFit} />
        <ColorSelect device={device} />
        <ColorLegend />
      </div>
      <CounterLegend readout={readout} />
    </div>
  );
}
