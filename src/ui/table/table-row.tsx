import { memo } from 'react';
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
