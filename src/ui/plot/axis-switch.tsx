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
          title={axis === 'time' && !device.hasTime ? 'This file has no times' : undefined}
          onClick={() => view.commit({ axis, x: 'all' })}
        >
          {label}
        </button>
      ))}
    </fieldset>
  );
}
