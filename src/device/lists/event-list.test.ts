import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { allocatorProgram } from '../../testing/arbitrary-program.ts';
import { loadCapture } from '../../testing/captures.ts';
import { contextOf, contextsOf, traceOf } from '../../testing/contexts.ts';
import { snapshotFromText } from '../../testing/snapshot-from-text.ts';
import type { DeviceModel } from '../model/device-model.ts';
import { eventsInWindow } from '../model/events.ts';
import {
  type EventFilter,
  type EventList,
  eventFacets,
  filterEvents,
  type SearchMasks,
} from './event-list.ts';
import { EventReader } from './event-reader.ts';

const NO_FILTER: EventFilter = {
  actions: undefined,
  minBytes: undefined,
  maxBytes: undefined,
  stream: undefined,
  pool: undefined,
  window: undefined,
  allocation: undefined,
};
const NO_SEARCH: SearchMasks = { allocations: undefined, stacks: undefined };

function list(
  context: DeviceModel,
  filter: Partial<EventFilter>,
  search: SearchMasks = NO_SEARCH,
): EventList {
  const { segments } = new EventReader(context);
  return filterEvents(context, { ...NO_FILTER, ...filter }, search, segments);
}

const eventsOf = (events: EventList): readonly number[] => events.slice(0, events.length);

/** The conditions applied to the rows themselves, which the filter must agree with. */
function naive(context: DeviceModel, filter: Partial<EventFilter>): readonly number[] {
  const { length } = context.trace.events;
  const wanted = { ...NO_FILTER, ...filter };
  const rows = new EventReader(context).rows(Array.from({ length }, (_, event) => event));
  const streams = eventFacets(context).streams;
  return rows
    .filter(
      (row) =>
        (wanted.actions?.includes(row.action) ?? true) &&
        row.sizeBytes >= (wanted.minBytes ?? 0) &&
        row.sizeBytes <= (wanted.maxBytes ?? Number.POSITIVE_INFINITY) &&
        (wanted.stream === undefined || row.stream === streams[wanted.stream]) &&
        (wanted.pool === undefined || [row.pool, row.privatePool].includes(wanted.pool)) &&
        (wanted.window === undefined ||
          (row.event >= wanted.window.from && row.event < wanted.window.to)) &&
        (wanted.allocation === undefined ||
          context.replay.allocationOfEvent[row.event] === wanted.allocation),
    )
    .map(({ event }) => event);
}

const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });

const anyFilter: fc.Arbitrary<EventFilter> = fc.record({
  actions: maybe(
    fc.subarray(['alloc', 'free_requested', 'free_completed', 'segment_alloc', 'oom', 'nonsense']),
  ),
  minBytes: maybe(fc.constantFrom(0, 513, 2 ** 20, 2 ** 24)),
  maxBytes: maybe(fc.constantFrom(0, 512, 2 ** 20, 2 ** 24)),
  stream: maybe(fc.nat(2)),
  pool: maybe(fc.constantFrom('small', 'large', '(1, 0)')),
  window: maybe(fc.record({ from: fc.integer({ min: -5, max: 90 }), to: fc.nat(120) })),
  allocation: maybe(fc.nat(20)),
});

