import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { replayDevice } from '../src/allocator/replay/replay.ts';
import { assert } from '../src/base/assert.ts';
import { SnapshotDecoder } from '../src/format/snapshot/decoder.ts';
import { ByteWriter } from './byte-writer.mjs';
import { makeSnapshot } from './make-snapshot.mjs';
import { field, parsePickle } from './pickle-nodes.mjs';
import { PythonPickler } from './picklers.mjs';
import { findSteadyWindow } from './steady-window.mjs';

const fixtures = join(import.meta.dirname, '..', 'fixtures');
const source = join(fixtures, 'train_gpt_small.pickle.gz');
const EVENTS = 30_000;

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'vramscope-bench-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** The replay of the one device of an uncompressed pickle. */
function replayed(bytes: Uint8Array) {
  const decoder = new SnapshotDecoder();
  decoder.push(bytes);
  const snapshot = decoder.finish();
  const [device] = snapshot.devices;
  assert(device !== undefined, 'the source has a device');
  return replayDevice(device, snapshot.settings);
}

it('writes a file that CPython wrote byte for byte as it was', () => {
  let files = 0;
  // One in three: they were all written by the same Python.
  for (const name of readdirSync(fixtures)
    .filter((name) => name.endsWith('.pickle.gz'))
    .filter((_, i) => i % 3 === 0)) {
    const original = gunzipSync(readFileSync(join(fixtures, name)));
    if (original.readUInt16BE(0) !== 0x8004) continue;
    files++;
    const path = join(folder, name);
    const out = new ByteWriter(path);
    const pickler = new PythonPickler(out);
    pickler.write(parsePickle(original));
    pickler.end();
    out.close();
    expect(readFileSync(path).equals(original), name).toBe(true);
  }
  expect(files).toBeGreaterThan(7);
});

describe('a snapshot made longer', () => {
  const columns = (events: ReturnType<typeof parsePickle>[], key: string) =>
    events.map((event) => field(event, key)?.value);

  it('has the window over and over, in ever later dictionaries of their own', () => {
    const target = join(folder, 'long.pickle');
    const made = makeSnapshot(source, target, { events: EVENTS });
    expect(made.eventCount).toBeGreaterThanOrEqual(EVENTS);
    expect(made.bytes / made.eventCount).toBeGreaterThan(85);

    const read = (bytes: Buffer) => field(parsePickle(bytes), 'device_traces')?.value[0].value;
    const original = read(gunzipSync(readFileSync(source)));
    const long = read(readFileSync(target));
    const { from, to } = findSteadyWindow(original);
    const window = original.slice(from, to);
    const repeats = Array.from({ length: made.repetitions - 1 }, () => window).flat();
    const expected = [...original.slice(0, to), ...repeats, ...original.slice(to)];
    for (const key of ['action', 'addr', 'size', 'stream']) {
      expect(columns(long, key)).toEqual(columns(expected, key));
    }
    expect(new Set(long).size).toBe(made.eventCount);
    const times = columns(long, 'time_us');
    expect(times.every((timeUs, i) => i === 0 || timeUs >= times[i - 1])).toBe(true);
  });

  it('replays without an anomaly to the end of the real recording', () => {
    const target = join(folder, 'replayed.pickle');
    makeSnapshot(source, target, { events: EVENTS });
    const long = replayed(readFileSync(target));
    const original = replayed(gunzipSync(readFileSync(source)));
    expect(long.anomalyCount).toBe(0);
    expect(long.end).toEqual(original.end);
    for (const [name, { bytes }] of Object.entries(original.peaks)) {
      expect(long.peaks, name).toHaveProperty([name, 'bytes'], bytes);
    }
  });

  const hasPython = spawnSync('python3', ['--version']).status === 0;

  it.skipIf(!hasPython)(
    'is what CPython itself would write, and the C++ form holds the same',
    () => {
      const python = join(folder, 'python.pickle');
      const cpp = join(folder, 'cpp.pickle');
      makeSnapshot(source, python, { events: EVENTS });
      makeSnapshot(source, cpp, { events: EVENTS, pickler: 'cpp' });
      const script = [
        'import pickle, sys',
        'a, b = (open(path, "rb").read() for path in sys.argv[1:])',
        'snapshot = pickle.loads(a)',
        'print(pickle.dumps(snapshot, 4) == a, pickle.loads(b) == snapshot)',
      ].join('\n');
      const { stdout } = spawnSync('python3', ['-c', script, python, cpp], { encoding: 'utf8' });
      expect(stdout.trim()).toBe('True True');
    },
  );
});
