import { useCallback, useState } from 'react';
import type { EventIndex } from '../../../format/snapshot/tables.ts';
import { useStores, useView } from '../../../state/stores.ts';
import type { EventChoice } from '../../../worker/protocol.ts';
import { useAsk, useComposedQuery, useQuery } from '../../shared/use-query.ts';

export type EventListState = ReturnType<typeof useEventList>;
export type EventListing = NonNullable<EventListState['value']>;

/** The events of a choice. The previous list stays until the next one is ready. */
export function useEventList(choice: EventChoice) {
  const ask = useAsk();
  const { view } = useStores();
  const fetch = useCallback(
    async (asked: EventChoice, signal: AbortSignal) => {
      const { cursor } = view.getState().view;
      const [list, place] = await Promise.all([
        ask('eventList', { choice: asked }, { signal }),
        cursor !== undefined && ask('eventRowIndex', { choice: asked, event: cursor }, { signal }),
      ]);
      // The table then reads the rows around the cursor at once. If the cursor's event is not listed, the one after it.
      const start = Math.max(0, Math.min(place ? place.row : 0, list.length - 1));
      const load = (from: number, to: number, own: AbortSignal) =>
        ask('eventRows', { choice: asked, from, to }, { signal: own });
      return { ...list, choice: asked, source: { count: list.length, start, load } };
    },
    [ask, view],
  );
  return useComposedQuery(fetch, choice);
}

/** The cursor's row, which the table follows when the cursor moves elsewhere. */
export function useCursorRow(listing: EventListing | undefined) {
  const { view } = useStores();
  const cursor = useView((state) => state.cursor);
  const [asked, setAsked] = useState(0);
  const choice = listing?.choice;
  const request = choice && cursor !== undefined ? { choice, event: cursor } : undefined;
  // If the worker is gone, the table reports it: its rows fail to load.
  const { value, isCurrent, request: answered } = useQuery('eventRowIndex', request);
  const row = isCurrent && value && listing ? Math.min(value.row, listing.length - 1) : -1;
  /** Puts the cursor on an event. If it is there already, the table may be scrolled elsewhere. */
  const goTo = useCallback(
    (event: EventIndex) => {
      if (view.getState().view.cursor !== event) view.commit({ cursor: event });
      setAsked((count) => count + 1);
    },
    [view],
  );
  return {
    goTo,
    // An answer about the previous list must not outlive it.
    isMissing: choice !== undefined && answered?.choice === choice && value?.isListed === false,
    shown: request && { of: JSON.stringify([request, asked]), row },
  };
}
