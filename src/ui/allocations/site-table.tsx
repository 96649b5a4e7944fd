import { type ReactNode, useCallback, useMemo, useRef } from 'react';
import type { SiteKey, SiteRow } from '../../core/query/allocation-rows/types.ts';
import { addTerm, siteTerm } from '../../core/query/search/write-terms.ts';
import { useStores, useView } from '../../state/stores.ts';
import { useServices } from '../app/services.ts';
import type { ViewProps } from '../app/view-props.ts';
import type { TableHandle } from '../table/table-types.ts';
import { ListFrame } from './list-frame.tsx';
import { LARGEST_FIRST, type ListOrder } from './list-order.ts';
import { SITE_LIST } from './list-questions.ts';
import { siteColumns } from './site-columns.tsx';
import { useFollowSelection } from './use-follow-selection.ts';
import { type Listing, useList } from './use-list.ts';

interface SiteTableProps extends ViewProps {
  readonly order: Extract<ListOrder, { of: 'sites' }>;
  readonly switcher: ReactNode;
}

const HINT =
  'Space selects the largest, Enter or a double click lists all of a site, F searches for it, C copies';

/** A row for each call stack. */
export function SiteTable(props: SiteTableProps) {
  const { info, device, selected, order } = props;
  const { session } = useServices();
  const { view } = useStores();
  const search = useView((state) => state.search);
  const at = useView((state) => state.cursor);
  const axis = useView((state) => state.axis);
  const { key, isDescending } = order;
  const request = {
    device: device.index,
    search,
    at,
    key,
    isDescending,
    clock: 'events',
  } as const;
  const list = useList(info, SITE_LIST, request, selected);
  const table = useRef<TableHandle>(null);
  useFollowSelection(table, list.listing?.source, selected, list.place);
  const columns = useMemo(() => siteColumns(device, axis), [device, axis]);
  const copy = useCallback(
    (listing: Listing<SiteKey, SiteRow>, from: number, to: number) =>
      session.sitesTsv({ ...listing.request, from, to }),
    [session],
  );
  const select = useCallback(({ label }: SiteRow) => view.commit({ selection: label }), [view]);
  const listAll = useCallback(
    ({ label }: SiteRow) =>
      view.commit({
        search: addTerm(view.getState().view.search, siteTerm(label)),
        sort: LARGEST_FIRST,
      }),
    [view],
  );
  return (
    <ListFrame
      {...props}
      label="Sites"
      hint={HINT}
      list={list}
      columns={columns}
      table={table}
      copy={copy}
      onActivate={select}
      onOpen={listAll}
    />
  );
}
