import { ChevronDown, ChevronRight, Filter } from 'lucide-react';
import type { ComponentProps } from 'react';
import { SegmentKind } from '../../../allocator/state/types.ts';
import { formatBytes, formatCount, formatExactBytes, plural } from '../../../base/format.ts';
import type { SegmentRow } from '../../../device/allocator-state/describe-state.ts';
import type { SegmentGroup, SpaceTotals } from '../../../device/allocator-state/segment-groups.ts';
import { frameLabel } from '../../../device/model/frame-text.ts';
import { absenceText } from '../../../device/model/stacks.ts';
import { useStores } from '../../../state/stores.ts';
import { CopyButton, IconButton } from '../../shared/buttons.tsx';
import { frameTitle } from '../../shared/code-place.tsx';
import { Bytes } from '../../shared/facts.tsx';
import { SegmentBar } from './segment-bar.tsx';
import { ageText, groupName, groupTerms, roundingText, usedText } from './state-labels.ts';

interface SegmentCellsProps {
  readonly row: SegmentRow;
  readonly event: number;
  readonly bar: ComponentProps<typeof SegmentBar>;
}

export function SegmentCells({ row, event, bar }: SegmentCellsProps) {
  const { frame, addressHex, liveBlocks, sizeBytes } = row;
  const live = row.allocatedBytes + row.pendingBytes;
  return (
    <>
      <td className="dim mono" title={`0x${addressHex}`}>
        {addressHex}
      </td>
      <td>
        <SegmentBar {...bar} />
        <span className="visually-hidden">{plural(liveBlocks, 'live block')}</span>
      </td>
      <BytesCell bytes={sizeBytes} />
      <td className="figure" title={`${formatExactBytes(live)} in ${plural(liveBlocks, 'block')}`}>
        {usedText(live, sizeBytes)}
      </td>
      <BytesCell bytes={row.largestFreeBytes} />
      <td className="figure" title={ageTitle(row, event)}>
        {ageText(row, event)}
      </td>
      <td className="small" data-absent={frame === undefined} title={frame && frameTitle(frame)}>
        {frame === undefined ? absenceText(row.stackKind) : frameLabel(frame)}
      </td>
    </>
  );
}

function ageTitle({ mappedEvent, grownEvent, pieces }: SegmentRow, event: number): string {
  const since =
    mappedEvent < 0
      ? 'From before the first event'
      : `From event ${mappedEvent}, ${plural(event - mappedEvent, 'event')} ago`;
  return pieces === 1
    ? since
    : `${since}; ${pieces} mapped pieces, the last at event ${grownEvent}`;
}

interface GroupCellsProps {
  readonly group: SegmentGroup;
  readonly isFolded: boolean;
}

export function GroupCells({ group, isFolded }: GroupCellsProps) {
  const { view } = useStores();
  const { totals, stream, kind } = group;
  const live = totals.allocatedBytes + totals.pendingBytes;
  const isNone = kind === SegmentKind.None;
  const Chevron = isFolded ? ChevronRight : ChevronDown;
  return (
    <>
      <td className="group-name" title={totalsTitle(totals)}>
        <Chevron size={14} aria-hidden />
        <strong>{groupName(group)}</strong>
        <span className="dim">stream {stream}</span>
        <IconButton
          className="icon-button group-filter"
          label="Filter all views to the blocks of this pool and stream"
          onClick={(event) => {
            // A click on the row would fold it too.
            event.stopPropagation();
            view.commit({ search: groupTerms(group) });
          }}
        >
          <Filter size={12} aria-hidden />
        </IconButton>
      </td>
      <BytesCell bytes={isNone ? live : totals.reservedBytes} />
      <td className="figure">{usedText(live, totals.reservedBytes)}</td>
      <BytesCell bytes={totals.largestFreeBytes} />
      <td className="cell-wide dim" title={totalsTitle(totals)}>
        {isNone
          ? `${plural(totals.segments, 'block')}; the trace does not say in which segments`
          : sharesText(totals)}
      </td>
    </>
  );
}

/** '12 segments, 1.20 GiB free, 64.00 MiB pending' */
function sharesText({ segments, freeBytes, pendingBytes }: SpaceTotals): string {
  const parts = [plural(segments, 'segment')];
  if (freeBytes > 0) parts.push(`${formatBytes(freeBytes)} free`);
  if (pendingBytes > 0) parts.push(`${formatBytes(pendingBytes)} pending`);
  return parts.join(', ');
}

function totalsTitle(totals: SpaceTotals): string {
  return [
    `${formatExactBytes(totals.reservedBytes)} reserved in ${plural(totals.segments, 'segment')}`,
    `${formatExactBytes(totals.allocatedBytes)} allocated; ${plural(totals.liveBlocks, 'live block')}`,
    `${formatExactBytes(totals.pendingBytes)} pending free`,
    `${formatExactBytes(totals.freeBytes)} free`,
    `${roundingText(totals)} lost to rounding`,
  ].join('\n');
}

function BytesCell({ bytes }: { readonly bytes: number }) {
  return (
    <td className="figure">
      <Bytes bytes={bytes} />
    </td>
  );
}

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
      <span>
        <Bytes bytes={allocatedBytes} /> allocated
      </span>
      {pendingBytes > 0 && (
        <span>
          <Bytes bytes={pendingBytes} /> pending
        </span>
      )}
      {free > 0 && (
        <span>
          <Bytes bytes={free} /> free
        </span>
      )}
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
