import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { captureNames, isRepeated, loadCapture } from '../../testing/captures.ts';
import { contextsOf } from '../../testing/contexts.ts';
import { snapshotFromText } from '../../testing/snapshot-from-text.ts';
import { MEMORY_CLASS_ORDER, MEMORY_CLASSES } from '../classes/types.ts';
import { allocationDetails } from '../model/allocation-details.ts';
import { callSiteTable } from '../model/call-sites.ts';
import { matchAllocations } from '../search/match-search.ts';
import { searchTerm } from '../search/qualifier.ts';
import {
  type AllocationKey,
  type AllocationRow,
  allocationRow,
  orderAllocations,
} from './allocation-rows.ts';
import { type CallSiteKey, callSiteRow, orderCallSites } from './call-site-table.ts';
import { orderByKeys } from './order-by-keys.ts';
import { allocationsTsv, callSitesTsv } from './rows-text.ts';

test('keys are sorted as by a stable comparator, unknown values last', () => {
  const key = fc.oneof(
    fc.double(),
    fc.constantFrom(Number.NaN, 0, -0, Infinity, -Infinity, 512, 2 ** 53),
    fc.integer(),
  );
  fc.assert(
    fc.property(fc.array(key, { maxLength: 200 }), fc.boolean(), (list, isDescending) => {
      const places = list.map((_, place) => place);
      const known = places.filter((place) => !Number.isNaN(list[place]));
      const unknown = places.filter((place) => Number.isNaN(list[place]));
      const sign = isDescending ? -1 : 1;
      known.sort((a, b) => (list[a] < list[b] ? -sign : list[a] > list[b] ? sign : 0));
      const sorted = orderByKeys(Float64Array.from(list), isDescending);
      expect([...sorted]).toEqual([...known, ...unknown]);
    }),
  );
});

const END = { clock: 'events', at: undefined } as const;

describe('a drawn trace', () => {
  const drawn = snapshotFromText(`
    +seg 20Mi large @0x7e0000000000
    +A 3Mi @a.py:10 fa
    record
    +B 1000 @b.py:11 fb < main.py:3 main
    +C 3Mi stream=1 @a.py:9 fa
    -A?
    +D 2Mi @b.py:11 fb < main.py:3 main
    -A!
    -D
  `);
  const [context] = contextsOf(drawn.snapshot);
  const [A, B, C, D] = [0, 1, 2, 3];
  const sorted = (key: AllocationKey, isDescending = false, at?: number) => [
    ...orderAllocations(context, undefined, { ...END, key, isDescending, at }),
  ];

  test.each<[AllocationKey, number[]]>([
    ['size', [B, D, A, C]],
    ['start', [A, B, C, D]],
    ['end', [A, D, B, C]],
    ['state', [B, C, A, D]],
    ['stream', [A, B, D, C]],
    ['pool', [A, C, D, B]],
    ['site', [C, B, D, A]],
  ])('by %s', (key, order) => {
    expect(sorted(key)).toEqual(order);
  });

  test('by state at the cursor', () => {
    expect(sorted('state', false, drawn.eventOf('-A?'))).toEqual([B, C, A, D]);
    expect(sorted('state', true, drawn.eventOf('+B'))).toEqual([C, D, A, B]);
  });

  test('rows say how long allocations lived, as far as the trace shows', () => {
    const at = drawn.eventOf('-A?');
    const rows = [A, B, D].map((id) => allocationRow(context, id, at));
    const { length } = context.trace.events;
    expect(
      rows.map(({ state, lifeEvents, isLifeLonger }) => [state, lifeEvents, isLifeLonger]),
    ).toEqual([
      ['pending', drawn.eventOf('-A!'), true],
      ['live', length - drawn.eventOf('+B'), true],
      ['later', drawn.eventOf('-D') + 1 - drawn.eventOf('+D'), false],
    ]);
    expect(rows[1]).toMatchObject({ blockBytes: 1024, requestedBytes: 1000, wasteBytes: 24 });
    expect(rows[0].line.stackKind).toBe('before-recording');
    expect(rows[1].line.topFrame).toMatchObject({ name: 'fb', line: 11 });
    const text = allocationsTsv(rows).split('\n');
    expect(text).toHaveLength(5);
    expect(text[0]).toContain('allocation\tblock_bytes\trequested_bytes');
    expect(text[2].split('\t').slice(1, 4)).toEqual(['1024', '1000', '24']);
  });

  test('sites', () => {
    const table = callSiteTable(context, undefined);
    const order = orderCallSites(context, table, 'total', true);
    const rows = Array.from(order, (row) => callSiteRow(context, table, row));
    expect(
      rows.map(({ line, allocations, totalBytes }) => [
        line.topFrame?.name,
        allocations,
        totalBytes,
      ]),
    ).toEqual([
      [undefined, 1, 3 * 2 ** 20],
      ['fa', 1, 3 * 2 ** 20],
      ['fb', 2, 2 * 2 ** 20 + 1024],
    ]);
    expect(rows[2]).toMatchObject({ endCount: 1, endBytes: 1024, largest: D, preexisting: 0 });
    expect(rows[0]).toMatchObject({
      preexisting: 1,
      firstEvent: -1,
      line: { stackKind: 'before-recording' },
    });
    expect(callSitesTsv(rows).split('\n')[3]).toMatch(/^fb\tb\.py:11\t\t2\t/);
  });
});

