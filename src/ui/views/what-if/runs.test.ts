import { expect, it } from 'vitest';
import { parseAllocConf } from '../../../allocator/simulator/alloc-conf.ts';
import { compareRuns, recommended } from '../../../allocator/simulator/presets.ts';
import { type RecordedRun, recordedRun } from '../../../allocator/simulator/recorded-run.ts';
import type { CardFit } from '../../../allocator/simulator/what-if.ts';
import { simulate, whatIfInput } from '../../../allocator/simulator/what-if.ts';
import type { Sort } from '../../../state/view-store.ts';
import { loadCapture } from '../../../testing/captures.ts';
import { contextsOf } from '../../../testing/contexts.ts';
import {
  missingRuns,
  NO_RESULTS,
  type SettingRow,
  settingRows,
  type WhatIfResults,
  withProgress,
} from '../../panels/what-if/what-if-runs.ts';
import { sortRows } from './settings-table.tsx';

const LIMIT = 16 * 2 ** 30;
const SETTINGS = ['', 'expandable_segments:True', 'max_split_size_mb:64', 'never_run:True'];

const [{ trace, replay, snapshot }] = contextsOf(loadCapture('frag_gpt_varlen.pickle.gz'));
const input = whatIfInput(trace, replay, snapshot.settings);
const recorded: RecordedRun = recordedRun(input, 1);

/** What the worker answered for a real fragmented run: three of the four settings. */
function resultsOf(cards: Readonly<Record<string, CardFit>> = {}): WhatIfResults {
  let known = NO_RESULTS;
  for (const text of SETTINGS.slice(0, 3)) {
    const conf = parseAllocConf(text);
    if (!conf.ok) throw new Error(conf.message);
    const result = simulate(input, conf, { limitBytes: LIMIT, parts: 1 });
    known = withProgress(known, LIMIT, { kind: 'case', result, lowestBytes: undefined });
  }
  for (const [settings, card] of Object.entries(cards)) {
    known = withProgress(known, LIMIT, { kind: 'card', settings, card });
  }
  return known;
}

const known = resultsOf();
const order = (sort?: Sort, rows = settingRows(known, LIMIT, SETTINGS)) =>
  sortRows(recorded, rows, sort).map(({ settings }: SettingRow) => settings);

it('puts the least reserved first, and settings that were not run last', () => {
  expect(order()).toEqual([
    'expandable_segments:True',
    '',
    'max_split_size_mb:64',
    'never_run:True',
  ]);
});

it('sorts by card before memory behind the recommended one, once both are known', () => {
  const cards = {
    '': { gib: 8, retries: 0, calls: 0 },
    'max_split_size_mb:64': { gib: 6, retries: 9, calls: 0 },
  };
  const rows = settingRows(resultsOf(cards), LIMIT, SETTINGS);
  expect(order(undefined, rows).slice(0, 3)).toEqual([
    'expandable_segments:True',
    'max_split_size_mb:64',
    '',
  ]);
});

it('sorts by any column, up and down, with settings that were not run last', () => {
  const by = (descending: boolean) => order({ key: 'reserved', descending });
  expect(by(false)[0]).toBe('expandable_segments:True');
  expect(by(true).indexOf('expandable_segments:True')).toBe(2);
  expect(by(false).at(-1)).toBe('never_run:True');
  expect(by(true).at(-1)).toBe('never_run:True');
  expect(order({ key: 'settings', descending: false })[0]).toBe('');
});

it('puts a run that ends early behind those that go on, however little it reserved', () => {
  const oom = { event: 168, requestedBytes: 1, missingBytes: 1, isRecorded: false };
  const run = { events: 180, peakReservedBytes: 8, retries: 0, ooms: [] };
  const early = { ...run, events: 169, peakReservedBytes: 6, ooms: [oom] };
  const late = { ...run, peakReservedBytes: 7, ooms: [{ ...oom, event: 179, isRecorded: true }] };
  expect([early, late, run].sort(compareRuns)).toEqual([run, late, early]);
});

const GIB = 2 ** 30;
const tried = (settings: string, gib: number, fails = false) => ({
  settings,
  limitBytes: 11 * GIB,
  events: 100,
  peakReservedBytes: gib * GIB,
  retries: 0,
  ooms: fails ? [{ event: 99, requestedBytes: 1, missingBytes: 1, isRecorded: true }] : [],
});
const COMBINED = 'expandable_segments:True,roundup_power2_divisions:[256:1,>:8]';

it('recommends the simplest setting that serves what failed, and a combination only if it alone does', () => {
  const limit = { atLeastBytes: 11 * GIB, belowBytes: 12 * GIB, likelyBytes: 11 * GIB };
  const failed = { settings: '', ooms: 1, retries: 1, peakReservedBytes: 11 * GIB, limit };
  const least = tried(COMBINED, 10);
  const others = [tried('', 5, true), tried('max_split_size_mb:64', 10.5)];
  const simple = tried('expandable_segments:True', 10.9);
  expect(recommended(failed, [...others, least, simple])).toBe(simple);
  const fails = tried('expandable_segments:True', 10.9, true);
  expect(recommended(failed, [tried('', 5, true), least, fails])).toBe(least);
  expect(recommended(failed, [tried('', 5, true), fails])).toBeUndefined();
  const onLargerCard = [tried('', 13), simple].map((run) => ({ ...run, limitBytes: 23 * GIB }));
  expect(recommended(failed, onLargerCard)?.settings).toBe('');
});

it('recommends another setting to a run that went on only if it saves notably', () => {
  const fine = { settings: '', ooms: 0, retries: 0, peakReservedBytes: 10 * GIB, limit: undefined };
  const [same, simple, least] = [
    tried('', 10),
    tried('expandable_segments:True', 9.8),
    tried(COMBINED, 9.7),
  ] as const;
  expect(recommended(fine, [least, simple, same])).toBe(same);
  expect(
    recommended(fine, [tried(COMBINED, 6.8), tried('expandable_segments:True', 7), same])?.settings,
  ).toBe('expandable_segments:True');
  expect(
    recommended(fine, [tried(COMBINED, 5), tried('expandable_segments:True', 7), same])?.settings,
  ).toBe(COMBINED);
});

it('runs only what is missing under that limit', () => {
  const all = resultsOf({
    '': { gib: 8, retries: 9, calls: 0 },
    'expandable_segments:True': { gib: undefined, retries: 0, calls: 0 },
  });
  const cards = ['max_split_size_mb:64', 'never_run:True'];
  const missing = (limit: number | 'none') => missingRuns(settingRows(all, limit, SETTINGS));
  expect(missing(LIMIT)).toEqual({ settings: ['never_run:True'], cards });
  expect(missing('none')).toEqual({ settings: SETTINGS, cards });
});