describe('a filter', () => {
  it('lists exactly the events whose rows say so', () => {
    fc.assert(
      fc.property(allocatorProgram([]), anyFilter, (program, filter) => {
        const [context] = contextsOf(snapshotFromText(program.join('\n')).snapshot);
        expect(eventsOf(list(context, filter))).toEqual(naive(context, filter));
      }),
      { numRuns: 60 },
    );
  });

  it('agrees with the rows on a capture with private pools', () => {
    const [context] = contextsOf(loadCapture('cuda_graph_pool.pickle.gz'));
    const [pool] = eventFacets(context).pools.slice(2);
    expect(pool).toMatch(/^\(\d+, \d+\)$/);
    const found = eventsOf(list(context, { pool }));
    expect(found.length).toBeGreaterThan(0);
    expect(found).toEqual(naive(context, { pool }));
  });

  it('counts for each action what choosing it would list', () => {
    const [context] = contextsOf(loadCapture('oom_fragmented.pickle.gz'));
    const filter = { minBytes: 2 ** 20, window: { from: 100, to: 5000 } };
    for (const { action, count } of list(context, { ...filter, actions: ['oom'] }).actions) {
      expect(list(context, { ...filter, actions: [action] })).toHaveLength(count);
    }
  });

  it('keeps actions of which the other filters leave nothing', () => {
    const [context] = contextsOf(loadCapture('oom_fragmented.pickle.gz'));
    const { actions } = list(context, { window: { from: 0, to: 10 } });
    expect(actions).toContainEqual({ action: 'oom', count: 0 });
    expect(actions.map(({ action }) => action)).not.toContain('segment_unmap');
  });

  it('accepts unknown actions by their word', () => {
    const context = contextOf(
      traceOf(
        { action: 'teleport', addr: 0, size: 1 },
        { action: 'alloc', addr: 4096, size: 512 },
        { action: 'beam', addr: 0, size: 2 },
        { action: 'teleport', addr: 0, size: 3 },
      ),
    );
    const found = list(context, { actions: ['teleport'] });
    expect(eventsOf(found)).toEqual([0, 3]);
    expect(found.actions).toEqual([
      { action: 'alloc', count: 1 },
      { action: 'beam', count: 1 },
      { action: 'teleport', count: 2 },
    ]);
  });

  it('applies a search by allocation, else by stack', () => {
    const { snapshot, eventOf } = snapshotFromText(`
      +A 512 @a.py:1 a
      +B 512 @b.py:1 b
      -A
      oom 4Gi free=1
    `);
    const [context] = contextsOf(snapshot);
    const stacks = new Uint8Array(snapshot.stacks.length + 1);
    stacks[context.trace.events.stack[eventOf('oom')] + 1] = 1;
    const found = eventsOf(list(context, {}, { allocations: Uint8Array.of(1, 0), stacks }));
    expect(found).toEqual([eventOf('+A'), eventOf('-A'), eventOf('-A') + 1, eventOf('oom')]);
  });

  it('lists nothing for a trace without events', () => {
    const [context] = contextsOf(snapshotFromText('set max_split_size=-1').snapshot);
    expect(list(context, {})).toMatchObject({ length: 0, actions: [] });
  });
});

describe('a place in a list', () => {
  it('is found with and without gaps', () => {
    const [context] = contextsOf(loadCapture('oom_fragmented.pickle.gz'));
    for (const found of [
      list(context, { window: { from: 50, to: 90 } }),
      list(context, { actions: ['oom'] }),
    ]) {
      for (let row = 0; row < found.length; row++) {
        expect(found.rowIndex(found.slice(row, row + 1)[0])).toEqual({ row, isListed: true });
      }
      expect(found.rowIndex(context.trace.events.length)).toEqual({
        row: found.length,
        isListed: false,
      });
    }
    const ooms = list(context, { actions: ['oom'] });
    expect(ooms.rowIndex(0)).toEqual({ row: 0, isListed: false });
    expect(list(context, { window: { from: 50, to: 90 } }).rowIndex(3)).toEqual({
      row: 0,
      isListed: false,
    });
  });
});

describe('a window', () => {
  const [{ trace }] = contextsOf(snapshotFromText('+A 512\n-A\n+B 512\n-B').snapshot);

  it('contains the events whose state it shows', () => {
    expect(eventsInWindow(trace.events, 'event', { from: 1.5, to: 3.2 })).toEqual({
      from: 1,
      to: 4,
    });
    expect(eventsInWindow(trace.events, 'event', { from: -7, to: 3 })).toEqual({ from: 0, to: 3 });
  });

  it('is in time if the axis is time', () => {
    expect(eventsInWindow(trace.events, 'time', { from: 10, to: 30 })).toEqual({ from: 1, to: 4 });
    const without = { ...trace.events, timeUs: undefined };
    expect(eventsInWindow(without, 'time', { from: 10, to: 30 })).toEqual({
      from: 0,
      to: trace.events.length,
    });
  });
});
