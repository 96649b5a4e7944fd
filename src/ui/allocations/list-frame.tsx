import { type ReactNode, type Ref, useCallback, useState } from 'react';
import { formatCount } from '../../core/base/format.ts';
import { siteTerm, toggleTerm } from '../../core/query/search/write-terms.ts';
import { useStores, useView } from '../../state/stores.ts';
import { CopyButton } from '../app/copy-button.tsx';
import type { ViewProps } from '../app/view-props.ts';
import type { Column, TableHandle } from '../table/table-types.ts';
import { VirtualTable } from '../table/virtual-table.tsx';
import { LARGEST_FIRST, sortedBy } from './list-order.ts';
import { NoRows } from './no-rows.tsx';
import type { Listed, Listing, ListState } from './use-list.ts';

/** More than these are no text to paste. */
const MOST_COPIED = 10_000;

interface ListFrameProps<Key, R extends { readonly label: string }> extends ViewProps {
  /** What the rows are: 'allocations', 'sites'. */
  readonly label: string;
  readonly switcher: ReactNode;
  /** What keys and clicks do, shown where there is room. */
  readonly hint: string;
  readonly list: ListState<Key, R>;
  readonly columns: readonly Column<Listed<R>>[];
  readonly table: Ref<TableHandle>;
  /** Rows from `from` to before `to` as text. */
  readonly copy: (listing: Listing<Key, R>, from: number, to: number) => Promise<string>;
  readonly onActivate: (row: Listed<R>) => void;
  readonly onOpen: (row: Listed<R>) => void;
}

/** A list with what is said of it above. */
export function ListFrame<Key, R extends { readonly label: string }>(
  props: ListFrameProps<Key, R>,
) {
  const { info, device, label, hint, list, columns, copy, onActivate, onOpen } = props;
  const { listing, place } = list;
  const { view } = useStores();
  const sort = useView((state) => state.sort) ?? LARGEST_FIRST;
  const [note, setNote] = useState('');
  const rowState = useCallback((row: Listed<R>) => ({ isSelected: row.place === place }), [place]);
  const copyRow = useCallback(
    async (row: number) => {
      if (listing === undefined) return;
      try {
        await navigator.clipboard.writeText(await copy(listing, row, row + 1));
        setNote('Row copied');
      } catch {
        setNote('The row could not be copied');
      }
    },
    [listing, copy],
  );
  const onRowKey = useCallback(
    (key: string, row: Listed<R>) => {
      if (key === ' ') onActivate(row);
      else if (key === 'c') void copyRow(row.place);
      else if (key === 'f') {
        const { search } = view.getState().view;
        view.commit({ search: toggleTerm(search, siteTerm(row.label)) });
      } else return false;
      return true;
    },
    [onActivate, copyRow, view],
  );
  return (
    <>
      <div className="list-bar">
        {props.switcher}
        <ListCount list={list} label={label} all={device.allocations} />
        <span className="dim" role="status">
          {note}
        </span>
        <span className="dim list-hint">{hint}</span>
        {listing !== undefined && listing.source.count > 0 && (
          <CopyRows listing={listing} label={label} copy={copy} />
        )}
      </div>
      <div className="list-rows">
        {listing !== undefined && (
          <VirtualTable
            label={label}
            columns={columns}
            source={listing.source}
            sort={sort}
            onSort={(column) => view.commit({ sort: sortedBy(column, sort) })}
            rowState={rowState}
            onActivate={onActivate}
            onOpen={onOpen}
            onRowKey={onRowKey}
            handle={props.table}
            empty={<NoRows info={info} device={device} />}
          />
        )}
      </div>
    </>
  );
}

interface ListCountProps {
  readonly list: ListState<unknown, unknown>;
  readonly label: string;
  /** Allocations of the device. */
  readonly all: number;
}

/** '1,234 of 5,678 allocations'; of sites nobody knows how many there are without the search. */
function ListCount({ list: { listing, isCurrent, failure }, label, all }: ListCountProps) {
  if (failure !== undefined) return <span role="alert">These could not be listed: {failure}</span>;
  if (listing === undefined) return <span className="dim">Sorting…</span>;
  const { count } = listing.source;
  const isPart = label === 'Allocations' && count < all;
  return (
    <span role="status" aria-busy={!isCurrent}>
      {formatCount(count)} {isPart && `of ${formatCount(all)} `}
      {label.toLowerCase()}
    </span>
  );
}

interface CopyRowsProps<Key, R> {
  readonly listing: Listing<Key, R>;
  readonly label: string;
  readonly copy: (listing: Listing<Key, R>, from: number, to: number) => Promise<string>;
}

function CopyRows<Key, R>({ listing, label, copy }: CopyRowsProps<Key, R>) {
  const { count } = listing.source;
  const most = Math.min(count, MOST_COPIED);
  const which = most < count ? `the first ${formatCount(most)} of ${formatCount(count)}` : 'all';
  const what = `${which} ${label.toLowerCase()} in this order, with tabs between`;
  return (
    <CopyButton
      className="button"
      label={what}
      title={`Copy ${what}; C copies the row at the keyboard`}
      text={() => copy(listing, 0, most)}
    >
      {most < count ? `Copy first ${formatCount(most)}` : 'Copy rows'}
    </CopyButton>
  );
}
