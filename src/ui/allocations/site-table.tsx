import { type ReactNode, useCallback, useMemo } from 'react';
import type { CallSiteRow } from '../../core/lists/allocation-list-types.ts';
import { addTerm } from '../../core/search/edit-search.ts';
import { siteTerm } from '../../core/search/qualifiers/site.ts';
import { useStores, useView } from '../../state/stores.ts';
import { useDevice } from '../shared/device-context.ts';
import { LARGEST_FIRST, type ListOrder } from './list-order.ts';
import { SITE_LIST } from './list-queries.ts';
import { ListTable } from './list-table.tsx';
import { siteColumns } from './site-columns.tsx';

interface SiteTableProps {
  readonly order: Extract<ListOrder, { of: 'sites' }>;
  readonly switcher: ReactNode;
}

const HINT =
  'Space selects the largest, Enter or a double click lists all of a site, F searches for it, C copies';

/** A row for each call stack. */
export function SiteTable(props: SiteTableProps) {
  const { device } = useDevice();
  const { view } = useStores();
  const axis = useView((state) => state.axis);
  const columns = useMemo(() => siteColumns(device, axis), [device, axis]);
  const listAll = useCallback(
    ({ label }: CallSiteRow) => {
      const { search } = view.getState().view;
      view.commit({ search: addTerm(search, siteTerm(label)), sort: LARGEST_FIRST });
    },
    [view],
  );
  return (
    <ListTable {...props} queries={SITE_LIST} hint={HINT} columns={columns} onOpen={listAll} />
  );
}
