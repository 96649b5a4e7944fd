import { ChevronDown, ChevronRight, Filter } from 'lucide-react';
import type { ComponentProps, ReactNode, RefObject } from 'react';
import { SegmentKind } from '../../../allocator/state/types.ts';
import { formatBytes, formatCount, formatExactBytes, plural } from '../../../base/format.ts';
import type { SegmentRow } from '../../../device/allocator-state/describe-state.ts';
import type { SegmentGroup, SpaceTotals } from '../../../device/allocator-state/segment-groups.ts';
import { frameLabel } from '../../../device/model/frame-text.ts';
import { absenceText } from '../../../device/model/stacks.ts';
import type { EventIndex } from '../../../format/snapshot/tables.ts';
import { useStores } from '../../../state/stores.ts';
import type { AllocatorStateAnswer } from '../../../worker/protocol.ts';
import { Button, CopyButton, IconButton } from '../../shared/buttons.tsx';
import { frameTitle } from '../../shared/code-place.tsx';
import { Bytes } from '../../shared/facts.tsx';
import { type Column, columnsIn } from '../../table/table-row.tsx';
import { SegmentBar } from './segment-bar.tsx';
import { ageText, groupName, groupTerms, roundingText, usedText } from './state-labels.ts';

/** A segment with its bar among those of the answer. */
interface ListedSegment {
  readonly segment: SegmentRow;
  readonly position: number;
  readonly index: number;
}

export type ListedRow = SegmentGroup | ListedSegment;

const WORDS = {
  segment: ['Segment', 'Address'],
  blocks: ['Blocks by address', 'The blocks of each segment, in address order'],
  size: ['Size', 'Reserved bytes'],
  used: ['Used', 'Share in use by allocated and pending blocks'],
  gap: ['Largest gap', 'Largest free range'],
  age: ['Age', 'Since the segment was allocated, or its first page mapped'],
  by: ['Created by', 'The line whose request created the segment'],
} as const;

type Cells<R> = Partial<Record<keyof typeof WORDS, (row: R) => ReactNode>>;

interface SegmentColumnsOptions
  extends Pick<ComponentProps<typeof SegmentBar>, 'colors' | 'selected' | 'pointer'> {
  readonly answer: AllocatorStateAnswer | undefined;
  readonly barHead: RefObject<HTMLTableCellElement | null>;
  /** Leaves out the last column: the figures need its space, and a click on a row shows the line too. */
  readonly isNarrow: boolean;
  readonly folded: ReadonlySet<string>;
}

/** state.css stretches a group's name and its text over two columns each, and hides the cells behind them. */
export function segmentColumns(options: SegmentColumnsOptions): readonly Column<ListedRow>[] {
  const { answer, barHead, isNarrow, folded, ...look } = options;
  const groups: Cells<SegmentGroup> = {
    segment: (group) => <GroupName group={group} isFolded={folded.has(group.key)} />,
    size: ({ kind, totals }) => (
      <Bytes bytes={kind === SegmentKind.None ? liveBytes(totals) : totals.reservedBytes} />
    ),
    used: ({ totals }) => usedText(liveBytes(totals), totals.reservedBytes),
    gap: ({ totals }) => <Bytes bytes={totals.largestFreeBytes} />,
    age: ({ kind, totals }) => (
      <span className="dim small" title={totalsTitle(totals)}>
        {kind === SegmentKind.None
          ? `${plural(totals.segments, 'block')}; the trace does not say in which segments`
          : sharesText(totals)}
      </span>
    ),
  };
  const segments: Cells<ListedSegment> = {
    segment: ({ segment: { addressHex } }) => (
      <span className="dim mono" title={`0x${addressHex}`}>
        {addressHex}
      </span>
    ),
    blocks: ({ segment, ...place }) => (
      <>
        {answer && <SegmentBar {...look} {...place} bars={answer.bars} />}
        <span className="visually-hidden">{plural(segment.liveBlocks, 'live block')}</span>
      </>
    ),
    size: ({ segment }) => <Bytes bytes={segment.sizeBytes} />,
    used: ({ segment }) => (
      <span title={usedTitle(segment)}>{usedText(liveBytes(segment), segment.sizeBytes)}</span>
    ),
    gap: ({ segment }) => <Bytes bytes={segment.largestFreeBytes} />,
    age: ({ segment }) => <AgeText row={segment} event={answer?.overview.event ?? -1} />,
    by: ({ segment: { frame, stackKind } }) => (
      <span className={frame ? 'small' : 'small dim'} title={frame && frameTitle(frame)}>
        {frame === undefined ? absenceText(stackKind) : frameLabel(frame)}
      </span>
    ),
  };
  const { text, figure } = columnsIn<ListedRow, keyof typeof WORDS>(WORDS);
  const cell = (id: keyof typeof WORDS) => (row: ListedRow) =>
    'key' in row ? groups[id]?.(row) : segments[id]?.(row);
  return [
    text('segment', 106, cell('segment')),
    text('blocks', isNarrow ? 56 : 120, cell('blocks'), { grow: 1, head: barHead }),
    figure('size', 84, cell('size')),
    figure('used', 62, cell('used')),
    figure('gap', 90, cell('gap')),
    figure('age', 78, cell('age')),
    ...(isNarrow ? [] : [text('by', 136, cell('by'), { grow: 0.4 })]),
  ];
}

