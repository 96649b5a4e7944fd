import { expect, it } from 'vitest';
import { parseAllocConf } from '../../../allocator/simulator/alloc-conf.ts';
import { compareRuns } from '../../../allocator/simulator/presets.ts';
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

/** What the worker answered for a real fragmented run: three of the four settings. */
function resultsOf(cards: Readonly<Record<string, CardFit>> = {}): WhatIfResults {
  const [context] = contextsOf(loadCapture('frag_gpt_varlen.pickle.gz'));
  if (context === undefined) throw new Error('no device');
  const { trace, replay, snapshot } = context;
  const input = whatIfInput(trace, replay, snapshot.settings);
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
  sortRows(rows, sort).map(({ settings }: SettingRow) => settings);

it('puts the least reserved first, and settings that were not run last', () => {
  expect(order()).toEqual([
    'expandable_segments:True',
    '',
    'max_split_size_mb:64',
    'never_run:True',
  ]);
});

it('sorts by card before memory, once both are known', () => {
  const cards = {
    '': { gib: 6, retries: 9, calls: 0 },
    'expandable_segments:True': { gib: 8, retries: 0, calls: 0 },
  };
  const rows = settingRows(resultsOf(cards), LIMIT, SETTINGS);
  expect(order(undefined, rows).indexOf('')).toBeLessThan(
    order(undefined, rows).indexOf('expandable_segments:True'),
  );
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
