import { Maximize2 } from 'lucide-react';
import type { TimeAxis } from '../../core/raster/types.ts';
import { useStores, useView } from '../../state/stores.ts';
import { useDevice } from '../shared/device-context.ts';

const AXES: readonly { readonly axis: TimeAxis; readonly label: string }[] = [
  { axis: 'event', label: 'Events' },
  { axis: 'time', label: 'Time' },
];

/** What x counts. */
export function AxisSwitch() {
  const { device } = useDevice();
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
          title={axis === 'time' && !device.hasTime ? 'This file has no timestamps' : undefined}
          onClick={() => view.commit({ axis, x: 'all' })}
        >
          {label}
        </button>
      ))}
    </fieldset>
  );
}

export function FitButton({ onFit }: { readonly onFit: () => void }) {
  return (
    <button type="button" className="button" title="Show the whole trace (F)" onClick={onFit}>
      <Maximize2 size={13} aria-hidden />
      Fit
    </button>
  );
}

interface ColorKeyProps {
  readonly label: string;
  readonly entries: readonly { readonly label: string; readonly color: string }[];
}

/** What a few colors of a plot mean. */
export function ColorKey({ label, entries }: ColorKeyProps) {
  return (
    <ul className="color-key" aria-label={label}>
      {entries.map((entry) => (
        <li key={entry.label}>
          <span style={{ background: entry.color }} aria-hidden />
          {entry.label}
        </li>
      ))}
    </ul>
  );
}
