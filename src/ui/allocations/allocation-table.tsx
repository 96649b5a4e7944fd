import { type ReactNode, useCallback, useMemo } from 'react';
import type { AllocationRow } from '../../core/lists/allocation-list-types.ts';
import { useStores, useView } from '../../state/stores.ts';
import { windowShowing } from '../search/window-showing.ts';
import { useDevice } from '../shared/device-context.ts';
import { useQuery } from '../shared/use-query.ts';
import { allocationColumns } from './allocation-columns.tsx';
import type { ListOrder } from './list-order.ts';
import { ALLOCATION_LIST } from './list-queries.ts';
import { ListTable } from './list-table.tsx';

interface AllocationTableProps {
  readonly order: Extract<ListOrder, { of: 'allocations' }>;
  readonly switcher: ReactNode;
}

const HINT =
  'Space selects, Enter or a double click shows in the timeline, F searches for the site, C copies';

/** A row for each allocation. */
export function AllocationTable(props: AllocationTableProps) {
  const { device } = useDevice();
  const { view } = useStores();
  const axis = useView((state) => state.axis);
  const known = useQuery('searchValues', {}).value;
  const columns = useMemo(() => allocationColumns(device, axis, known), [device, axis, known]);
  const open = useCallback(
    (row: AllocationRow) => {
      const now = view.getState().view;
      const x = windowShowing(now.x, now.axis, row, device);
      view.commit({ view: 'timeline', selection: row.label, x });
    },
    [view, device],
  );
  return (
    <ListTable {...props} queries={ALLOCATION_LIST} hint={HINT} columns={columns} onOpen={open} />
  );
}