test('without a trace no lifetime is known', () => {
  const [context] = contextsOf(loadCapture('no_history.pickle.gz'));
  const row = allocationRow(context, 0, undefined);
  expect(row).toMatchObject({ lifeEvents: Number.NaN, lifeUs: Number.NaN, state: 'live' });
  const cells = allocationsTsv([row]).split('\n')[1].split('\t');
  expect(cells.slice(4, 11)).toEqual(['', '', '', '', '', '', 'yes']);
});

const ALLOCATION_KEYS: Readonly<Record<AllocationKey, (row: AllocationRow) => number | string>> = {
  address: ({ label }) => Number(`0x${label.slice(1, label.indexOf('_'))}`),
  size: ({ blockBytes }) => blockBytes,
  requested: ({ requestedBytes }) => requestedBytes,
  waste: ({ wasteBytes }) => wasteBytes,
  lifetime: ({ lifeUs }) => lifeUs,
  cost: ({ lifeUs, blockBytes }) => lifeUs * blockBytes,
  start: ({ startEvent }) => startEvent,
  end: ({ endEvent }) => endEvent,
  state: ({ state }) => ['live', 'pending', 'freed', 'later'].indexOf(state),
  stream: ({ stream }) => stream,
  pool: ({ pool }) => `${pool.split(' ').slice(1).join(' ')} ${pool.startsWith('small')}`,
  class: ({ class: own }) => MEMORY_CLASS_ORDER.findIndex((of) => MEMORY_CLASSES[of].id === own),
  holder: ({ holder }) => holder ?? Number.NaN,
  site: ({ line }) => line.topFrame?.filename ?? Number.NaN,
};

describe.each(captureNames().filter((name) => !isRepeated(name)))('%s', (name) => {
  const contexts = contextsOf(loadCapture(name));

  test('every column is in order, unknown values last', () => {
    for (const context of contexts) {
      for (const [key, value] of Object.entries(ALLOCATION_KEYS)) {
        const order = orderAllocations(context, undefined, {
          key: key as AllocationKey,
          isDescending: false,
          clock: 'us',
          at: undefined,
        });
        expect(order.length).toBe(context.replay.allocations.length);
        const first = [...order.subarray(0, 500)];
        const values = first.map((id) => value(allocationRow(context, id, undefined)));
        const known = values.filter((each) => !Number.isNaN(each));
        expect(values.slice(0, known.length)).toEqual(known);
        expect(known.every((each, i) => i === 0 || known[i - 1] <= each)).toBe(true);
      }
    }
  });

  test('rows and sites agree with the details', () => {
    for (const context of contexts) {
      const { allocations } = context.replay;
      const table = callSiteTable(context, undefined);
      const sum = (column: Float64Array) => column.reduce((a, b) => a + b, 0);
      expect(sum(table.allocations)).toBe(allocations.length);
      expect(sum(table.peakBytes)).toBe(context.replay.peaks.activeBytes.bytes);
      expect(sum(table.endBytes)).toBe(context.replay.end.allocatedBytes);
      const step = Math.ceil(table.length / 8);
      for (let row = 0; row < table.length; row += step) {
        const site = callSiteRow(context, table, row);
        const details = allocationDetails(context, site.largest);
        expect(site.label).toBe(details.label);
        expect(site.line.topFrame).toEqual(details.topUserFrame);
        if (details.allocStack.kind !== 'recorded')
          expect(site.line.stackKind).toBe(details.allocStack.kind);
        expect(details.callSite).toEqual({
          allocations: site.allocations,
          totalBytes: site.totalBytes,
          liveAtEnd: site.endCount,
          liveAtEndBytes: site.endBytes,
        });
        const { count, peakBytes } = matchAllocations(
          context,
          searchTerm('site', site.label),
          undefined,
        );
        expect([count, peakBytes]).toEqual([site.allocations, site.peakBytes]);
      }
      const keys: CallSiteKey[] = [
        'site',
        'count',
        'peak',
        'live',
        'total',
        'largest',
        'first',
        'last',
      ];
      for (const key of keys) {
        const order = [...orderCallSites(context, table, key, true)];
        expect(order.sort((a, b) => a - b)).toEqual(order.map((_, i) => i));
      }
    }
  });
});
