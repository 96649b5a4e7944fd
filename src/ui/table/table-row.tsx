import { ChevronDown, ChevronUp } from 'lucide-react';
import { memo, type ReactNode, type Ref } from 'react';
import type { Sort } from '../../state/view-store.ts';
import { Bytes } from '../shared/facts.tsx';
import { Term } from '../shared/term.tsx';

export interface Heading {
  readonly id: string;
  readonly header: string;
  readonly title?: string | undefined;
  readonly align?: 'start' | 'end';
  readonly isSortable?: boolean;
  /** How the first click sorts. */
  readonly first?: 'up' | 'down';
  readonly head?: Ref<HTMLTableCellElement>;
}

export interface Column<R> extends Heading {
  /** Minimum width; `grow` shares out the rest of the table (default 0). */
  readonly widthPx: number;
  readonly grow?: number;
  /** Content of one line; an ellipsis cuts what does not fit, so give it a title. */
  readonly render: (row: R, index: number) => ReactNode;
}

export type ColumnWords<Id extends string> = Readonly<
  Record<Id, readonly [header: string, title?: string]>
>;

export function columnsIn<R, Id extends string>(words: ColumnWords<Id>) {
  type Render = Column<R>['render'];
  type More = Partial<Column<R>>;
  const text = (id: Id, widthPx: number, render: Render, more?: More): Column<R> => {
    const [header, title] = words[id];
    return { id, header, title, widthPx, render, first: 'up', ...more };
  };
  const figure = (id: Id, widthPx: number, render: Render, more?: More) =>
    text(id, widthPx, render, { align: 'end', first: 'down', ...more });
  return {
    text,
    figure,
    /** Rounded, with the exact figure in the tooltip. */
    bytes: (id: Id, widthPx: number, of: (row: R) => number) =>
      figure(id, widthPx, (row) => <Bytes bytes={of(row)} />),
    /** Cut if it does not fit, whole in the tooltip. */
    code: (id: Id, widthPx: number, of: (row: R) => string) =>
      text(id, widthPx, (row) => (
        <span className="mono" title={of(row)}>
          {of(row)}
        </span>
      )),
  };
}

export interface RowState {
  readonly isSelected?: boolean;
  readonly isCurrent?: boolean;
  readonly tone?: 'danger' | 'related' | 'group' | undefined;
  /** In a tree: 1 for the head of a group, 2 for its rows. */
  readonly level?: number;
  /** Of a group's head: whether its rows are listed. */
  readonly isExpanded?: boolean | undefined;
}

interface TableRowProps<R> extends RowState {
  readonly id: string;
  readonly index: number;
  readonly row: R | undefined;
  readonly columns: readonly Column<R>[];
  readonly template: string;
  readonly isActive: boolean;
}

function Row<R>(props: TableRowProps<R>) {
  const { id, index, row, columns, template } = props;
  return (
    <tr
      id={id}
      className="table-row"
      aria-rowindex={index + 2}
      aria-selected={props.isSelected === true}
      aria-current={props.isCurrent || undefined}
      aria-level={props.level}
      aria-expanded={props.isExpanded}
      aria-busy={row === undefined || undefined}
      data-active={props.isActive || undefined}
      data-tone={props.tone}
      style={{ gridTemplateColumns: template }}
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

interface SortHeadingProps {
  readonly column: Heading;
  readonly sort: Sort | undefined;
  readonly onSort: ((column: string) => void) | undefined;
}

export function SortHeading({ column, sort, onSort }: SortHeadingProps) {
  const { id, header, title, align, isSortable = false } = column;
  const isSorted = sort?.key === id;
  const Chevron = sort?.descending ? ChevronDown : ChevronUp;
  const order = sort?.descending ? 'descending' : 'ascending';
  return (
    <th
      ref={column.head}
      scope="col"
      data-align={align}
      aria-sort={isSortable ? (isSorted ? order : 'none') : undefined}
    >
      {isSortable && onSort !== undefined ? (
        <button type="button" title={title} onClick={() => onSort(id)}>
          {header}
          {isSorted && <Chevron size={12} aria-hidden />}
        </button>
      ) : title === undefined ? (
        header
      ) : (
        <Term about={title}>{header}</Term>
      )}
    </th>
  );
}

/** A column's next order: its first direction, then the other one, then the default order. */
export function nextSort(
  sort: Sort | undefined,
  key: string,
  isDescendingFirst: boolean,
): Sort | undefined {
  if (sort?.key !== key) return { key, descending: isDescendingFirst };
  const isFirst = sort.descending === isDescendingFirst;
  return isFirst ? { key, descending: !isDescendingFirst } : undefined;
}
