import type { ReactNode, Ref } from 'react';
import type { Sort } from '../../state/view-store.ts';
import type { RowSource } from './row-pages.ts';

export interface Column<R> {
  readonly id: string;
  readonly header: string;
  /** What the column holds, at length. */
  readonly title?: string;
  /** At least so wide; what is left of the table is shared out by `grow` (0 where not given). */
  readonly widthPx: number;
  readonly grow?: number;
  readonly align?: 'start' | 'end';
  readonly isSortable?: boolean;
  /** Content of one line; what does not fit is cut with an ellipsis, so give it a title. */
  readonly render: (row: R, index: number) => ReactNode;
}

/** How a row differs from others, beyond its content. */
export interface RowState {
  /** What is selected on the page. */
  readonly isSelected?: boolean;
  /** Where the cursor stands. */
  readonly isCurrent?: boolean;
  readonly tone?: 'danger' | 'related';
}

/** What the view above a table can have it do. */
export interface TableHandle {
  /** Scrolls until all of the row is visible; 'middle' also leaves rows around it. */
  reveal(row: number, place?: 'nearest' | 'middle'): void;
  /** The same, and the keys go on from there. */
  goTo(row: number): void;
  focus(): void;
}

export interface VirtualTableProps<R> {
  /** What the rows are, for screen readers: 'Events'. */
  readonly label: string;
  /** The same array from render to render while nothing changes, and so with `rowState`. */
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
  /** A key on a row that the table has no use for; true when it was taken. */
  readonly onRowKey?: (key: string, row: R, index: number) => boolean;
  readonly handle?: Ref<TableHandle>;
}
