import { ChevronDown, ChevronUp } from 'lucide-react';
import type { Sort } from '../../state/view-store.ts';
import type { Column } from './table-types.ts';

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