const usedTitle = (row: SegmentRow): string =>
  `${formatExactBytes(liveBytes(row))} in ${plural(row.liveBlocks, 'block')}`;

const liveBytes = ({
  allocatedBytes,
  pendingBytes,
}: Pick<SpaceTotals, 'allocatedBytes' | 'pendingBytes'>): number => allocatedBytes + pendingBytes;

interface AgeTextProps {
  readonly row: SegmentRow;
  readonly event: EventIndex;
}

function AgeText({ row, event }: AgeTextProps) {
  const { mappedEvent, grownEvent, pieces } = row;
  const since =
    mappedEvent < 0
      ? 'From before the first event'
      : `From event ${mappedEvent}, ${plural(event - mappedEvent, 'event')} ago`;
  const last = grownEvent < 0 ? 'all before it' : `the last at event ${grownEvent}`;
  const grown = pieces === 1 ? '' : `; ${pieces} mapped pieces, ${last}`;
  return <span title={since + grown}>{ageText(row, event)}</span>;
}

interface GroupNameProps {
  readonly group: SegmentGroup;
  readonly isFolded: boolean;
}

function GroupName({ group, isFolded }: GroupNameProps) {
  const { view } = useStores();
  const Chevron = isFolded ? ChevronRight : ChevronDown;
  return (
    <span className="inline-row" title={totalsTitle(group.totals)}>
      <Chevron size={14} aria-hidden />
      <strong>{groupName(group)}</strong>
      <span className="dim">stream {group.stream}</span>
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
    </span>
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

/** Everything known about the segment that keys act on. */
export function SegmentFooter({ row }: { readonly row: SegmentRow }) {
  const { view } = useStores();
  const { addressHex, kind, sizeBytes, allocatedBytes, pendingBytes, liveBlocks } = row;
  const figures = [
    [allocatedBytes, 'allocated'],
    [pendingBytes, 'pending'],
    [sizeBytes - liveBytes(row), 'free'],
  ] as const;
  return (
    <section className="row segment-footer" aria-label="Segment">
      <CopyButton text={`0x${addressHex}`} label="address" className="mono">
        0x{addressHex}
      </CopyButton>
      <span>
        {KIND_TEXT[kind]}, <Bytes bytes={sizeBytes} />
      </span>
      {figures.map(
        ([bytes, what]) =>
          (bytes > 0 || what === 'allocated') && (
            <span key={what}>
              <Bytes bytes={bytes} /> {what}
            </span>
          ),
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
      <Button
        className="link"
        title="Filter all views to the blocks of this segment"
        onClick={() => view.commit({ search: `s${addressHex}` })}
      >
        <Filter size={12} aria-hidden />
        Show its blocks
      </Button>
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
      <Button
        className="link"
        title="Go to that event"
        onClick={() => view.commit({ cursor: mappedEvent })}
      >
        event {formatCount(mappedEvent)}
      </Button>
      {pieces > 1 && `, ${plural(pieces, 'piece')}, the last at event ${formatCount(grownEvent)}`}
    </span>
  );
}
