import { describe, expect, it } from 'vitest';
import { DEFAULT_VIEW } from '../../state/view-store.ts';
import { contextsOf } from '../../testing/contexts.ts';
import { nodeClock } from '../../testing/node-clock.ts';
import { snapshotFromText } from '../../testing/snapshot-from-text.ts';
import { ALL_EVENTS, eventChoice } from '../../ui/views/events/event-filter.tsx';
import { OpenDevice } from '../open-device.ts';
import { type EventChoice, eventListHandlers } from './event-list.ts';

const { snapshot, eventOf } = snapshotFromText(`
  +A 512 @train.py:10 forward
  +B 1024 @train.py:20 backward
  -A
  oom 4Gi free=1 @train.py:20 backward
`);
const device = new OpenDevice(contextsOf(snapshot)[0], nodeClock);
const call = { signal: new AbortController().signal, onProgress: () => undefined };
const ALL = eventChoice(ALL_EVENTS, DEFAULT_VIEW, -1);

const listed = (choice: EventChoice) =>
  eventListHandlers.eventList(device, { deviceIndex: 0, choice }, call);
const rowsOf = async (choice: EventChoice) => {
  const rows = await eventListHandlers.eventRows(
    device,
    { deviceIndex: 0, choice, from: 0, to: 99 },
    call,
  );
  return rows.map(({ event }) => event);
};

describe('events for the page', () => {
  it('are those of the allocations that a search finds; events without one match by stack', async () => {
    const choice = { ...ALL, search: 'forward' };
    // A's segment was created by the same line.
    const found = [eventOf('+A') - 1, eventOf('+A'), eventOf('-A'), eventOf('-A') + 1];
    expect(await rowsOf(choice)).toEqual(found);
    expect(await listed(choice)).toMatchObject({ length: 4, problem: undefined });
  });

  it('are all shown if the search has a problem, which is reported', async () => {
    const { length, problem } = await listed({ ...ALL, search: 'size>lots' });
    expect(length).toBe(snapshot.devices[0]?.events.length);
    expect(problem?.message).toBeTruthy();
  });

  it('are found in their list, even in the previous list', async () => {
    const oom = { ...ALL, actions: ['oom'] };
    await listed(ALL);
    await listed(oom);
    const place = (choice: EventChoice) =>
      eventListHandlers.eventRowIndex(
        device,
        { deviceIndex: 0, choice, event: eventOf('oom') },
        call,
      );
    expect(await place(oom)).toEqual({ row: 0, isListed: true });
    expect(await place(ALL)).toEqual({ row: eventOf('oom'), isListed: true });
    expect(await place({ ...ALL, search: 'forward' })).toMatchObject({ isListed: false });
  });

  it('are cut to a window in time', async () => {
    const window = { axis: 'time', from: 0, to: 15 } as const;
    expect(await rowsOf({ ...ALL, window })).toEqual([0, 1]);
  });

  it('have no details outside the trace', async () => {
    const details = (event: number) =>
      eventListHandlers.eventDetails(device, { deviceIndex: 0, event }, call);
    expect(await details(-1)).toBeUndefined();
    expect(await details(999)).toBeUndefined();
    expect(await details(eventOf('oom'))).toMatchObject({ action: 'oom' });
  });
});
