import { useCallback, useMemo } from 'react';
import type { DeviceInfo, SessionInfo } from '../../core/device/types.ts';
import type { EventRowIndex } from '../../core/lists/event-list.ts';
import type { EventRow } from '../../core/lists/event-list-types.ts';
import type { EventIndex } from '../../core/snapshot/tables.ts';
import type { EventChoice, EventListAnswer } from '../../engine/handlers/event-list.ts';
import type { SessionApi } from '../../engine/protocol.ts';
import { useStores } from '../../state/stores.ts';
import { useServices } from '../shared/services.ts';
import { useQuery } from '../shared/use-query.ts';
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

interface Question {
  readonly deviceIndex: number;
  readonly choice: EventChoice;
}

/** Together with where the cursor is in it, so that the table reads the rows around it at once. */
async function askList(
  session: SessionApi,
  { deviceIndex, choice }: Question,
  cursor?: EventIndex,
) {
  const place = async (event: EventIndex) => ({
    event,
    ...(await session.eventRowIndex({ deviceIndex, choice, event })),
  });
  const [list, found] = await Promise.all([
    session.eventList({ deviceIndex, choice }),
    cursor === undefined ? undefined : place(cursor),
  ]);
  return { choice, ...list, cursor: found };
}

/** The events of a choice; the list before stays until the next one is ready. */
export function useEventList(
  info: SessionInfo,
  device: DeviceInfo,
  choice: EventChoice,
): EventListState {
  const { session } = useServices();
  const { view } = useStores();
  const ask = useCallback(
    (asked: SessionApi, question: Question) =>
      askList(asked, question, view.getState().view.cursor),
    [view],
  );
  const { value, isCurrent, failure } = useQuery(ask, { deviceIndex: device.index, choice }, info);
  const listing = useMemo<EventListing | undefined>(() => {
    if (value === undefined) return undefined;
    return {
      ...value,
      source: {
        count: value.length,
        start: firstShown(value),
        load: (from, to, signal) =>
          session.eventRows(
            { deviceIndex: device.index, choice: value.choice, from, to },
            { signal },
          ),
      },
    };
  }, [session, device.index, value]);
  return { listing, isCurrent, failure };
}

/** The cursor's row, or the one after where it would be; the first without a cursor. */
function firstShown({ length, cursor }: Pick<EventListing, 'length' | 'cursor'>): number {
  return Math.max(0, Math.min(cursor?.row ?? 0, length - 1));
}
