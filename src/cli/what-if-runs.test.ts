import { expect, test } from 'vitest';
import { type AllocConf, parseAllocConf } from '../allocator/simulator/alloc-conf.ts';
import { PRESETS } from '../allocator/simulator/presets.ts';
import { terminalWriter } from '../output/report/text.ts';
import { buildWhatIf, whatIfText } from '../output/report/whatif.ts';
import { contextOf } from '../testing/contexts.ts';
import { runWhatIf } from './commands/whatif.ts';

const MIB = 2 ** 20;

const PRESET_CONFS = PRESETS.map((text): AllocConf => {
  const conf = parseAllocConf(text);
  if (!conf.ok) throw new Error(conf.message);
  return conf;
});

/** Small allocations, each in its own segment. */
function manyPlaces(count: number, place: (i: number) => object) {
  const trace = Array.from({ length: count }, (_, i) => {
    const common = { addr: (i + 1) * 2 * MIB, stream: 0, frames: [], ...place(i) };
    return [
      { action: 'segment_alloc', size: 2 * MIB, ...common },
      { action: 'alloc', size: 512, ...common },
    ];
  });
  return contextOf({ segments: [], device_traces: [trace.flat()] });
}

function cpuSeconds(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user } = process.cpuUsage(before);
  return user / 1e6;
}

test.each([
  ['streams', (i: number) => ({ stream: i * 16 })],
  ['private pools', (i: number) => ({ pool_id: [i + 1, 0] })],
] as const)('twenty thousand %s take no longer than twenty thousand allocations', (_, place) => {
  const context = manyPlaces(20_000, place);
  const seconds = cpuSeconds(() => {
    const runs = runWhatIf(context, { confs: PRESET_CONFS, limit: 'none', budgetMs: Infinity });
    expect(runs.notSimulated).toEqual([]);
    // Each stream and pool has its own segment, whatever the settings.
    for (const { result } of runs.cases) expect(result.peakReservedBytes).toBe(20_000 * 2 * MIB);
  });
  expect(seconds).toBeLessThan(8);
});

test('settings that were not reached are named, in text and in JSON', () => {
  const context = manyPlaces(100, () => ({}));
  const [first, second] = PRESET_CONFS;
  if (first === undefined || second === undefined) throw new Error('no presets');
  const runs = runWhatIf(context, { confs: [first, second], limit: 'none', budgetMs: -1 });
  expect(runs.cases).toEqual([]);
  const [report] = buildWhatIf([runs]).devices;
  expect(report).toMatchObject({ cases: [], notSimulated: ['(default)', second.text] });
  const text = whatIfText(
    'a',
    [runs],
    undefined,
    terminalWriter({ columns: 80, color: false }),
  ).join(' ');
  expect(text).toContain('Not simulated, because the');
  expect(text).toContain(second.text);
});
