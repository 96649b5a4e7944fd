import { useCallback, useMemo } from 'react';
import type { EventRowIndex } from '../../core/lists/event-list.ts';
import type { EventRow } from '../../core/lists/event-list-types.ts';
import type { EventIndex } from '../../core/snapshot/tables.ts';
import type { EventChoice, EventListAnswer } from '../../engine/handlers/event-list.ts';
import { useStores } from '../../state/stores.ts';
import { useAsk, useComposedQuery } from '../shared/use-query.ts';
import type { RowSource } from '../table/row-pages.ts';

/** A list of events that is ready to be read. */
export interface EventListing extends EventListAnswer {
  readonly choice: EventChoice;
  /** The cursor's event as it was asked for with the list, and where that stands in it. */
  readonly cursor: (EventRowIndex & { readonly event: EventIndex }) | undefined;
  readonly source: RowSource<EventRow>;
}

export interface EventListState {
  /** The newest that is ready; undefined before the first. */
  readonly listing: EventListing | undefined;
  /** False while another is made. */
  readonly isCurrent: boolean;
  readonly failure: string | undefined;
}

/** The events of a choice; the list before stays until the next one is ready. */
export function useEventList(choice: EventChoice): EventListState {
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

/** The list, together with where the cursor is in it: the table reads the rows around it at once. */
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

/** The cursor's row, or the one after where it would be; the first without a cursor. */
function firstShown({ length, cursor }: Pick<EventListing, 'length' | 'cursor'>): number {
  return Math.max(0, Math.min(cursor?.row ?? 0, length - 1));
}
