import { type ReactNode, useCallback, useMemo, useRef } from 'react';
import type { AllocationKey, AllocationRow } from '../../core/query/allocation-rows/types.ts';
import { useStores, useView } from '../../state/stores.ts';
import { useServices } from '../app/services.ts';
import type { ViewProps } from '../app/view-props.ts';
import { useAnswer } from '../cursor/use-answer.ts';
import { askKnownValues } from '../search/ask-search.ts';
import { windowShowing } from '../search/window-showing.ts';
import type { TableHandle } from '../table/table-types.ts';
import { allocationColumns } from './allocation-columns.tsx';
import { ListFrame } from './list-frame.tsx';
import type { ListOrder } from './list-order.ts';
import { ALLOCATION_LIST } from './list-questions.ts';
import { useFollowSelection } from './use-follow-selection.ts';
import { type Listing, useList } from './use-list.ts';

interface AllocationTableProps extends ViewProps {
  readonly order: Extract<ListOrder, { of: 'allocations' }>;
  readonly switcher: ReactNode;
}

const HINT =
  'Space selects, Enter or a double click shows in the timeline, F searches for the site, C copies';

/** A row for each allocation. */
export function AllocationTable(props: AllocationTableProps) {
  const { info, device, selected, order } = props;
  const { session } = useServices();
  const { view } = useStores();
  const search = useView((state) => state.search);
  const at = useView((state) => state.cursor);
  const axis = useView((state) => state.axis);
  const { key, isDescending } = order;
  const clock = axis === 'time' && device.hasTime ? 'us' : 'events';
  const request = { device: device.index, search, at, key, isDescending, clock } as const;
  const list = useList(info, ALLOCATION_LIST, request, selected);
  const table = useRef<TableHandle>(null);
  useFollowSelection(table, list.listing?.source, selected, list.place);
  const known = useAnswer(askKnownValues, { device: device.index }, info).value;
  const columns = useMemo(() => allocationColumns(device, axis, known), [device, axis, known]);
  const copy = useCallback(
    (listing: Listing<AllocationKey, AllocationRow>, from: number, to: number) =>
      session.allocationsTsv({ ...listing.request, from, to }),
    [session],
  );
  const select = useCallback(
    ({ label }: AllocationRow) => view.commit({ selection: label }),
    [view],
  );
  const open = useCallback(
    (row: AllocationRow) => {
      const now = view.getState().view;
      const x = windowShowing(now.x, now.axis, row, device);
      view.commit({ view: 'timeline', selection: row.label, x });
    },
    [view, device],
  );
  return (
    <ListFrame
      {...props}
      label="Allocations"
      hint={HINT}
      list={list}
      columns={columns}
      table={table}
      copy={copy}
      onActivate={select}
      onOpen={open}
    />
  );
}
