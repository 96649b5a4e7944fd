import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { replayDevice } from '../src/allocator/replay/replay.ts';
import { assert } from '../src/base/errors.ts';
import { SnapshotDecoder } from '../src/format/snapshot/decoder.ts';

const SOURCE = join(import.meta.dirname, '..', 'fixtures', 'train_gpt_small.pickle.gz');
const EVENTS = 30_000;
const hasPython = spawnSync('python3', ['--version']).status === 0;

/** The replay of the one device of an uncompressed pickle. */
function replayed(bytes: Uint8Array) {
  const decoder = new SnapshotDecoder();
  decoder.push(bytes);
  const snapshot = decoder.finish();
  const [device] = snapshot.devices;
  assert(device !== undefined, 'the source has a device');
  return { eventCount: device.events.length, ...replayDevice(device, snapshot.settings) };
}

describe.skipIf(!hasPython)('a snapshot made longer', () => {
  let folder = '';
  const made = (...pickler: readonly string[]) => {
    const target = join(folder, `${pickler.join('') || 'python'}.pickle`);
    const script = join(import.meta.dirname, 'make_snapshot.py');
    execFileSync('python3', [script, SOURCE, target, String(EVENTS), ...pickler]);
    return readFileSync(target);
  };
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'vramscope-bench-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it('replays without an anomaly to the end of the real recording', () => {
    const long = replayed(made());
    const original = replayed(gunzipSync(readFileSync(SOURCE)));
    expect(long.eventCount).toBeGreaterThanOrEqual(EVENTS);
    expect(long.anomalyCount).toBe(0);
    expect(long.end).toEqual(original.end);
    for (const [name, { bytes }] of Object.entries(original.peaks))
      expect(long.peaks, name).toHaveProperty([name, 'bytes'], bytes);
  });

  it('holds the same in the C++ form', () => {
    const [python, cpp] = [replayed(made()), replayed(made('cpp'))];
    expect(cpp.eventCount).toBe(python.eventCount);
    expect(cpp.peaks).toEqual(python.peaks);
  });
});
