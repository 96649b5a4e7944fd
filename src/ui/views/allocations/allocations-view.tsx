import './allocations.css';
import { type RefObject, useEffect, useMemo, useRef, useState } from 'react';
import { formatCount } from '../../../base/format.ts';
import type { AllocationRow } from '../../../device/lists/allocation-rows.ts';
import type { CallSiteRow } from '../../../device/lists/call-site-table.ts';
import { addTerm, toggleTerm } from '../../../device/search/parse-search.ts';
import { searchTerm } from '../../../device/search/qualifier.ts';
import { useStores, useView } from '../../../state/stores.ts';
import { emptyReasons } from '../../panels/search/search-panel.tsx';
import { windowShowing } from '../../panels/search/use-search.ts';
import { Button, CopyButton, Segmented } from '../../shared/buttons.tsx';
import { useSelectedIndex } from '../../shared/selection.tsx';
import { useDevice } from '../../shared/services.ts';
import { useQuery } from '../../shared/use-query.ts';
import type { Column, TableHandle } from '../../table/table-row.tsx';
import { VirtualTable } from '../../table/virtual-table.tsx';
import { allocationColumns, siteColumns } from './columns.tsx';
import {
  ALLOCATION_LIST,
  LARGEST_FIRST,
  type Listed,
  type Listing,
  type ListKey,
  type ListOrder,
  type ListQueries,
  type ListState,
  orderOf,
  SITE_LIST,
  SITES_AT_PEAK,
  sortedBy,
  useList,
} from './list.ts';

export function View() {
  const order = orderOf(useView(({ sort }) => sort));
  return (
    <section className="view" aria-label="Allocations">
      {order.of === 'allocations' ? <AllocationTable order={order} /> : <SiteTable order={order} />}
    </section>
  );
}

const ROWS = [
  { value: 'allocations', label: 'All', about: 'One row per allocation' },
  { value: 'sites', label: 'By call site', about: 'One row per call stack' },
] as const;

function AllocationTable({ order }: { readonly order: Extract<ListOrder, { of: 'allocations' }> }) {
  const { device } = useDevice();
  const { view } = useStores();
  const axis = useView((state) => state.axis);
  const known = useQuery('searchValues', {}).value;
  const columns = useMemo(() => allocationColumns(device, axis, known), [device, axis, known]);
  function open(row: AllocationRow): void {
    const now = view.getState().view;
    const x = windowShowing(now.x, now.axis, row, device);
    view.commit({ view: 'timeline', selection: row.label, x });
  }
  return (
    <ListTable
      order={order}
      queries={ALLOCATION_LIST}
      hint="Space selects, Enter or a double click shows it in the timeline, F searches for its call site, C copies"
      columns={columns}
      onOpen={open}
    />
  );
}

function SiteTable({ order }: { readonly order: Extract<ListOrder, { of: 'sites' }> }) {
  const { device } = useDevice();
  const { view } = useStores();
  const axis = useView((state) => state.axis);
  const hasHolders = (useQuery('searchValues', {}).value?.holder?.length ?? 0) > 0;
  const columns = useMemo(() => siteColumns(device, axis, hasHolders), [device, axis, hasHolders]);
  function listAll({ label }: CallSiteRow): void {
    const { search } = view.getState().view;
    view.commit({ search: addTerm(search, searchTerm('site', label)), sort: LARGEST_FIRST });
  }
  return (
    <ListTable
      order={order}
      queries={SITE_LIST}
      hint="Space selects the largest, Enter or a double click lists all of a call site, F searches for it, C copies"
      columns={columns}
      onOpen={listAll}
    />
  );
}

const MOST_COPIED = 10_000;

interface ListTableProps<Key extends ListKey, R> {
  readonly queries: ListQueries<Key, R>;
  readonly order: Pick<ListOrder, 'of' | 'isDescending'> & { readonly key: Key };
  readonly hint: string;
  readonly columns: readonly Column<Listed<R>>[];
  readonly onOpen: (row: R) => void;
}

