import { ChevronDown, ChevronUp } from 'lucide-react';
import { memo, type ReactNode, type Ref } from 'react';
import type { Sort } from '../../state/view-store.ts';
import { Bytes } from '../shared/facts.tsx';
import type { RowSource } from './row-pages.ts';

export interface Column<R> {
  readonly id: string;
  readonly header: string;
  /** What the column holds, at length. */
  readonly title?: string | undefined;
  /** The least width; the rest of the table is shared out by `grow` (0 where not given). */
  readonly widthPx: number;
  readonly grow?: number;
  readonly align?: 'start' | 'end';
  readonly isSortable?: boolean;
  /** Content of one line; what does not fit is cut with an ellipsis, so give it a title. */
  readonly render: (row: R, index: number) => ReactNode;
}

/** The header of each column, by id, and what it holds at length. */
type ColumnWords<Id extends string> = Readonly<
  Record<Id, readonly [header: string, title?: string]>
>;

/** Makes columns; their words stand in one table. */
export function columnsIn<R, Id extends string>(words: ColumnWords<Id>) {
  type Render = Column<R>['render'];
  const text = (id: Id, widthPx: number, render: Render, more?: Partial<Column<R>>): Column<R> => ({
    id,
    header: words[id][0],
    title: words[id][1],
    widthPx,
    render,
    ...more,
  });
  const figure = (id: Id, widthPx: number, render: Render) =>
    text(id, widthPx, render, { align: 'end' });
  return {
    text,
    figure,
    /** Rounded, with the exact figure in the tooltip. */
    bytes: (id: Id, widthPx: number, of: (row: R) => number) =>
      figure(id, widthPx, (row) => <Bytes bytes={of(row)} />),
    /** Cut where it does not fit, whole in the tooltip. */
    code: (id: Id, widthPx: number, of: (row: R) => string) =>
      text(id, widthPx, (row) => (
        <span className="mono" title={of(row)}>
          {of(row)}
        </span>
      )),
  };
}

/** How a row differs from others, beyond its content. */
interface RowState {
  /** What is selected on the page. */
  readonly isSelected?: boolean;
  /** Where the cursor stands. */
  readonly isCurrent?: boolean;
  readonly tone?: 'danger' | 'related';
}

/** What a view can ask of its table. */
export interface TableHandle {
  /** Scrolls until all of the row is visible; 'middle' also leaves rows around it. */
  reveal(row: number, place?: 'nearest' | 'middle'): void;
  /** The same, and keys continue from there. */
  goTo(row: number): void;
  focus(): void;
}

export interface VirtualTableProps<R> {
  /** What the rows are, for screen readers: 'Events'. */
  readonly label: string;
  /** The same array from render to render while nothing changes. */
  readonly columns: readonly Column<R>[];
  readonly source: RowSource<R>;
  /** Shown where rows would be when there are none. */
  readonly empty: ReactNode;
  /** By the `id` of a column. */
  readonly sort?: Sort | undefined;
  readonly onSort?: (column: string) => void;
  readonly rowState?: (row: R) => RowState;
  /** A row was clicked, or Enter pressed on it. */
  readonly onActivate?: (row: R, index: number) => void;
  /** A double click, or Enter, which then does not activate. */
  readonly onOpen?: (row: R, index: number) => void;
  /** A key that the table itself does not use; true when it was taken. */
  readonly onRowKey?: (key: string, row: R, index: number) => boolean;
  readonly handle?: Ref<TableHandle>;
}

interface TableRowProps<R> {
  readonly id: string;
  readonly index: number;
  /** Undefined while it is being read. */
  readonly row: R | undefined;
  readonly columns: readonly Column<R>[];
  readonly template: string;
  readonly isActive: boolean;
  readonly isSelected: boolean;
  readonly isCurrent: boolean;
  readonly tone: RowState['tone'];
  readonly onClick: (row: R, index: number) => void;
  readonly onOpen: (row: R, index: number) => void;
}

function Row<R>(props: TableRowProps<R>) {
  const { id, index, row, columns, template, onClick, onOpen } = props;
  return (
    <tr
      id={id}
      className="table-row"
      aria-rowindex={index + 2}
      aria-selected={props.isSelected}
      aria-current={props.isCurrent || undefined}
      aria-busy={row === undefined || undefined}
      data-active={props.isActive || undefined}
      data-tone={props.tone}
      style={{ gridTemplateColumns: template }}
      onClick={() => row !== undefined && onClick(row, index)}
      onDoubleClick={() => row !== undefined && onOpen(row, index)}
    >
      {columns.map((column) => (
        <td key={column.id} className="table-cell" data-align={column.align}>
          {row !== undefined && column.render(row, index)}
        </td>
      ))}
    </tr>
  );
}

/** While scrolling, most rows are the same as a frame ago. memo loses the type parameter. */
export const TableRow = memo(Row) as typeof Row;

interface TableHeaderProps<R> {
  readonly columns: readonly Column<R>[];
  readonly template: string;
  readonly sort: Sort | undefined;
  readonly onSort: ((column: string) => void) | undefined;
}

export function TableHeader<R>({ columns, template, sort, onSort }: TableHeaderProps<R>) {
  return (
    <thead className="table-header">
      <tr aria-rowindex={1} style={{ gridTemplateColumns: template }}>
        {columns.map(({ id, header, title, align, isSortable }) => (
          <th
            key={id}
            scope="col"
            className="table-heading"
            data-align={align}
            title={title}
            aria-sort={isSortable === true ? sortWord(sort, id) : undefined}
          >
            {isSortable === true && onSort !== undefined ? (
              <button type="button" onClick={() => onSort(id)}>
                {header}
                <SortMark sort={sort} column={id} />
              </button>
            ) : (
              header
            )}
          </th>
        ))}
      </tr>
    </thead>
  );
}

function SortMark({ sort, column }: { readonly sort: Sort | undefined; column: string }) {
  if (sort?.key !== column) return undefined;
  return sort.descending ? (
    <ChevronDown size={12} aria-hidden />
  ) : (
    <ChevronUp size={12} aria-hidden />
  );
}

function sortWord(sort: Sort | undefined, column: string) {
  if (sort?.key !== column) return 'none';
  return sort.descending ? 'descending' : 'ascending';
}
