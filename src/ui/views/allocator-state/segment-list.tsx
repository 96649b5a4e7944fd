import '../../shared/row-list.css';
import { useVirtualizer } from '@tanstack/react-virtual';
import { type RefObject, useEffect, useImperativeHandle, useRef } from 'react';
import type { AllocatorStateAnswer } from '../../../worker/handlers/allocator-state.ts';
import type { BarColors } from './paint-bar.ts';
import type { BarPlace } from './segment-bar.tsx';
import { GroupRow, ListHead, SegmentCells } from './segment-rows.tsx';
import type { StateRow, StateRows } from './state-rows.ts';

const ROW_HEIGHT_PX = 26;
const HEAD_HEIGHT_PX = 26;
const OVERSCAN = 6;

/** What the view does with the list. */
export interface ListHandle {
  /** Brings a row into view if it is not. */
  show(row: number): void;
  rowsPerPage(): number;
}

interface SegmentListProps {
  readonly answer: AllocatorStateAnswer | undefined;
  readonly rows: StateRows;
  readonly active: number;
  readonly colors: BarColors;
  readonly barHeightPx: number;
  readonly selected: number;
  readonly handle: RefObject<ListHandle | null>;
  /** Of the bars; its head is measured. */
  readonly barHead: RefObject<HTMLTableCellElement | null>;
  /** Places of the segments on screen. */
  readonly onPositions: (positions: readonly number[]) => void;
  readonly onActivate: (row: number) => void;
  readonly onToggle: (key: string) => void;
  readonly onHover: (place: number, at: BarPlace | undefined) => void;
  readonly onPick: (place: number, at: BarPlace) => void;
}

/** The segments of a state by group; only those on screen exist. */
export function SegmentList(props: SegmentListProps) {
  const { answer, rows, active, handle, barHead, onPositions } = props;
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
  const items = virtualizer.getVirtualItems();
  const shown = items.flatMap(({ index }) => {
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
        <ListHead barHead={barHead} />
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
              <Row {...props} row={row} answer={answer} />
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const rowId = (index: number): string => `state-row-${index}`;

interface RowProps extends SegmentListProps {
  readonly row: StateRow;
}

function Row({ row, answer, colors, barHeightPx, selected, onHover, onPick }: RowProps) {
  if (row.kind === 'group') return <GroupRow group={row.group} isFolded={row.isFolded} />;
  const index = answer?.positions.indexOf(row.position) ?? -1;
  const segment = answer?.rows[index];
  if (answer === undefined || segment === undefined) {
    return <td className="state-awaited" aria-busy />;
  }
  return (
    <SegmentCells
      row={segment}
      event={answer.overview.event}
      bars={answer.bars}
      index={index}
      barHeightPx={barHeightPx}
      colors={colors}
      selected={selected}
      onHover={(at) => onHover(row.position, at)}
      onPick={(at) => onPick(row.position, at)}
    />
  );
}
