import { type RefObject, useCallback, useEffect, useRef, useState } from 'react';
import { useStores, useView } from '../../state/stores.ts';
import { useAsk } from '../shared/use-query.ts';
import type { TableHandle } from '../table/table-types.ts';
import type { EventListState } from './use-event-list.ts';

export interface FollowCursor {
  /** Puts the cursor on an event and its row in the middle. */
  readonly goTo: (event: number) => void;
  /** The cursor is about to be put on an event whose row is in sight: nothing scrolls. */
  readonly isHere: (event: number) => void;
  /** The cursor's event is not in the list. */
  readonly isMissing: boolean;
}

/** Keeps the row of the cursor in sight when it is moved elsewhere, and when the list changes. */
export function useFollowCursor(
  { listing }: EventListState,
  table: RefObject<TableHandle | null>,
): FollowCursor {
  const { view } = useStores();
  const ask = useAsk();
  const cursor = useView((state) => state.cursor);
  const [isMissing, setIsMissing] = useState(false);
  /** What brought the table to where it is: the same event of the same list moves it no more. */
  const here = useRef<{ event: number | undefined; listing: object | undefined }>(undefined);
  const current = useRef(listing);
  current.current = listing;

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
    // A worker that is gone is told of by the table, whose rows then fail to come.
    show(cursor, () => isWanted).catch(() => undefined);
    return () => {
      isWanted = false;
    };
  }, [cursor, listing, show, table]);

  const goTo = useCallback(
    (event: number) => {
      if (view.getState().view.cursor !== event) view.commit({ cursor: event });
      // The cursor may be there already, and the table scrolled away from it.
      else void show(event, () => true).catch(() => undefined);
    },
    [view, show],
  );
  return { goTo, isHere, isMissing };
}
