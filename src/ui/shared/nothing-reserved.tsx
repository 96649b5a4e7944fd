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
          ? 'Neither the trace nor the final state of this device holds a segment or a block.'
          : 'At this event the allocator holds no segment and no block. Step on, or jump to the peak, with the bar above.'}
      </p>
    </div>
  );
}
