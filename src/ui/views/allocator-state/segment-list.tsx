import '../../shared/row-list.css';
import { useVirtualizer } from '@tanstack/react-virtual';
import { range } from 'd3';
import { type RefObject, useEffect, useImperativeHandle, useMemo, useRef, useState } from 'react';
import type { SegmentGroup } from '../../../device/allocator-state/segment-groups.ts';
import type { AllocatorStateAnswer } from '../../../worker/protocol.ts';
import type { BarLook, BarPointer } from './segment-bar.tsx';
import { GroupCells, SegmentCells } from './segment-rows.tsx';

const ROW_HEIGHT_PX = 26;
const HEAD_HEIGHT_PX = 26;
const OVERSCAN = 6;

/** Headings of the list's columns, in the order of the grid in state.css. */
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

/** A group's head, or a segment's position in the order. */
export type StateRow = SegmentGroup | number;

/** The groups, each with its segments unless it is folded. */
export const stateRows = (
  groups: readonly SegmentGroup[],
  folded: ReadonlySet<string>,
): readonly StateRow[] =>
  groups.flatMap((group) => {
    const { key, first, totals } = group;
    return [group, ...(folded.has(key) ? [] : range(first, first + totals.segments))];
  });

/** Row of the segment at a position; if its group is folded, the group's head; -1 if there is none. */
export function rowOf(rows: readonly StateRow[], position: number): number {
  const row = rows.indexOf(position);
  if (row >= 0) return row;
  return rows.findLastIndex((head) => typeof head === 'object' && head.first <= position);
}

export type Folding = ReturnType<typeof useFolding>;

/** A group stays folded from event to event, even if it vanishes and comes back. */
export function useFolding(groups: readonly SegmentGroup[]) {
  const [folded, setFolded] = useState<ReadonlySet<string>>(new Set());
  const rows = useMemo(() => stateRows(groups, folded), [groups, folded]);
  const toggle = ({ key }: SegmentGroup) => {
    const after = new Set(folded);
    if (!after.delete(key)) after.add(key);
    setFolded(after);
  };
  const areAllFolded = groups.length > 0 && groups.every(({ key }) => folded.has(key));
  const toggleAll = () =>
    setFolded(areAllFolded ? new Set() : new Set(groups.map(({ key }) => key)));
  return { rows, folded, toggle, areAllFolded, toggleAll };
}

export interface ListHandle {
  show(row: number): void;
  rowsPerPage(): number;
}

interface SegmentListProps {
  readonly answer: AllocatorStateAnswer | undefined;
  readonly folding: Folding;
  readonly active: number;
  readonly look: BarLook;
  readonly pointer: BarPointer;
  readonly handle: RefObject<ListHandle | null>;
  /** The heading over the bars, used to measure their width. */
  readonly barHead: RefObject<HTMLTableCellElement | null>;
  readonly onPositions: (positions: readonly number[]) => void;
  readonly onActivate: (row: number) => void;
}

/** The segments of a state by group; only those on screen are in the DOM. */
export function SegmentList(props: SegmentListProps) {
  const { active, handle, barHead, onPositions, onActivate } = props;
  const { rows, folded, toggle } = props.folding;
  const scroller = useRef<HTMLDivElement>(null);
  const virtualizer = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_HEIGHT_PX,
    overscan: OVERSCAN,
    scrollPaddingStart: HEAD_HEIGHT_PX,
  });
  useImperativeHandle(
    handle,
    () => ({
      show: (row) => virtualizer.scrollToIndex(row, { align: 'auto' }),
      rowsPerPage: () =>
        Math.floor(((scroller.current?.clientHeight ?? 0) - HEAD_HEIGHT_PX) / ROW_HEIGHT_PX),
    }),
    [virtualizer],
  );
  const shown = virtualizer.getVirtualItems().map(({ index }) => index);
  const positions = shown.map((index) => rows[index]).filter((row) => typeof row === 'number');
  const key = positions.join(' ');
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key says which positions they are
  useEffect(() => onPositions(positions), [key, onPositions]);
  return (
    <div ref={scroller} className="state-scroller">
      <table
        className="row-list state-list"
        // biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: a table that takes keys
        role="treegrid"
        aria-label="Segments"
        aria-rowcount={rows.length}
        aria-activedescendant={rowId(active)}
        tabIndex={0}
        style={{ height: HEAD_HEIGHT_PX + virtualizer.getTotalSize() }}
      >
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
        <tbody>
          {shown.map((index) => {
            const row = rows[index];
            const group = typeof row === 'object' ? row : undefined;
            const isOpen = group && !folded.has(group.key);
            return (
              <tr
                key={index}
                id={rowId(index)}
                className="state-grid state-row"
                data-kind={group && 'group'}
                data-active={index === active || undefined}
                aria-rowindex={index + 1}
                aria-level={group ? 1 : 2}
                aria-expanded={isOpen}
                style={{ transform: `translateY(${index * ROW_HEIGHT_PX}px)` }}
                onClick={() => {
                  onActivate(index);
                  if (group) toggle(group);
                }}
              >
                {typeof row === 'number' && <Segment {...props} position={row} />}
                {group && <GroupCells group={group} isFolded={!isOpen} />}
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

const rowId = (index: number): string => `state-row-${index}`;

interface SegmentProps extends Pick<SegmentListProps, 'answer' | 'look' | 'pointer'> {
  readonly position: number;
}

function Segment({ position, answer, look, pointer }: SegmentProps) {
  const index = answer?.positions.indexOf(position) ?? -1;
  const row = answer?.rows[index];
  if (answer === undefined || row === undefined) return <td className="state-awaited" aria-busy />;
  const { bars, overview } = answer;
  return (
    <SegmentCells
      row={row}
      event={overview.event}
      bar={{ ...look, bars, index, position, pointer }}
    />
  );
}
