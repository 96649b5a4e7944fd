/** The address map's texts: free memory, the clicked place, the address ranges. */

import { rollups, sum } from 'd3';
import { formatBytes, formatCount, plural } from '../../../base/format.ts';
import type { DeviceInfo, OomInfo } from '../../../device/model/device-info.ts';
import type { AddressSlot, AddressSlots } from '../../../draw/address-map/address-layout.ts';
import type { FreeMemory } from '../../../draw/address-map/free-memory.ts';
import type { SegmentFacts } from '../../../draw/address-map/segment-lives.ts';
import { useView } from '../../../state/stores.ts';
import type { PixelRequest } from '../../../worker/protocol.ts';
import { cursorEvent } from '../../panels/cursor/cursor-steps.ts';
import { Bytes, TableHead } from '../../shared/facts.tsx';
import { lifeText, SEGMENT_CLASS_LABELS, segmentKindText } from '../../shared/segment-content.tsx';
import { useDevice } from '../../shared/services.ts';
import { useQuery } from '../../shared/use-query.ts';
import { addressText } from './address-source.ts';

/** The free memory at the cursor, and at an OOM whether it would have been enough. */
export function FreeFacts({ slots }: { readonly slots: AddressSlots }) {
  const { device } = useDevice();
  const cursor = useView((view) => view.cursor);
  const state = cursorEvent(device, cursor);
  const { value, failure } = useQuery('freeMemory', { state });
  const oom = device.ooms.find(({ event }) => event === state);
  const missing = missingText(device, slots);
  const verdict = oom !== undefined && value !== undefined ? oomText(oom, value) : undefined;
  const isKnown = slots.segments > 0 && value !== undefined;
  return (
    <p
      className="one-line free-facts"
      role={failure === undefined ? undefined : 'alert'}
      title={verdict ?? missing}
    >
      {failure !== undefined && `The free memory is not known: ${failure} `}
      {isKnown && failure === undefined && (
        <>
          <span className="dim free-place">
            {cursor === undefined ? 'At the end ' : 'At the cursor '}
          </span>
          {value.freeBytes === 0 ? (
            'nothing of the reserved memory is free. '
          ) : (
            <>
              <Bytes as="b" bytes={value.freeBytes} /> free in {plural(value.ranges, 'range')}, the
              largest <Bytes as="b" bytes={value.largestBytes} />.{' '}
            </>
          )}
          {verdict !== undefined && <strong className="free-verdict">{verdict} </strong>}
        </>
      )}
      {missing !== undefined && <span className="dim">{missing}</span>}
    </p>
  );
}

/** Counts the free memory of all pools and streams, so a range that would fit belongs to another one. */
export function oomText({ requestedBytes, wasRetried }: OomInfo, free: FreeMemory): string {
  const asked = `${wasRetried ? 'Retried' : 'OOM'}: ${formatBytes(requestedBytes)} requested,`;
  if (requestedBytes > free.freeBytes) return `${asked} more than the total`;
  if (requestedBytes > free.largestBytes) return `${asked} larger than any range`;
  return `${asked} a free range is large enough, but belongs to another pool or stream`;
}

/** What the file lacks, and how the map is drawn without it. */
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

interface PinnedAddressProps {
  readonly slots: AddressSlots;
  readonly place: PixelRequest | undefined;
}

/** The gap and the segment at the clicked place; the details panel describes its allocation. */
export function PinnedAddress({ slots, place }: PinnedAddressProps) {
  const { value, failure } = useQuery('addressHit', place);
  const hit = place && value?.hit;
  return (
    <p
      className="one-line dim small pinned-address"
      aria-live="polite"
      title={hit?.segment && segmentText(hit.segment)}
    >
      {failure !== undefined && `It cannot be read: ${failure}`}
      {failure === undefined && hit === undefined && 'Click a block or gap to pin it.'}
      {failure === undefined && hit !== undefined && (
        <>
          Event {formatCount(place?.state ?? -1)}:{' '}
          {hit.block !== undefined && (
            <>
              <b>{formatBytes(hit.block.blockBytes)}</b> block <code>{hit.block.label}</code>{' '}
            </>
          )}
          {hit.block === undefined && hit.gap !== undefined && (
            <>
              <Bytes as="b" bytes={hit.gap.to - hit.gap.from} /> free at{' '}
              <code>{addressText(slots.slots, hit.gap.from)}</code>{' '}
            </>
          )}
          {hit.segment === undefined ? (
            'not reserved'
          ) : (
            <>
              in <code>{hit.segment.label}</code>, {segmentText(hit.segment)}
            </>
          )}
        </>
      )}
    </p>
  );
}

/** '20.00 MiB segment of the large pool, stream 0, reserved from event 12 to the end' */
const segmentText = (segment: SegmentFacts): string =>
  `${formatBytes(segment.sizeBytes)} ${segmentKindText(segment)}, stream ${segment.stream}, reserved ${lifeText(segment)}`;

const SLOT_LABELS: Readonly<Record<AddressSlot['kind'], string>> = {
  ...SEGMENT_CLASS_LABELS,
  several: 'used by several pools',
  unknown: 'unknown segment',
};

export function SlotKinds({ slots }: { readonly slots: AddressSlots }) {
  const count = slots.slots.length;
  return (
    <details className="slot-kinds">
      <summary title="Address ranges that were reserved at any time, shown next to each other">
        <span className="slot-total">{formatBytes(slots.totalBytes)} of addresses in </span>
        {plural(count, 'range')}
      </summary>
      <div className="floating slot-box">
        <table>
          <TableHead labels={['Pool', 'Ranges', 'Segments', 'Addresses']} />
          <tbody>
            {kindsOf(slots.slots).map(({ kind, ranges, segments, sizeBytes }) => (
              <tr key={kind}>
                <th scope="row">{SLOT_LABELS[kind]}</th>
                <td>{formatCount(ranges)}</td>
                <td>{formatCount(segments)}</td>
                <Bytes as="td" bytes={sizeBytes} />
              </tr>
            ))}
          </tbody>
        </table>
        <p className="dim">
          Over the whole trace: ranges that were released and reserved again count once, so the
          total can exceed what was reserved at any one time.
        </p>
        {slots.strays > 0 && (
          <p className="dim">
            {formatCount(slots.strays)} allocations lie outside all segments in the file; they have
            their own ranges.
          </p>
        )}
      </div>
    </details>
  );
}

export function kindsOf(slots: readonly AddressSlot[]) {
  const sums = (own: readonly AddressSlot[]) => ({
    ranges: own.length,
    segments: sum(own, ({ segments }) => segments),
    sizeBytes: sum(own, ({ sizeBytes }) => sizeBytes),
  });
  return rollups(slots, sums, ({ kind }) => kind)
    .map(([kind, totals]) => ({ kind, ...totals }))
    .sort((a, b) => b.sizeBytes - a.sizeBytes);
}
