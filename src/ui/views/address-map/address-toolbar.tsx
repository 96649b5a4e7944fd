import { formatBytes, formatCount } from '../../../base/format.ts';
import type { AddressSlots } from '../../../draw/address-map/address-layout.ts';
import type { SegmentFacts } from '../../../draw/address-map/segment-index.ts';
import type { AddressHighlight } from '../../../worker/handlers/address-map.ts';
import { ColorLegend, ColorSelect } from '../../panels/legend/color-legend.tsx';
import { AxisSwitch, ColorKey, FitButton } from '../../plot/plot-controls.tsx';
import type { PlotPixel } from '../../plot/plot-source.ts';
import { Bytes } from '../../shared/facts.tsx';
import { lifeText, segmentKindText } from '../../shared/segment-content.tsx';
import { useQuery } from '../../shared/use-query.ts';
import { useTheme } from '../../theme/use-theme.ts';
import { addressText } from './address-content.ts';
import { addressColors, markColors } from './address-palette.ts';
import { FreeFacts } from './free-facts.tsx';
import { freeColors } from './free-strip.ts';
import { SlotKinds } from './slot-kinds.tsx';

interface AddressToolbarProps {
  readonly slots: AddressSlots;
  /** What was clicked. */
  readonly place: PlotPixel | undefined;
  /** What is outlined of a finding. */
  readonly highlight: AddressHighlight | undefined;
}

/** How the map is drawn, what its colors mean, and how much is free. */
export function AddressToolbar({ slots, place, highlight }: AddressToolbarProps) {
  return (
    <div className="plot-toolbar">
      <div className="row toolbar-row">
        <AxisSwitch />
        <FitButton field="addresses" />
        <ColorSelect />
        <SlotKinds slots={slots} />
        <span className="one-line event-readout" data-readout="event" />
      </div>
      <FreeFacts slots={slots} />
      <div className="free-row">
        <PinnedAddress slots={slots} place={place} />
        <FreeLegend highlight={highlight} />
      </div>
      <ColorLegend />
    </div>
  );
}

function FreeLegend({ highlight }: Pick<AddressToolbarProps, 'highlight'>) {
  const theme = useTheme();
  const { free, largest } = freeColors(theme);
  const { block, gap } = markColors(theme);
  const blocks = { color: block, label: 'blocks of the finding' };
  const gaps = { color: gap, label: 'its gaps' };
  return (
    <ColorKey
      label="Free memory"
      entries={[
        { color: addressColors(theme).gap, label: 'reserved, free' },
        { color: largest, label: 'largest free range' },
        { color: free, label: 'total free' },
        ...((highlight?.allocations.length ?? 0) > 0 ? [blocks] : []),
        ...((highlight?.bands.length ?? 0) > 0 ? [gaps] : []),
      ]}
    />
  );
}

interface PinnedAddressProps {
  readonly slots: AddressSlots;
  /** What was clicked; undefined for nothing. */
  readonly place: PlotPixel | undefined;
}

/** The gap and the segment of the place that was clicked; of its allocation the details tell. */
function PinnedAddress({ slots, place }: PinnedAddressProps) {
  const { value, failure } = useQuery('addressHit', place);
  if (failure !== undefined)
    return <p className="one-line pinned-address">It cannot be read: {failure}</p>;
  if (place === undefined || value?.hit === undefined) {
    return <p className="one-line pinned-address">Click a block or gap to pin it.</p>;
  }
  const { block, gap, segment } = value.hit;
  return (
    <p
      className="one-line pinned-address"
      aria-live="polite"
      title={segment && segmentText(segment)}
    >
      Event {formatCount(place.state)}:{' '}
      {block !== undefined && (
        <>
          <b>{formatBytes(block.blockBytes)}</b> block <code>{block.label}</code>{' '}
        </>
      )}
      {block === undefined && gap !== undefined && (
        <>
          <Bytes as="b" bytes={gap.to - gap.from} /> free at{' '}
          <code>{addressText(slots.slots, gap.from)}</code>{' '}
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
