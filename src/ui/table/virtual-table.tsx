import './table.css';
import {
  type KeyboardEvent,
  type ReactNode,
  type RefObject,
  useCallback,
  useId,
  useImperativeHandle,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import { errorText } from '../../base/errors.ts';
import { Button } from '../shared/buttons.tsx';
import { type RowPages, useRowPages } from './row-pages.ts';
import { type Column, TableHeader, TableRow, type VirtualTableProps } from './table-row.tsx';
import {
  HEADER_HEIGHT_PX,
  mostVisibleRows,
  positionCentring,
  positionShowing,
  ROW_HEIGHT_PX,
  type RowRange,
  rowForKey,
  rowsPerPage,
  scrollPx,
  type TableScroll,
  useTableScroll,
  visibleRows,
} from './table-scroll.ts';

/**
 * A table of up to tens of millions of rows; only the visible ones are in the DOM. The scrolled element is as high as
 * all rows together, or as high as browsers allow (see scroll-scale.ts). Its visible part stays in place and shows the
 * rows of the current position. Arrows, Page Up and Down, Home and End move between rows, Enter activates a row, and
 * other keys go to `onRowKey`.
 */
export function VirtualTable<R>(props: VirtualTableProps<R>) {
  const { label, columns, source, empty, handle } = props;
  const id = useId();
  const scroll = useTableScroll(source);
  const visible = visibleRows(scroll.geometry, scroll.position);
  const pages = useRowPages(source, visible);
  const [chosen, setActive] = useState<number | undefined>(undefined);
  const active = chosen !== undefined && chosen < source.count ? chosen : undefined;
  const template = useMemo(() => gridTemplate(columns), [columns]);
  const grid = useRef<HTMLTableElement>(null);
  useTableHandle(handle, grid, scroll, setActive);
  const isActiveShown = active !== undefined && active >= visible.from && active < visible.to;
  useKeepInSight(isActiveShown ? active : undefined, scroll);
  return (
    <div className="table">
      <div ref={scroll.scroller} className="table-scroller" onScroll={scroll.onScroll}>
        <div
          style={{
            height: HEADER_HEIGHT_PX + scrollPx(scroll.geometry),
            minWidth: columns.reduce((sum, column) => sum + column.widthPx, 0),
          }}
        >
          <table
            ref={grid}
            className="table-stage"
            // biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: a table that takes keys
            role="grid"
            data-takes-keys
            tabIndex={0}
            aria-label={label}
            aria-rowcount={source.count + 1}
            aria-colcount={columns.length}
            aria-activedescendant={isActiveShown ? rowId(id, active) : undefined}
            style={{ height: HEADER_HEIGHT_PX + stageBodyPx(scroll) }}
            onKeyDown={(event) => onKey(event, { props, pages, scroll, active, setActive })}
          >
            <TableHeader
              columns={columns}
              template={template}
              sort={props.sort}
              onSort={props.onSort}
            />
            <Rows
              {...props}
              id={id}
              pages={pages}
              visible={visible}
              slots={mostVisibleRows(scroll.geometry)}
              offsetPx={visible.from * ROW_HEIGHT_PX - scroll.position}
              template={template}
              active={active}
              setActive={setActive}
            />
          </table>
        </div>
      </div>
      {source.count === 0 && <div className="table-empty">{empty}</div>}
      {pages.failure !== undefined && (
        <div className="callout spread table-failure" role="alert">
          <p>These rows could not be read: {errorText(pages.failure)}</p>
          <Button onClick={() => pages.retry()}>Try again</Button>
        </div>
      )}
    </div>
  );
}

interface RowsProps<R> extends VirtualTableProps<R> {
  readonly id: string;
  readonly pages: RowPages<R>;
  readonly visible: RowRange;
  readonly offsetPx: number;
  /** The most rows that can be visible at once; changes only with the height. */
  readonly slots: number;
  readonly template: string;
  readonly active: number | undefined;
  readonly setActive: (row: number) => void;
}

function Rows<R>(props: RowsProps<R>) {
  const { id, pages, visible, offsetPx, slots, template, columns, active, setActive } = props;
  const { rowState } = props;
  // A ref, so unchanged rows do not rerender when the table gets new functions.
  const newest = useRef(props);
  newest.current = props;
  const onClick = useCallback(
    (row: R, index: number) => {
      setActive(index);
      newest.current.onActivate?.(row, index);
    },
    [setActive],
  );
  const onOpen = useCallback((row: R, index: number) => newest.current.onOpen?.(row, index), []);
  const rows: ReactNode[] = [];
  for (let index = visible.from; index < visible.to; index++) {
    const row = pages.row(index);
    const state = row === undefined ? undefined : rowState?.(row);
    rows.push(
      <TableRow
        // Elements are reused for other rows: a jump changes texts instead of creating elements.
        key={index % slots}
        id={rowId(id, index)}
        index={index}
        row={row}
        columns={columns}
        template={template}
        isActive={index === active}
        isSelected={state?.isSelected === true}
        isCurrent={state?.isCurrent === true}
        tone={state?.tone}
        onClick={onClick}
        onOpen={onOpen}
      />,
    );
  }
  return (
    <tbody className="table-rows" style={{ transform: `translateY(${offsetPx}px)` }}>
      {rows}
    </tbody>
  );
}

interface KeyTarget<R> {
  readonly props: VirtualTableProps<R>;
  readonly pages: RowPages<R>;
  readonly scroll: TableScroll;
  readonly active: number | undefined;
  readonly setActive: (row: number) => void;
}

function onKey<R>(event: KeyboardEvent, target: KeyTarget<R>): void {
  // Buttons in the header handle their own keys; Ctrl, Alt and Meta belong to the browser and the page.
  if (event.target !== event.currentTarget) return;
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  const { props, pages, scroll, active, setActive } = target;
  const next = rowForKey(event.key, {
    active,
    rowCount: props.source.count,
    rowsPerPage: rowsPerPage(scroll.geometry),
    firstVisible: Math.ceil(scroll.position / ROW_HEIGHT_PX),
  });
  if (next !== undefined) {
    event.preventDefault();
    setActive(next);
    scroll.moveTo(positionShowing(scroll.geometry, scroll.position, next));
    return;
  }
  const row = active === undefined ? undefined : pages.row(active);
  if (row === undefined || active === undefined) return;
  if (event.key === 'Enter') (props.onOpen ?? props.onActivate)?.(row, active);
  else if (props.onRowKey?.(event.key, row, active) !== true) return;
  event.preventDefault();
}

function useTableHandle(
  handle: VirtualTableProps<never>['handle'],
  grid: RefObject<HTMLTableElement | null>,
  { geometry, position, moveTo }: TableScroll,
  setActive: (row: number) => void,
): void {
  /** A row to bring to the middle once the height is known. */
  const awaited = useRef<number>(undefined);
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, when the height is first known
  useLayoutEffect(() => {
    const row = awaited.current;
    if (row === undefined || geometry.bodyPx === 0) return;
    awaited.current = undefined;
    moveTo(positionCentring(geometry, row));
  }, [geometry.bodyPx]);
  useImperativeHandle(handle, () => {
    const reveal = (row: number, place: 'nearest' | 'middle' = 'nearest') =>
      moveTo(
        place === 'middle'
          ? positionCentring(geometry, row)
          : positionShowing(geometry, position, row),
      );
    return {
      reveal,
      goTo(row) {
        setActive(row);
        awaited.current = geometry.bodyPx === 0 ? row : undefined;
        reveal(row, 'middle');
      },
      focus: () => grid.current?.focus({ preventScroll: true }),
    };
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

/** No higher than the rows, or there would be empty space to scroll into. */
function stageBodyPx({ geometry }: TableScroll): number {
  return Math.min(geometry.bodyPx, scrollPx(geometry));
}

function gridTemplate<R>(columns: readonly Column<R>[]): string {
  return columns
    .map(({ widthPx, grow }) =>
      grow === undefined ? `${widthPx}px` : `minmax(${widthPx}px, ${grow}fr)`,
    )
    .join(' ');
}

const rowId = (table: string, row: number): string => `${table}-${row}`;
