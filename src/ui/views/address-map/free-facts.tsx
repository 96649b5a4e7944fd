import { formatBytes, plural } from '../../../base/format.ts';
import type { DeviceInfo, OomInfo } from '../../../device/model/types.ts';
import type { AddressSlots } from '../../../draw/address-map/address-layout.ts';
import type { FreeMemory } from '../../../draw/address-map/free-memory.ts';
import { useView } from '../../../state/stores.ts';
import { Bytes } from '../../shared/facts.tsx';
import { useDevice } from '../../shared/services.ts';
import { useQuery } from '../../shared/use-query.ts';

/** What is free at the cursor, and at an OOM whether it would have been enough. */
export function FreeFacts({ slots }: { readonly slots: AddressSlots }) {
  const { device } = useDevice();
  const cursor = useView((view) => view.cursor);
  const state = Math.min(cursor ?? device.events - 1, device.events - 1);
  const { value, failure } = useQuery('freeMemory', { state });
  const oom = device.ooms.find(({ event }) => event === state);
  const missing = missingText(device, slots);
  const verdict = oom !== undefined && value !== undefined ? oomText(oom, value) : undefined;
  if (failure !== undefined) {
    return (
      <p className="one-line free-facts" role="alert">
        The free memory is not known: {failure}
      </p>
    );
  }
  return (
    <p className="one-line free-facts" title={verdict ?? missing}>
      {slots.segments > 0 && value !== undefined && (
        <>
          <span className="dim free-place">
            {cursor === undefined ? 'At the end ' : 'At the cursor '}
          </span>
          <Figures free={value} />
          {verdict !== undefined && <strong className="free-verdict">{verdict} </strong>}
        </>
      )}
      {missing !== undefined && <span className="dim">{missing}</span>}
    </p>
  );
}

function Figures({ free }: { readonly free: FreeMemory }) {
  const { freeBytes, largestBytes, ranges } = free;
  if (freeBytes === 0) return <>nothing of the reserved memory is free. </>;
  return (
    <>
      <Bytes as="b" bytes={freeBytes} /> free in {plural(ranges, 'range')}, the largest{' '}
      <Bytes as="b" bytes={largestBytes} />.{' '}
    </>
  );
}

/** Free memory is that of all pools and streams: where a range would fit, it is not of the right one. */
export function oomText({ requestedBytes, wasRetried }: OomInfo, free: FreeMemory): string {
  const asked = `${wasRetried ? 'Retried' : 'OOM'}: ${formatBytes(requestedBytes)} requested,`;
  if (requestedBytes > free.freeBytes) return `${asked} more than the total`;
  if (requestedBytes > free.largestBytes) return `${asked} no free range is large enough`;
  return `${asked} a free range is large enough, but belongs to another pool or stream`;
}

/** What the file does not say, and how the map is drawn for want of it. */
export function missingText(
  { actions }: DeviceInfo,
  { segments }: AddressSlots,
): string | undefined {
  if (segments === 0) {
    return 'The file lists no segments, so only blocks are shown; other reserved memory is unknown.';
  }
  const words = ['segment_alloc', 'segment_free', 'segment_map', 'segment_unmap'];
  if (words.some((word) => (actions[word] ?? 0) > 0)) return undefined;
  return 'This trace has no segment events, so segments are drawn as if they had always existed.';
}
