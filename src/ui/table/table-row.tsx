import { ChevronDown, ChevronUp } from 'lucide-react';
import { memo } from 'react';
import type { Sort } from '../../state/view-store.ts';
import type { Column, RowState } from './table-types.ts';

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
  readonly onOpen: ((row: R, index: number) => void) | undefined;
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
      onDoubleClick={() => row !== undefined && onOpen?.(row, index)}
    >
      {columns.map((column) => (
        <td key={column.id} className="table-cell" data-align={column.align}>
          {row !== undefined && column.render(row, index)}
        </td>
      ))}
    </tr>
  );
}

/** While scrolling most rows are the same as a frame ago. memo forgets the type parameter. */
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
