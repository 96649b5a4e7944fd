/** Queries of the events view: the events it lists, and the details of one. */

import { LruCache } from '../../base/collections.ts';
import {
  type EventFilter,
  type EventList,
  eventFacets,
  filterEvents,
} from '../../device/lists/event-list.ts';
import { EventReader } from '../../device/lists/event-reader.ts';
import { eventsCsv } from '../../device/lists/rows-text.ts';
import { eventsInWindow } from '../../device/model/events.ts';
import { matchStacks } from '../../device/search/match-search.ts';
import type { TimeAxis } from '../../draw/timeline/types.ts';
import type { EventIndex } from '../../format/snapshot/tables.ts';
import type { OpenDevice } from '../open-device.ts';
import { type AtEvent, queryHandlers } from '../queries.ts';
import type { HandlerCall } from '../rpc.ts';
import { fileOf } from './files.ts';

/** What the view lists. Plain data: the same JSON means the same list. */
export interface EventChoice extends Omit<EventFilter, 'window'> {
  readonly search: string;
  /** The cursor, for searches by state or age; undefined means the end. */
  readonly at: EventIndex | undefined;
  readonly window:
    | { readonly axis: TimeAxis; readonly from: number; readonly to: number }
    | undefined;
}

export interface EventChoiceRequest {
  readonly choice: EventChoice;
}

export const eventListHandlers = queryHandlers({
  eventFacets: ({ context }) => eventFacets(context),
  async eventList(device, { choice }: EventChoiceRequest) {
    const { length, actions } = await listOf(device, choice);
    const { problem } = await device.matches(choice.search, choice.at);
    return { length, actions, problem };
  },
  /** Rows from <= i < to. */
  async eventRows(
    device,
    { choice, from, to }: EventChoiceRequest & { readonly from: number; readonly to: number },
  ) {
    const list = await listOf(device, choice);
    return device.once(eventReader).rows(list.slice(from, to));
  },
  /** The row of an event, or of the next one in the list. */
  async eventRowIndex(device, { choice, event }: EventChoiceRequest & AtEvent) {
    return (await listOf(device, choice)).rowIndex(event);
  },
  /** Undefined for an event that the trace does not have. */
  eventDetails(device, { event }: AtEvent) {
    const isThere = event >= 0 && event < device.context.trace.events.length;
    return isThere ? device.once(eventReader).details(event) : undefined;
  },
  /** The listed events as a file. Reports the rows written so far. */
  async eventsCsv(device, { choice }: EventChoiceRequest, call: HandlerCall<number>) {
    const list = await listOf(device, choice);
    const pieces = eventsCsv(device.once(eventReader), list, call.onProgress);
    return fileOf(pieces, 'text/csv', { clock: device.clock, signal: call.signal });
  },
});

const eventReader = ({ context }: OpenDevice) => new EventReader(context);
/** While the next list is made, the table may still read the previous one: 4 bytes an event each. */
const CACHED_LISTS = 2;
const eventLists = () => new LruCache<EventList>(CACHED_LISTS);

async function listOf(device: OpenDevice, choice: EventChoice): Promise<EventList> {
  const { search, at, window, ...filter } = choice;
  const { mask } = await device.matches(search, at);
  const { context } = device;
  return device
    .once(eventLists)
    .getOrMake(JSON.stringify(choice), () =>
      filterEvents(
        context,
        { ...filter, window: window && eventsInWindow(context.trace.events, window.axis, window) },
        { allocations: mask, stacks: matchStacks(context, search).mask },
        device.once(eventReader).segments,
      ),
    );
}
