import './table.css';
import { range } from 'd3';
import {
  type KeyboardEvent,
  type MouseEvent,
  type ReactNode,
  type Ref,
  useEffect,
  useId,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import { errorText } from '../../base/errors.ts';
import type { Sort } from '../../state/view-store.ts';
import { type RowSource, useRowPages } from './row-pages.ts';
import { type Column, type RowState, SortHeading, TableRow } from './table-row.tsx';
import {
  HEADER_HEIGHT_PX,
  mostVisibleRows,
  positionRevealing,
  positionShowing,
  ROW_HEIGHT_PX,
  type RowRange,
  rowForKey,
  scrollPx,
  type TableScroll,
  useTableScroll,
  visibleRows,
} from './table-scroll.ts';

export interface VirtualTableProps<R> {
  readonly label: string;
  /** Keep it the same array while nothing changes. */
  readonly columns: readonly Column<R>[];
  readonly source: RowSource<R>;
  readonly empty?: ReactNode;
  readonly sort?: Sort | undefined;
  readonly onSort?: (column: string) => void;
  readonly rowState?: (row: R, index: number) => RowState;
  /** Called for a click on a row, or Enter. */
  readonly onActivate?: (row: R, index: number) => void;
  /** Called when a key moves to another row. */
  readonly onMove?: (index: number) => void;
  /** Called for a double click, or for Enter, which then does not activate. */
  readonly onOpen?: (row: R, index: number) => void;
  /** Called for a right click on a row. */
  readonly onMenu?: (row: R, event: MouseEvent) => void;
  /** Handles a key that the table itself does not use; returns true if used. */
  readonly onRowKey?: (key: string, row: R, index: number) => boolean;
  /** A row chosen elsewhere, -1 while unknown. It is scrolled to when `of` changes, and keys continue from it. */
  readonly shown?: { readonly of: unknown; readonly row: number } | undefined;
  /** False if the view handles the keys, and moves between rows with `shown`. */
  readonly takesKeys?: boolean;
  readonly onVisible?: (rows: RowRange) => void;
  readonly role?: 'grid' | 'treegrid';
  readonly ref?: Ref<HTMLTableElement>;
}

/**
 * A table of up to tens of millions of rows; only the visible ones are in the DOM. The scrolled element is as high as
 * all rows together, or as high as browsers allow (see table-scroll.ts). Its visible part stays in place and shows the
 * rows of the current position. Arrows, Page Up and Down, Home and End move between rows, Enter activates a row, and
 * other keys go to `onRowKey`.
 */
export function VirtualTable<R>(props: VirtualTableProps<R>) {
  const { label, columns, source, takesKeys = true, role = 'grid', rowState } = props;
  const id = useId();
  const scroll = useTableScroll(source);
  const { geometry, position } = scroll;
  const visible = visibleRows(geometry, position);
  const { from, to } = visible;
  const pages = useRowPages(source, visible);
  const [own, setActive] = useState<number>();
  const chosen = takesKeys ? own : props.shown?.row;
  const active = chosen !== undefined && chosen < source.count ? chosen : undefined;
  const template = useMemo(() => gridTemplate(columns), [columns]);
  const isActiveShown = active !== undefined && active >= from && active < to;
  useShown(props.shown, scroll, setActive);
  useKeepInSight(isActiveShown ? active : undefined, scroll);
  const { onVisible } = props;
  useEffect(() => onVisible?.({ from, to }), [onVisible, from, to]);
  // Elements are reused for other rows: a jump changes texts instead of creating elements.
  const slots = mostVisibleRows(geometry);

  function onKey(event: KeyboardEvent): void {
    // Buttons in the header handle their own keys; Ctrl, Alt and Meta belong to the browser and the page.
    if (!takesKeys || event.target !== event.currentTarget) return;
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const next = rowForKey(event.key, active, geometry, position);
    const row = active === undefined ? undefined : pages.row(active);
    if (next !== undefined) {
      setActive(next);
      props.onMove?.(next);
      scroll.moveTo(positionShowing(geometry, position, next));
    } else if (row === undefined || active === undefined) return;
    else if (event.key === 'Enter') (props.onOpen ?? props.onActivate)?.(row, active);
    else if (props.onRowKey?.(event.key, row, active) !== true) return;
    event.preventDefault();
  }

  function onRow({ target }: MouseEvent, action: VirtualTableProps<R>['onActivate']): void {
    const element = target instanceof Element ? target.closest('.table-row') : undefined;
    const index = Number(element?.getAttribute('aria-rowindex')) - 2;
    const row = pages.row(index);
    if (row === undefined) return;
    setActive(index);
    action?.(row, index);
  }

  return (
    <div className="table">
      <div ref={scroll.scroller} className="table-scroller" onScroll={scroll.onScroll}>
        <div
          style={{
            height: HEADER_HEIGHT_PX + scrollPx(geometry),
            minWidth: columns.reduce((sum, column) => sum + column.widthPx, 0),
          }}
        >
          {/* biome-ignore lint/a11y/useAriaPropsSupportedByRole: both roles support these */}
          <table
            ref={props.ref}
            className="table-stage"
            role={role}
            data-takes-keys={takesKeys || undefined}
            tabIndex={0}
            aria-label={label}
            aria-rowcount={source.count + 1}
            aria-colcount={columns.length}
            aria-activedescendant={isActiveShown ? rowId(id, active) : undefined}
            // No higher than the rows, or there would be empty space to scroll into.
            style={{ height: HEADER_HEIGHT_PX + Math.min(geometry.bodyPx, scrollPx(geometry)) }}
            onKeyDown={onKey}
            onClick={(event) => onRow(event, props.onActivate)}
            onDoubleClick={(event) => onRow(event, props.onOpen)}
            onContextMenu={(event) => onRow(event, (row) => props.onMenu?.(row, event))}
          >
            <thead className="table-header">
              <tr aria-rowindex={1} style={{ gridTemplateColumns: template }}>
                {columns.map((column) => (
                  <SortHeading
                    key={column.id}
                    column={column}
                    sort={props.sort}
                    onSort={props.onSort}
                  />
                ))}
              </tr>
            </thead>
            <tbody
              className="table-rows"
              style={{ transform: `translateY(${from * ROW_HEIGHT_PX - position}px)` }}
            >
              {range(from, to).map((index) => {
                const row = pages.row(index);
                return (
                  <TableRow
                    key={index % slots}
                    id={rowId(id, index)}
                    index={index}
                    row={row}
                    columns={columns}
                    template={template}
                    isActive={index === active}
                    {...(row !== undefined && rowState?.(row, index))}
                  />
                );
              })}
            </tbody>
          </table>
        </div>
      </div>
      {source.count === 0 && <div className="table-empty">{props.empty}</div>}
      {pages.failure !== undefined && (
        <p className="callout table-failure" role="alert">
          These rows could not be read: {errorText(pages.failure)}
        </p>
      )}
    </div>
  );
}

function useShown(
  shown: VirtualTableProps<never>['shown'],
  { geometry, position, moveTo }: TableScroll,
  setActive: (row: number) => void,
): void {
  const before = useRef<unknown>(undefined);
  useLayoutEffect(() => {
    if (shown === undefined) before.current = undefined;
    if (shown === undefined || shown.row < 0 || shown.of === before.current) return;
    before.current = shown.of;
    setActive(shown.row);
    moveTo(positionRevealing(geometry, position, shown.row));
  });
}

/** Keeps the chosen row visible when the table gets lower: choosing it may have opened a panel. */
function useKeepInSight(shown: number | undefined, scroll: TableScroll): void {
  const { geometry, position, moveTo } = scroll;
  const before = useRef<number>(undefined);
  // biome-ignore lint/correctness/useExhaustiveDependencies: scrolling may well take it out of sight
  useLayoutEffect(() => {
    const row = before.current;
    if (row !== undefined) moveTo(positionShowing(geometry, position, row));
  }, [geometry.bodyPx]);
  useLayoutEffect(() => {
    before.current = shown;
  });
}

const gridTemplate = <R,>(columns: readonly Column<R>[]): string =>
  columns
    .map(({ widthPx, grow }) =>
      grow === undefined ? `${widthPx}px` : `minmax(${widthPx}px, ${grow}fr)`,
    )
    .join(' ');

const rowId = (table: string, row: number): string => `${table}-${row}`;
