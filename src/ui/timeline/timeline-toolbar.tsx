import { Maximize2 } from 'lucide-react';
import type { RefObject } from 'react';
import type { DeviceInfo } from '../../core/query/types.ts';
import type { ColorBy, TimeAxis } from '../../core/timeline/types.ts';
import { useStores, useView } from '../../state/stores.ts';
import { ColorLegend } from './color-legend.tsx';
import { CounterLegend } from './counter-legend.tsx';

interface TimelineToolbarProps {
  readonly device: DeviceInfo;
  readonly readout: RefObject<HTMLDivElement | null>;
  readonly onFit: () => void;
}

/** How the timeline is drawn, and what its colours and lines mean. */
export function TimelineToolbar({ device, readout, onFit }: TimelineToolbarProps) {
  return (
    <div className="timeline-toolbar">
      <div className="toolbar-row">
        <AxisSwitch device={device} />
        <button type="button" className="button" title="Show the whole trace (F)" onClick={onFit}>
          <Maximize2 size={13} aria-hidden />
          Fit
        </button>
        <ColorSelect device={device} />
        <ColorLegend />
      </div>
      <CounterLegend readout={readout} />
    </div>
  );
}

const AXES: readonly { readonly axis: TimeAxis; readonly label: string }[] = [
  { axis: 'event', label: 'Events' },
  { axis: 'time', label: 'Time' },
];

function AxisSwitch({ device }: { readonly device: DeviceInfo }) {
  const { view } = useStores();
  const current = useView((state) => state.axis);
  return (
    <fieldset className="segmented" aria-label="Horizontal axis">
      {AXES.map(({ axis, label }) => (
        <button
          key={axis}
          type="button"
          aria-pressed={current === axis}
          disabled={axis === 'time' && !device.hasTime}
          title={axis === 'time' && !device.hasTime ? 'This file has no times' : undefined}
          onClick={() => view.commit({ axis, x: 'all' })}
        >
          {label}
        </button>
      ))}
    </fieldset>
  );
}

const COLORINGS: readonly { readonly colorBy: ColorBy; readonly label: string }[] = [
  { colorBy: 'stack', label: 'call stack' },
  { colorBy: 'size', label: 'size' },
  { colorBy: 'category', label: 'category' },
];

function ColorSelect({ device }: { readonly device: DeviceInfo }) {
  const { view } = useStores();
  const current = useView((state) => state.colorBy);
  const isKnown = ({ colorBy }: { readonly colorBy: ColorBy }) =>
    colorBy !== 'category' || device.hasCategory;
  const choose = (value: string) => {
    const chosen = COLORINGS.find(({ colorBy }) => colorBy === value);
    if (chosen !== undefined) view.commit({ colorBy: chosen.colorBy });
  };
  return (
    <label className="labelled">
      <span className="dim">Colour by</span>
      <select
        className="select"
        value={current}
        onChange={({ currentTarget }) => choose(currentTarget.value)}
      >
        {COLORINGS.map((coloring) => (
          <option key={coloring.colorBy} value={coloring.colorBy} disabled={!isKnown(coloring)}>
            {coloring.label}
            {isKnown(coloring) ? '' : ' (not recorded)'}
          </option>
        ))}
      </select>
    </label>
  );
}
