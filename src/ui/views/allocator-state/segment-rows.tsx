import { ChevronDown, ChevronRight, Filter } from 'lucide-react';
import type { RefObject } from 'react';
import { SegmentKind } from '../../../allocator/state/types.ts';
import { formatBytes, formatExactBytes, plural } from '../../../base/format.ts';
import type { SegmentRow } from '../../../device/allocator-state/describe-state.ts';
import type { SegmentBars } from '../../../device/allocator-state/segment-bars.ts';
import type { SegmentGroup, SpaceTotals } from '../../../device/allocator-state/segment-groups.ts';
import { frameLabel } from '../../../device/model/frame-text.ts';
import { absenceText } from '../../../device/model/stacks.ts';
import { useStores } from '../../../state/stores.ts';
import { IconButton } from '../../shared/buttons.tsx';
import { frameTitle } from '../../shared/code-place.tsx';
import type { BarColors } from './paint-bar.ts';
import { type BarPlace, SegmentBar } from './segment-bar.tsx';
import { ageText, groupName, groupTerms, roundingText, usedText } from './state-labels.ts';

/** Device pixels of a bar's height at a ratio of 1. */
export const BAR_HEIGHT_PX = 18;

interface SegmentCellsProps {
  readonly row: SegmentRow;
  readonly event: number;
  readonly bars: SegmentBars;
  /** Of the segment among the bars. */
  readonly index: number;
  readonly barHeightPx: number;
  readonly colors: BarColors;
  readonly selected: number;
  readonly onHover: (place: BarPlace | undefined) => void;
  readonly onPick: (place: BarPlace) => void;
}

/** One segment: its blocks to scale, and its figures. */
export function SegmentCells(props: SegmentCellsProps) {
  const { row, event, bars, index, barHeightPx, colors, selected, onHover, onPick } = props;
  const live = row.allocatedBytes + row.pendingBytes;
  return (
    <>
      <td className="dim mono" title={`0x${row.addressHex}`}>
        {row.addressHex}
      </td>
      <td>
        <SegmentBar
          bars={bars}
          index={index}
          heightPx={barHeightPx}
          colors={colors}
          selected={selected}
          onHover={onHover}
          onPick={onPick}
        />
        <span className="visually-hidden">{plural(row.liveBlocks, 'live block')}</span>
      </td>
      <BytesCell bytes={row.sizeBytes} />
      <td
        className="figure"
        title={`${formatExactBytes(live)} in ${plural(row.liveBlocks, 'block')}`}
      >
        {usedText(live, row.sizeBytes)}
      </td>
      <BytesCell bytes={row.largestFreeBytes} />
      <td className="figure" title={ageTitle(row, event)}>
        {ageText(row, event)}
      </td>
      <td
        className="cell-site"
        data-absent={row.frame === undefined}
        title={row.frame === undefined ? undefined : frameTitle(row.frame)}
      >
        {row.frame === undefined ? absenceText(row.stackKind) : frameLabel(row.frame)}
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

interface GroupRowProps {
  readonly group: SegmentGroup;
  readonly isFolded: boolean;
}

/** Head of the segments of one pool and stream, with their sums. */
export function GroupRow({ group, isFolded }: GroupRowProps) {
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
        <GroupFilter group={group} />
      </td>
      <BytesCell bytes={isNone ? live : totals.reservedBytes} />
      <td className="figure">{usedText(live, totals.reservedBytes)}</td>
      <BytesCell bytes={totals.largestFreeBytes} />
      <td className="cell-wide dim" title={totalsTitle(totals)}>
        {isNone ? noneText(totals) : sharesText(totals)}
      </td>
    </>
  );
}

function GroupFilter({ group }: { readonly group: SegmentGroup }) {
  const { view } = useStores();
  const label = 'Filter all views to the blocks of this pool and stream';
  return (
    <IconButton
      className="icon-button group-filter"
      label={label}
      onClick={(event) => {
        // The row itself folds.
        event.stopPropagation();
        view.commit({ search: groupTerms(group) });
      }}
    >
      <Filter size={12} aria-hidden />
    </IconButton>
  );
}

/** '12 segments, 1.20 GiB free, 64.00 MiB pending' */
function sharesText({ segments, freeBytes, pendingBytes }: SpaceTotals): string {
  const parts = [plural(segments, 'segment')];
  if (freeBytes > 0) parts.push(`${formatBytes(freeBytes)} free`);
  if (pendingBytes > 0) parts.push(`${formatBytes(pendingBytes)} pending`);
  return parts.join(', ');
}

function noneText({ segments }: SpaceTotals): string {
  return `${plural(segments, 'block')}; the trace does not say in which segments`;
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

/** Heads of the list's columns, in the order of the grid in state.css. */
const COLUMNS = [
  { label: 'Segment', title: 'Address' },
  { label: 'Blocks by address', title: 'The blocks of each segment, in address order' },
  { label: 'Size', title: 'Reserved bytes' },
  { label: 'Used', title: 'Share in use by allocated and pending blocks' },
  { label: 'Largest gap', title: 'Largest free range' },
  { label: 'Age', title: 'Since the segment was allocated, or its first page mapped' },
  { label: 'Created by', title: 'The line whose request created the segment' },
] as const;
const BAR_COLUMN = 1;

interface ListHeadProps {
  /** The head over the bars. */
  readonly barHead: RefObject<HTMLTableCellElement | null>;
}

export function ListHead({ barHead }: ListHeadProps) {
  return (
    <thead>
      <tr className="state-grid state-head">
        {COLUMNS.map(({ label, title }, index) => (
          <th
            key={label}
            ref={index === BAR_COLUMN ? barHead : undefined}
            scope="col"
            title={title}
          >
            {label}
          </th>
        ))}
      </tr>
    </thead>
  );
}

/** Bytes, short; every digit in the title. */
function BytesCell({ bytes }: { readonly bytes: number }) {
  return (
    <td className="figure" title={formatExactBytes(bytes)}>
      {formatBytes(bytes)}
    </td>
  );
}
