import { type ReactNode, type RefObject, useCallback, useMemo } from 'react';
import type { EventFacets, EventRow } from '../../core/lists/event-list-types.ts';
import { useStores, useView } from '../../state/stores.ts';
import { useDevice } from '../shared/device-context.ts';
import type { TableHandle } from '../table/table-types.ts';
import { VirtualTable } from '../table/virtual-table.tsx';
import { eventColumns } from './event-columns.tsx';
import type { EventListing } from './use-event-list.ts';
import type { FollowCursor } from './use-follow-cursor.ts';

interface EventTableProps {
  readonly facets: EventFacets | undefined;
  readonly listing: EventListing;
  readonly follow: FollowCursor;
  readonly handle: RefObject<TableHandle | null>;
  readonly empty: ReactNode;
}

/** The rows: a click puts the cursor on one, L goes to the other end of what it begins or ends. */
export function EventTable({ facets, listing, follow, handle, empty }: EventTableProps) {
  const { device } = useDevice();
  const { view } = useStores();
  const { goTo, isHere } = follow;
  const columns = useMemo(() => eventColumns(device, facets, goTo), [device, facets, goTo]);
  const activate = useCallback(
    ({ event, allocation }: EventRow) => {
      isHere(event);
      view.commit({ cursor: event, ...(allocation !== undefined && { selection: allocation }) });
    },
    [view, isHere],
  );
  const onRowKey = useCallback(
    (key: string, { pair }: EventRow) => {
      if (key !== 'l' || pair.kind !== 'event') return false;
      goTo(pair.event);
      return true;
    },
    [goTo],
  );
  return (
    <VirtualTable
      label="Events"
      columns={columns}
      source={listing.source}
      rowState={useRowState()}
      onActivate={activate}
      onRowKey={onRowKey}
      handle={handle}
      empty={empty}
    />
  );
}

function useRowState() {
  const cursor = useView((state) => state.cursor);
  const selection = useView((state) => state.selection);
  return useCallback(
    ({ event, action, allocation }: EventRow) => ({
      isCurrent: event === cursor,
      isSelected: allocation !== undefined && allocation === selection,
      ...(action === 'oom' && { tone: 'danger' as const }),
    }),
    [cursor, selection],
  );
}
