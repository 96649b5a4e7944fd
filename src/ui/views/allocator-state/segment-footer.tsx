import { Filter } from 'lucide-react';
import { SegmentKind } from '../../../allocator/state/types.ts';
import { formatBytes, formatCount, formatExactBytes, plural } from '../../../base/format.ts';
import type { SegmentRow } from '../../../device/allocator-state/describe-state.ts';
import { frameLabel } from '../../../device/model/frame-text.ts';
import { absenceText } from '../../../device/model/stacks.ts';
import { useStores } from '../../../state/stores.ts';
import { CopyButton } from '../../shared/buttons.tsx';
import { Bytes } from '../../shared/facts.tsx';
import { roundingText } from './state-labels.ts';

/** Everything known about the segment that keys act on. */
export function SegmentFooter({ row }: { readonly row: SegmentRow }) {
  const { view } = useStores();
  const { addressHex, kind, sizeBytes, allocatedBytes, pendingBytes, liveBlocks } = row;
  const free = sizeBytes - allocatedBytes - pendingBytes;
  return (
    <section className="row segment-footer" aria-label="Segment">
      <CopyButton text={`0x${addressHex}`} label="address" className="mono">
        0x{addressHex}
      </CopyButton>
      <span>
        {KIND_TEXT[kind]}, <Bytes bytes={sizeBytes} />
      </span>
      <span title={formatExactBytes(allocatedBytes)}>{formatBytes(allocatedBytes)} allocated</span>
      {pendingBytes > 0 && (
        <span title={formatExactBytes(pendingBytes)}>{formatBytes(pendingBytes)} pending</span>
      )}
      {free > 0 && <span title={formatExactBytes(free)}>{formatBytes(free)} free</span>}
      <span>{plural(liveBlocks, 'block')}</span>
      {(row.roundingBytes > 0 || row.unknownBytes > 0) && (
        <span title="In live blocks: block size minus requested size">
          {roundingText(row)} lost to rounding
        </span>
      )}
      <MappedText row={row} />
      <span>
        {row.frame === undefined ? absenceText(row.stackKind) : `made by ${frameLabel(row.frame)}`}
      </span>
      <button
        type="button"
        className="link"
        title="Filter all views to the blocks of this segment"
        onClick={() => view.commit({ search: `s${addressHex}` })}
      >
        <Filter size={12} aria-hidden />
        Show its blocks
      </button>
    </section>
  );
}

const KIND_TEXT: Readonly<Record<SegmentKind, string>> = {
  [SegmentKind.Native]: 'one cudaMalloc',
  [SegmentKind.Expandable]: 'expandable',
  [SegmentKind.None]: 'a block in an unknown segment',
};

function MappedText({ row }: { readonly row: SegmentRow }) {
  const { view } = useStores();
  const { mappedEvent, grownEvent, pieces } = row;
  if (mappedEvent < 0) return <span>there before the trace</span>;
  return (
    <span>
      from{' '}
      <button
        type="button"
        className="link"
        title="Go to that event"
        onClick={() => view.commit({ cursor: mappedEvent })}
      >
        event {formatCount(mappedEvent)}
      </button>
      {pieces > 1 && `, ${plural(pieces, 'piece')}, the last at event ${formatCount(grownEvent)}`}
    </span>
  );
}
