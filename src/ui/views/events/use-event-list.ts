import { type RefObject, useCallback, useEffect, useMemo, useRef, useState } from 'react';
import type { EventRowIndex } from '../../../device/lists/event-list.ts';
import type { EventRow } from '../../../device/lists/event-reader.ts';
import type { EventIndex } from '../../../format/snapshot/tables.ts';
import { useStores, useView } from '../../../state/stores.ts';
import type { EventChoice, EventListAnswer } from '../../../worker/protocol.ts';
import { useAsk, useComposedQuery } from '../../shared/use-query.ts';
import type { RowSource } from '../../table/row-pages.ts';
import type { TableHandle } from '../../table/table-row.tsx';

export interface EventListing extends EventListAnswer {
  readonly choice: EventChoice;
  /** The cursor's event when the list was requested, and its row. */
  readonly cursor: (EventRowIndex & { readonly event: EventIndex }) | undefined;
  readonly source: RowSource<EventRow>;
}

export type EventListState = ReturnType<typeof useEventList>;

/** The events of a choice. The previous list stays until the next one is ready. */
export function useEventList(choice: EventChoice) {
  const ask = useAsk();
  const { value, isCurrent, failure } = useComposedQuery(useFetchList(), choice);
  const listing = useMemo<EventListing | undefined>(() => {
    if (value === undefined) return undefined;
    return {
      ...value,
      source: {
        count: value.length,
        start: firstShown(value),
        load: (from, to, signal) =>
          ask('eventRows', { choice: value.choice, from, to }, { signal }),
      },
    };
  }, [ask, value]);
  return { listing, isCurrent, failure };
}

/** Fetches the list with the cursor's row in it, so the table can read the rows around it at once. */
function useFetchList() {
  const ask = useAsk();
  const { view } = useStores();
  return useCallback(
    async (choice: EventChoice, signal: AbortSignal) => {
      const place = async (event: EventIndex) => ({
        event,
        ...(await ask('eventRowIndex', { choice, event }, { signal })),
      });
      const { cursor } = view.getState().view;
      const [list, found] = await Promise.all([
        ask('eventList', { choice }, { signal }),
        cursor === undefined ? undefined : place(cursor),
      ]);
      return { choice, ...list, cursor: found };
    },
    [ask, view],
  );
}

/** The cursor's row, or the one after it if it is not listed; the first row without a cursor. */
function firstShown({ length, cursor }: Pick<EventListing, 'length' | 'cursor'>): number {
  return Math.max(0, Math.min(cursor?.row ?? 0, length - 1));
}

export type FollowCursor = ReturnType<typeof useFollowCursor>;

/** Keeps the cursor's row visible when the cursor moves elsewhere, and when the list changes. */
export function useFollowCursor({ listing }: EventListState, table: RefObject<TableHandle | null>) {
  const { view } = useStores();
  const ask = useAsk();
  const cursor = useView((state) => state.cursor);
  const [isMissing, setIsMissing] = useState(false);
  /** What the table last scrolled for. The same event of the same list does not scroll it again. */
  const here = useRef<{ event: number | undefined; listing: object | undefined }>(undefined);
  const current = useRef(listing);
  current.current = listing;

  /** Prevents scrolling: the cursor is about to move to an event whose row is visible. */
  const isHere = useCallback((event: number) => {
    here.current = { event, listing: current.current };
    setIsMissing(false);
  }, []);

  const show = useCallback(
    async (event: number, isWanted: () => boolean) => {
      const list = current.current;
      if (list === undefined) return;
      const { choice } = list;
      const place =
        list.cursor?.event === event ? list.cursor : await ask('eventRowIndex', { choice, event });
      if (!isWanted()) return;
      setIsMissing(!place.isListed);
      if (list.length > 0) table.current?.goTo(Math.min(place.row, list.length - 1));
    },
    [ask, table],
  );

  useEffect(() => {
    if (listing === undefined) return;
    const before = here.current;
    if (before?.event === cursor && before?.listing === listing) return;
    here.current = { event: cursor, listing };
    if (cursor === undefined) {
      setIsMissing(false);
      if (before !== undefined) table.current?.reveal(0);
      return;
    }
    let isWanted = true;
    // If the worker is gone, the table reports it: its rows fail to load.
    show(cursor, () => isWanted).catch(() => undefined);
    return () => {
      isWanted = false;
    };
  }, [cursor, listing, show, table]);

  /** Puts the cursor on an event and its row in the middle. */
  const goTo = useCallback(
    (event: number) => {
      if (view.getState().view.cursor !== event) view.commit({ cursor: event });
      // The cursor may already be there while the table is scrolled elsewhere.
      else void show(event, () => true).catch(() => undefined);
    },
    [view, show],
  );
  return { goTo, isHere, isMissing };
}
