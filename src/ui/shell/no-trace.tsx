import { formatBytes, formatCount, formatExactBytes } from '../../core/base/format.ts';
import { RecordRecipes } from '../recipes/record-recipes.tsx';
import { COUNTERS } from '../shared/counters.ts';
import { useDevice } from '../shared/device-context.ts';

/** A device without events: what is known is what was there when the snapshot was taken. */
export function NoTrace() {
  const { device } = useDevice();
  return (
    <div className="blank">
      <h2>No history was recorded on this device</h2>
      <p>
        {device.recordingReason} Over time there is nothing to show; this is how memory stood when
        the snapshot was taken, in {formatCount(device.segmentsAtEnd)}{' '}
        {device.segmentsAtEnd === 1 ? 'segment' : 'segments'}:
      </p>
      <dl className="facts">
        {COUNTERS.map(({ name, label, about }) => (
          <div key={name} title={about}>
            <dt>{label}</dt>
            <dd title={formatExactBytes(device.end[name])}>{formatBytes(device.end[name])}</dd>
          </div>
        ))}
      </dl>
      <h3>To see what filled it, record its history</h3>
      <RecordRecipes />
    </div>
  );
}
