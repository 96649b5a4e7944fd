import type { AddressSlots } from '../../core/address-map/address-layout.ts';
import type { SegmentFacts } from '../../core/address-map/segment-index.ts';
import { formatBytes, formatCount, formatExactBytes } from '../../core/base/format.ts';
import type { PlotPlace } from '../plot/plot-source.ts';
import { lifeText, segmentKindText } from '../segments/segment-content.ts';
import { useQuery } from '../shared/use-query.ts';
import { addressText } from './address-content.ts';

interface PinnedAddressProps {
  readonly slots: AddressSlots;
  /** What was clicked; undefined for nothing. */
  readonly place: PlotPlace | undefined;
}

/** The gap and the segment of the place that was clicked; of its allocation the details tell. */
export function PinnedAddress({ slots, place }: PinnedAddressProps) {
  const { value, failure } = useQuery('addressHit', place);
  if (failure !== undefined) return <p className="pinned-address">It cannot be read: {failure}</p>;
  if (place === undefined || value === undefined) {
    return <p className="pinned-address">Click a block or gap to pin it.</p>;
  }
  const { block, gap, segment } = value;
  return (
    <p className="pinned-address" aria-live="polite" title={segment && segmentText(segment)}>
      Event {formatCount(place.state)}:{' '}
      {block !== undefined && (
        <>
          <b>{formatBytes(block.blockBytes)}</b> block <code>{block.label}</code>{' '}
        </>
      )}
      {block === undefined && gap !== undefined && (
        <>
          <b title={formatExactBytes(gap.to - gap.from)}>{formatBytes(gap.to - gap.from)}</b> free
          at <code>{addressText(slots.slots, gap.from)}</code>{' '}
        </>
      )}
      {segment === undefined ? (
        'not reserved'
      ) : (
        <>
          in <code>{segment.label}</code>, {segmentText(segment)}
        </>
      )}
    </p>
  );
}

/** '20.00 MiB segment of the large pool, stream 0, reserved from event 12 to the end' */
const segmentText = (segment: SegmentFacts): string =>
  `${formatBytes(segment.sizeBytes)} ${segmentKindText(segment)}, stream ${segment.stream}, reserved ${lifeText(segment)}`;
