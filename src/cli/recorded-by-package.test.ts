/** Files that `vramscope.record` of the Python package wrote on GPUs: fixtures/capture/record_runs.py. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import type { DeviceStats, StatsReport } from '../output/report/stats.ts';
import { cli } from '../testing/cli-run.ts';
import { unpickle } from '../testing/unpickle.ts';

async function deviceOf(name: string): Promise<DeviceStats> {
  const { exitCode, out } = await cli(['stats', `fixtures/record/${name}.pickle.gz`, '--json']);
  expect(exitCode).toBe(0);
  const { devices }: StatsReport = JSON.parse(out);
  const [used, ...others] = devices.filter(({ events }) => events > 0);
  expect(others).toEqual([]);
  return used;
}

describe('a file of vramscope.record', () => {
  test('of a whole run is complete', async () => {
    const { recording, ooms, anomalies } = await deviceOf('whole');
    expect({ recording, ooms, anomalies }).toEqual({
      recording: 'complete',
      ooms: [],
      anomalies: 0,
    });
  });

  test('is written when memory runs out, and again when the program ends', async () => {
    const [then, end] = [await deviceOf('oom.oom'), await deviceOf('oom')];
    expect([then.recording, end.recording]).toEqual(['complete', 'complete']);
    expect([then.ooms.length, end.ooms.length]).toEqual([1, 1]);
    // A snapshot is an event of the next one, and nothing ran in between.
    expect(end.events - then.events).toBe(1);
  });

  test('of the last steps begins as if the ring buffer had been full', async () => {
    const { recording, events } = await deviceOf('last-steps');
    expect(recording).toBe('truncated');
    // Two of six equal steps, of 523 events each, and the snapshot taken in between.
    expect(events).toBe(1047);
  });

  test.each([0, 1, 2, 3])('of rank %i has the memory of its device', async (rank) => {
    const { device, recording } = await deviceOf(`ranks/ranks-rank${rank}`);
    expect({ device, recording }).toEqual({ device: rank, recording: 'complete' });
  });

  test('written by the labeling recipe has the classes that the program named', async () => {
    const { peakByClass, actions } = await deviceOf('labels');
    expect(actions.annotate).toBe(371);
    const bytesOf = (id: string) => peakByClass.find((row) => row.class === id)?.bytes ?? 0;
    // Adam keeps two tensors per parameter. The state consists of large blocks, some rounded up.
    expect(bytesOf('optimizer-state') / bytesOf('parameters')).toBeCloseTo(2, 1);
    expect(bytesOf('unknown')).toBeLessThan(1024);
  });
});

test('with variable names: the largest is what the program kept', async () => {
  const { holders } = await deviceOf('holders');
  const truth = JSON.parse(readFileSync('fixtures/record/holders.truth.json', 'utf8'));
  expect(holders?.liveBytes).toBe(truth.allocated);
  expect(holders?.owners[0]).toMatchObject({
    name: "losses in main()['train']",
    type: 'deque',
    length: 4,
    isGraph: true,
  });
  expect(Number(holders?.owners[0]?.bytes)).toBeCloseTo(truth["losses['train']"], -4);
});

test('the names may be beside the snapshot, as vramscope.holders writes them', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'vramscope-'));
  try {
    const value = unpickle(gunzipSync(readFileSync('fixtures/record/holders.pickle.gz')));
    const plain = (_: string, part: unknown) => {
      if (part instanceof Map) return Object.fromEntries(part);
      return typeof part === 'bigint' ? Number(part) : part;
    };
    const { holders, ...bare } = JSON.parse(JSON.stringify(value, plain));
    writeFileSync(join(folder, 'run.json'), JSON.stringify(bare));
    writeFileSync(join(folder, 'run.json.holders.json'), JSON.stringify(holders));
    const { out } = await cli(['stats', join(folder, 'run.json'), '--json']);
    const { devices }: StatsReport = JSON.parse(out);
    expect(devices[0]?.holders).toEqual((await deviceOf('holders')).holders);
    writeFileSync(join(folder, 'run.json.holders.json'), '{"version": 1');
    const { out: damaged } = await cli(['stats', join(folder, 'run.json'), '--json']);
    expect(JSON.parse(damaged).warnings[0].message).toContain('.holders.json');
  } finally {
    rmSync(folder, { recursive: true });
  }
});
