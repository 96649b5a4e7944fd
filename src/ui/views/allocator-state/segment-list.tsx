import '../../shared/row-list.css';
import { useVirtualizer } from '@tanstack/react-virtual';
import { type RefObject, useEffect, useImperativeHandle, useRef } from 'react';
import type { AllocatorStateAnswer } from '../../../worker/protocol.ts';
import type { BarLook, BarPointer } from './segment-bar.tsx';
import { GroupCells, SegmentCells } from './segment-rows.tsx';
import type { StateRow, StateRows } from './state-rows.ts';

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

export interface ListHandle {
  show(row: number): void;
  rowsPerPage(): number;
}

interface SegmentListProps {
  readonly answer: AllocatorStateAnswer | undefined;
  readonly rows: StateRows;
  readonly active: number;
  readonly look: BarLook;
  readonly pointer: BarPointer;
  readonly handle: RefObject<ListHandle | null>;
  /** The heading over the bars, used to measure their width. */
  readonly barHead: RefObject<HTMLTableCellElement | null>;
  readonly onPositions: (positions: readonly number[]) => void;
  readonly onActivate: (row: number) => void;
  readonly onToggle: (key: string) => void;
}

/** The segments of a state by group; only those on screen are in the DOM. */
export function SegmentList(props: SegmentListProps) {
  const { rows, active, handle, barHead, onPositions } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const virtualizer = useVirtualizer({
    count: rows.count,
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
  const shown = virtualizer.getVirtualItems().flatMap(({ index }) => {
    const row = rows.at(index);
    return row === undefined ? [] : [{ index, row }];
  });
  const positions = shown.flatMap(({ row }) => (row.kind === 'segment' ? [row.position] : []));
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
        aria-rowcount={rows.count}
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
          {shown.map(({ index, row }) => (
            <tr
              key={index}
              id={rowId(index)}
              className="state-grid state-row"
              data-kind={row.kind}
              data-active={index === active || undefined}
              aria-rowindex={index + 1}
              aria-level={row.kind === 'group' ? 1 : 2}
              aria-expanded={row.kind === 'group' ? !row.isFolded : undefined}
              style={{ transform: `translateY(${index * ROW_HEIGHT_PX}px)` }}
              onClick={() => {
                props.onActivate(index);
                if (row.kind === 'group') props.onToggle(row.group.key);
              }}
            >
              <Row {...props} row={row} />
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const rowId = (index: number): string => `state-row-${index}`;

interface RowProps extends Pick<SegmentListProps, 'answer' | 'look' | 'pointer'> {
  readonly row: StateRow;
}

function Row({ row, answer, look, pointer }: RowProps) {
  if (row.kind === 'group') return <GroupCells group={row.group} isFolded={row.isFolded} />;
  const index = answer?.positions.indexOf(row.position) ?? -1;
  const segment = answer?.rows[index];
  if (answer === undefined || segment === undefined) {
    return <td className="state-awaited" aria-busy />;
  }
  const { bars, overview } = answer;
  const bar = { ...look, bars, index, position: row.position, pointer };
  return <SegmentCells row={segment} event={overview.event} bar={bar} />;
}
