import { searchTerm } from '../../../device/search/qualifier.ts';
import './allocations.css';
import { useMemo } from 'react';
import type { AllocationRow } from '../../../device/lists/allocation-rows.ts';
import type { CallSiteRow } from '../../../device/lists/call-site-table.ts';
import { addTerm } from '../../../device/search/parse-search.ts';
import { useStores, useView } from '../../../state/stores.ts';
import { windowShowing } from '../../panels/search/use-search.ts';
import { Segmented } from '../../shared/buttons.tsx';
import { useDevice } from '../../shared/services.ts';
import { useQuery } from '../../shared/use-query.ts';
import { allocationColumns, siteColumns } from './columns.tsx';
import {
  ALLOCATION_LIST,
  LARGEST_FIRST,
  type ListOrder,
  orderOf,
  SITE_LIST,
  SITES_AT_PEAK,
} from './list.ts';
import { ListTable } from './list-table.tsx';

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

function RowSwitch({ of }: Pick<ListOrder, 'of'>) {
  const { view } = useStores();
  return (
    <Segmented
      label="Rows"
      value={of}
      options={ROWS}
      onChange={(next) =>
        view.commit({ sort: next === 'allocations' ? LARGEST_FIRST : SITES_AT_PEAK })
      }
    />
  );
}

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
      switcher={<RowSwitch of="allocations" />}
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
      switcher={<RowSwitch of="sites" />}
      queries={SITE_LIST}
      hint="Space selects the largest, Enter or a double click lists all of a call site, F searches for it, C copies"
      columns={columns}
      onOpen={listAll}
    />
  );
}
