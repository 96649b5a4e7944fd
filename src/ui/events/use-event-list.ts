import { useMemo } from 'react';
import type { EventRow } from '../../core/query/event-rows/types.ts';
import type { DeviceInfo, SessionInfo } from '../../core/query/types.ts';
import type { EventChoice, EventListAnswer } from '../../engine/answers/events.ts';
import type { SessionApi } from '../../engine/protocol.ts';
import { useServices } from '../app/services.ts';
import { useAnswer } from '../app/use-answer.ts';
import type { RowSource } from '../table/row-pages.ts';

/** A list of events that is ready to be read. */
export interface EventListing extends EventListAnswer {
  readonly choice: EventChoice;
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
  readonly device: number;
  readonly choice: EventChoice;
}

const askList = async (session: SessionApi, { device, choice }: Question) => ({
  choice,
  ...(await session.eventList({ device, choice })),
});

/** The events of a choice; the list before stays until the next one is ready. */
export function useEventList(
  info: SessionInfo,
  device: DeviceInfo,
  choice: EventChoice,
): EventListState {
  const { session } = useServices();
  const { value, isCurrent, failure } = useAnswer(askList, { device: device.index, choice }, info);
  const listing = useMemo<EventListing | undefined>(() => {
    if (value === undefined) return undefined;
    return {
      ...value,
      source: {
        count: value.length,
        load: (from, to, signal) =>
          session.eventRows({ device: device.index, choice: value.choice, from, to }, { signal }),
      },
    };
  }, [session, device.index, value]);
  return { listing, isCurrent, failure };
}
