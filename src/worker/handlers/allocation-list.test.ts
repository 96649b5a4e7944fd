import { describe, expect, test } from 'vitest';
import type { AllocationRow } from '../../device/lists/allocation-rows.ts';
import type { CallSiteRow } from '../../device/lists/call-site-table.ts';
import { loadCapture } from '../../testing/captures.ts';
import { contextsOf } from '../../testing/contexts.ts';
import { nodeClock } from '../../testing/node-clock.ts';
import { OpenDevice } from '../open-device.ts';
import { allocationListHandlers as lists, type PageRequest } from './allocation-list.ts';
import { deviceHandlers } from './device.ts';

const [context] = contextsOf(loadCapture('train_gpt_small.pickle.gz'));
const device = new OpenDevice(context, nodeClock);
const call = { signal: new AbortController().signal, onProgress: () => undefined };
const order = { of: 'allocations', key: 'size', isDescending: true, clock: 'events' } as const;
const allocationsOf = async (asked: PageRequest) =>
  (await lists.listRows(device, { deviceIndex: 0, ...asked }, call)) as AllocationRow[];
const request = { deviceIndex: 0, search: 'forward size>=1MiB', at: undefined, ...order };

describe('the list of a search', () => {
  test('is paged without gaps, in its order', async () => {
    const count = await lists.listCount(device, request, call);
    const { count: found } = await deviceHandlers.searchSummary(device, request, call);
    expect(count).toBe(found);
    const pages = await Promise.all(
      [0, 100, 200].map((from) => allocationsOf({ ...request, from, to: from + 100 })),
    );
    const rows = pages.flat();
    const sizes = rows.map(({ blockBytes }) => blockBytes);
    expect(sizes).toEqual(sizes.toSorted((a, b) => b - a));
    expect(new Set(rows.map(({ label }) => label)).size).toBe(Math.min(count, 300));
    const { allocation } = rows[150];
    expect(await lists.listPlace(device, { ...request, allocation }, call)).toBe(150);
    expect(await lists.listPlace(device, { ...request, allocation: -1 }, call)).toBe(-1);
  });

  test('a page beyond the end is empty, and text has one line per row', async () => {
    const count = await lists.listCount(device, request, call);
    const beyond = { ...request, from: count, to: count + 10 };
    expect(await allocationsOf(beyond)).toEqual([]);
    const text = await lists.listTsv(device, { ...request, from: 0, to: 5 }, call);
    expect(text.trimEnd().split('\n')).toHaveLength(6);
  });

  test('another cursor changes the states, and searches for them', async () => {
    const live = { ...request, search: 'state:live' };
    const peak = context.replay.peaks.activeBytes.event;
    const atEnd = await lists.listCount(device, live, call);
    const atPeak = await lists.listCount(device, { ...live, at: peak }, call);
    expect(atPeak).not.toBe(atEnd);
    const page = { ...request, at: peak, from: 0, to: 200 };
    const states = (await allocationsOf(page)).map(({ state }) => state);
    expect(new Set(states)).toContain('later');
    const summary = await deviceHandlers.searchSummary(device, { ...live, at: peak }, call);
    expect(summary.cursorBytes).toBe(summary.peakBytes);
    expect(summary.cursorBytes).toBe(context.replay.peaks.activeBytes.bytes);
  });

  test('sites sum up to the search', async () => {
    const sites = { ...request, of: 'sites', key: 'peak' } as const;
    const count = await lists.listCount(device, sites, call);
    const rows = (await lists.listRows(
      device,
      { ...sites, from: 0, to: count },
      call,
    )) as CallSiteRow[];
    const summary = await deviceHandlers.searchSummary(device, request, call);
    const sum = (of: (row: (typeof rows)[number]) => number) =>
      rows.reduce((total, row) => total + of(row), 0);
    expect(sum(({ allocations }) => allocations)).toBe(summary.count);
    expect(sum(({ totalBytes }) => totalBytes)).toBe(summary.blockBytes);
    expect(sum(({ peakBytes }) => peakBytes)).toBe(summary.peakBytes);
    expect(sum(({ endBytes }) => endBytes)).toBe(summary.endBytes);
    const { largest: allocation } = rows[2];
    expect(await lists.listPlace(device, { ...sites, allocation }, call)).toBe(2);
  });
});

test('a search with a problem filters nothing, and says so', async () => {
  const summary = await deviceHandlers.searchSummary(device, { ...request, search: 'size>' }, call);
  expect(summary).toMatchObject({ isFiltering: false, problem: { at: 0, isUnfinished: true } });
  expect((await device.matches('size>', undefined)).mask).toBeUndefined();
});