function ListTable<Key extends ListKey, R extends { readonly label: string }>(
  props: ListTableProps<Key, R>,
) {
  const { queries, order, hint, columns, onOpen } = props;
  const { device } = useDevice();
  const selected = useSelectedIndex();
  const { view } = useStores();
  const sort = useView((state) => state.sort) ?? LARGEST_FIRST;
  const search = useView((state) => state.search);
  const at = useView((state) => state.cursor);
  const axis = useView((state) => state.axis);
  const clock = axis === 'time' && device.hasTime ? 'us' : 'events';
  const { key, isDescending } = order;
  const list = useList(queries, { search, at, clock, key, isDescending }, selected);
  const { listing, place } = list;
  const table = useRef<TableHandle>(null);
  useFollowSelection(table, listing?.source, selected, place);
  const [note, setNote] = useState('');
  const select = (row: R) => view.click('allocation', { selection: row.label });
  async function copy(place: number): Promise<void> {
    if (listing !== undefined)
      await navigator.clipboard.writeText(await listing.copy(place, place + 1));
  }
  /** Space selects, F searches for the call site, C copies. */
  function onRowKey(pressed: string, row: Listed<R>): boolean {
    if (pressed === ' ') select(row);
    else if (pressed === 'f')
      view.commit({ search: toggleTerm(search, searchTerm('site', row.label)) });
    else if (pressed === 'c') {
      const say = (text: string) => () => setNote(text);
      copy(row.place).then(say('Row copied'), say('Could not copy the row'));
    } else return false;
    return true;
  }
  return (
    <>
      <div className="row bar list-bar">
        <Segmented
          label="Rows"
          value={order.of}
          options={ROWS}
          onChange={(next) =>
            view.commit({ sort: next === 'allocations' ? LARGEST_FIRST : SITES_AT_PEAK })
          }
        />
        <ListCount list={list} label={queries.label} all={device.allocations} />
        <span className="dim" role="status">
          {note}
        </span>
        <span className="dim one-line list-hint small" title={hint}>
          {hint}
        </span>
        {listing !== undefined && listing.source.count > 0 && (
          <CopyRows listing={listing} label={queries.label} />
        )}
      </div>
      <div className="list-rows fill">
        {listing !== undefined && (
          <VirtualTable
            label={queries.label}
            columns={columns}
            source={listing.source}
            sort={sort}
            onSort={(column) => view.commit({ sort: sortedBy(column, sort) })}
            rowState={(row) => ({ isSelected: row.place === place })}
            onActivate={select}
            onOpen={onOpen}
            onRowKey={onRowKey}
            handle={table}
            empty={<NoRows />}
          />
        )}
      </div>
    </>
  );
}

interface ListCountProps {
  readonly list: ListState;
  readonly label: string;
  readonly all: number;
}

/** '1,234 of 5,678 allocations'; without a search, the total of call sites is unknown. */
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

interface CopyRowsProps {
  readonly listing: Listing<unknown>;
  readonly label: string;
}

function CopyRows({ listing, label }: CopyRowsProps) {
  const { count } = listing.source;
  const most = Math.min(count, MOST_COPIED);
  const which = most < count ? `the first ${formatCount(most)} of ${formatCount(count)}` : 'all';
  const what = `${which} ${label.toLowerCase()} in this order, separated by tabs`;
  return (
    <CopyButton
      className="button"
      label={what}
      title={`Copy ${what}; C copies the row at the keyboard`}
      text={() => listing.copy(0, most)}
    >
      {most < count ? `Copy first ${formatCount(most)}` : 'Copy rows'}
    </CopyButton>
  );
}

function NoRows() {
  const { device } = useDevice();
  const { view } = useStores();
  const search = useView((state) => state.search);
  const cursor = useView((state) => state.cursor);
  const request = device.allocations === 0 ? undefined : { search, at: cursor };
  const summary = useQuery('searchSummary', request).value;
  if (device.allocations === 0) {
    return (
      <p>
        Nothing was allocated on this device during the recording, and nothing was live when the
        snapshot was taken.
      </p>
    );
  }
  const reasons = summary === undefined ? [] : emptyReasons(summary);
  return (
    <>
      {reasons.map((reason) => (
        <p key={reason}>{reason}</p>
      ))}
      <p>
        <Button onClick={() => view.commit({ search: '' })}>Clear the search</Button>
      </p>
    </>
  );
}

/**
 * Scrolls to the selected row if it was selected elsewhere, and to the top of a newly sorted list.
 * `list` identifies the list; `place` is -1 while the row is unknown.
 */
function useFollowSelection(
  table: RefObject<TableHandle | null>,
  list: object | undefined,
  selected: number,
  place: number,
): void {
  const shown = useRef(-1);
  const before = useRef(list);
  useEffect(() => {
    if (list === undefined || before.current === list) return;
    const isFirst = before.current === undefined;
    before.current = list;
    if (!isFirst) table.current?.reveal(0);
  }, [list, table]);
  useEffect(() => {
    if (selected < 0) shown.current = -1;
    if (place < 0 || shown.current === selected) return;
    const isFirst = shown.current < 0;
    shown.current = selected;
    table.current?.reveal(place, isFirst ? 'middle' : 'nearest');
  }, [selected, place, table]);
}
