import { useDevice } from './device-context.ts';

/** Says why there is no segment to show. */
export function NothingReserved() {
  const { device } = useDevice();
  const isEmptyAtEnd = device.end.reservedBytes === 0 && device.end.activeBytes === 0;
  return (
    <div className="blank">
      <h2>Nothing is reserved here</h2>
      <p>
        {isEmptyAtEnd && device.peaks.reservedBytes.bytes === 0
          ? 'This device has no segments or blocks, neither in its trace nor in its final state.'
          : 'At this event the allocator holds no segments or blocks. Step forward, or jump to the peak.'}
      </p>
    </div>
  );
}
