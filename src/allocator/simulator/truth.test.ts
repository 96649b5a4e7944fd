/**
 * Compares with real runs on an H200: the recorded ones event by event, and the same workloads under other settings.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { runToEnd } from '../../base/task.ts';
import { type DeviceTrace, TraceAction } from '../../format/snapshot/tables.ts';
import { captureNames, loadCapture, truthOf } from '../../testing/captures.ts';
import { replaysOf } from '../../testing/contexts.ts';
import { type AllocSettings, parseAllocConf } from './alloc-conf.ts';
import { ACCURACY } from './confidence.ts';
import type { SegmentChange } from './device-memory.ts';
import { recordedRun } from './recorded-run.ts';
import { Simulation, type WhatIfInput } from './simulation.ts';
import { simulate, smallestLimit, whatIfInput } from './what-if.ts';

const GIB = 2 ** 30;
/** set_per_process_memory_fraction in the capture scripts; all others ran without a limit. */
const LIMITS: Readonly<Record<string, number>> = {
  frag_gpt_varlen: 16 * GIB,
  oom_fragmented: 6 * GIB,
  oom_batch_too_big: 12 * GIB,
  oom_observer: 8 * GIB,
};

const inputs = new Map<string, WhatIfInput[]>();
function inputsOf(capture: string): WhatIfInput[] {
  const known = inputs.get(capture);
  if (known !== undefined) return known;
  const snapshot = loadCapture(capture);
  const replays = replaysOf(snapshot);
  const made = snapshot.devices.map((trace, i) =>
    whatIfInput(trace, replays[i], snapshot.settings),
  );
  inputs.set(capture, made);
  return made;
}

const limitOf = (capture: string): number =>
  LIMITS[capture.replace(/^.*\//, '').replace('.pickle.gz', '')] ?? Infinity;

function settingsOf(text: string): { text: string; settings: AllocSettings } {
  const conf = parseAllocConf(text);
  if (!conf.ok) throw new Error(conf.message);
  return conf;
}

/**
 * A truth of only memory_stats(), without the counts of the capture scripts, says nothing about retries and calls.
 */
const hasCounts = (capture: string): boolean =>
  Object.values(truthOf(capture).stats).every((stats) => stats.num_alloc_retries !== undefined);

function recordedChanges({ events }: DeviceTrace): [event: number, bytes: number][] {
  const changes: [number, number][] = [];
  for (let t = 0; t < events.length; t++) {
    const action = events.action[t];
    const isNew = action === TraceAction.SegmentAlloc || action === TraceAction.SegmentMap;
    const isGone = action === TraceAction.SegmentFree || action === TraceAction.SegmentUnmap;
    if (isNew || isGone) changes.push([t, isNew ? events.sizeBytes[t] : -events.sizeBytes[t]]);
  }
  return changes;
}

describe('the recorded settings', () => {
  test.each(captureNames())('%s: every segment in order, every block in its place', (name) => {
    for (const input of inputsOf(name)) {
      const changes: SegmentChange[] = [];
      const simulation = new Simulation(input, {
        settings: input.recorded.settings,
        limitBytes: limitOf(name),
        parts: 10,
        onSegment: (change) => changes.push(change),
      });
      runToEnd(simulation.run());
      const recorded = recordedChanges(input.trace);
      expect(changes.map(({ bytes }) => bytes)).toEqual(recorded.map(([, bytes]) => bytes));
      const { peaks, end } = input.replay;
      expect(simulation.memory.peakReservedBytes).toBe(peaks.reservedBytes.bytes);
      expect(simulation.allocator.peakAllocatedBytes).toBe(peaks.allocatedBytes.bytes);
      expect(simulation.endState()).toMatchObject({
        reservedBytes: end.reservedBytes,
        allocatedBytes: end.allocatedBytes,
      });
    }
  });

  test.each(captureNames().filter((name) => !/protocols_p|observer/.test(name) && hasCounts(name)))(
    '%s: retries, OOMs and device calls as memory_stats() counted them',
    (name) => {
      const { stats } = truthOf(name);
      for (const input of inputsOf(name)) {
        // What was counted before the first event is not in the trace.
        if (input.replay.recording !== 'complete') continue;
        const device = stats[input.trace.device];
        const limitBytes = limitOf(name) === Infinity ? undefined : limitOf(name);
        const result = simulate(input, input.recorded, { limitBytes });
        expect(result).toMatchObject({
          retries: device.num_alloc_retries,
          deviceAllocs: device.num_device_alloc,
          deviceFrees: device.num_device_free,
        });
        expect(result.ooms).toHaveLength(device.num_ooms);
        expect(recordedRun(input, 1)).toMatchObject({
          retries: device.num_alloc_retries,
          ooms: device.num_ooms,
        });
      }
    },
  );

  test('reproduces failed attempts of cuDNN, and its emptying of the cache', () => {
    const name = 'near-miss/cudnn_tries_workspaces.pickle.gz';
    const [input] = inputsOf(name);
    const [truth] = [truthOf(name).stats[0]];
    const changes: SegmentChange[] = [];
    const simulation = new Simulation(input, {
      settings: input.recorded.settings,
      limitBytes: GIB / 2,
      parts: 10,
      onSegment: (change) => changes.push(change),
    });
    runToEnd(simulation.run());
    const recorded = recordedChanges(input.trace);
    expect(changes.map(({ bytes }) => bytes)).toEqual(recorded.map(([, bytes]) => bytes));
    expect(simulation.allocator.retries).toBe(truth.num_alloc_retries);
    expect(simulation.ooms).toHaveLength(1);
    expect(simulation.retriedOoms).toBe(truth.num_ooms - 1);
    expect(recordedRun(input, 1)).toMatchObject({
      retries: truth.num_alloc_retries,
      ooms: 1,
      retriedOoms: truth.num_ooms - 1,
    });
  });

  test('optional requests of a library fail no run, and need no larger card', () => {
    const [input] = inputsOf('near-miss/cudnn_tries_workspaces.pickle.gz');
    const unlimited = simulate(input, settingsOf(''), {});
    expect(unlimited).toMatchObject({ ooms: [], retriedOoms: 0, servedOoms: 1 });
    // Includes the request of 4 GiB that finally failed, but not the attempt at 4.6 GiB.
    expect(unlimited.peakAllocatedBytes).toBeLessThan(4.1 * GIB);
    expect(runToEnd(smallestLimit(input, settingsOf(''))).limitBytes).toBeLessThan(4.1 * GIB);
  });

  test('the limit that a recording shows encloses the real one', () => {
    const shown = Object.entries(LIMITS).map(([name, bytes]) => {
      const { limit } = recordedRun(inputsOf(`${name}.pickle.gz`)[0], 1);
      return limit !== undefined && limit.atLeastBytes <= bytes && bytes < limit.belowBytes;
    });
    expect(shown).toEqual([true, true, true, true]);
  });
});

interface Truth {
  readonly peak_reserved_bytes: number;
  readonly peak_allocated_bytes: number;
  readonly num_ooms: number;
  readonly num_alloc_retries: number;
}
interface Workload {
  readonly limit_bytes: number | null;
  readonly settings: Readonly<Record<string, Truth>>;
}
const workloads: Readonly<Record<string, Workload>> = JSON.parse(
  readFileSync('fixtures/whatif.truth.json', 'utf8'),
).workloads;

/** The timing-sensitive workload, rerun with the GPU to itself. */
const ALONE: {
  readonly workload: string;
  readonly settings: Readonly<Record<string, readonly number[]>>;
} = JSON.parse(readFileSync('fixtures/whatif-alone.truth.json', 'utf8'));

const cells = Object.entries(workloads).flatMap(([workload, { limit_bytes, settings }]) =>
  Object.entries(settings).map(([text, truth]) => {
    const [input] = inputsOf(`${workload}.pickle.gz`);
    const result = simulate(input, settingsOf(text), { limitBytes: limit_bytes ?? undefined });
    return { workload, text, truth, result };
  }),
);

describe('large_segment_size_mb, native and expandable', () => {
  const CONFS = [
    '',
    'large_segment_size_mb:12',
    'large_segment_size_mb:64',
    'expandable_segments:True,large_segment_size_mb:64',
  ];
  const folderOf = (conf: string): string =>
    conf === '' ? '' : `settings/${conf.replaceAll(/[:,]/g, '_')}/`;
  const pairs = ['train_gpt_small', 'kv_cache_generate'].flatMap((workload) =>
    CONFS.flatMap((from) => CONFS.map((to) => [workload, from, to] as const)),
  );

  test.each(pairs)('%s recorded under "%s", run under "%s"', (workload, from, to) => {
    const [input] = inputsOf(`${folderOf(from)}${workload}.pickle.gz`);
    expect(input.recorded.text).toBe(from);
    const truth = truthOf(`${folderOf(to)}${workload}.pickle.gz`).stats[0];
    expect(simulate(input, settingsOf(to), {})).toMatchObject({
      peakReservedBytes: truth['reserved_bytes.all.peak'],
      peakAllocatedBytes: truth['allocated_bytes.all.peak'],
      deviceAllocs: truth.num_device_alloc,
      retries: truth.num_alloc_retries,
      confidence: 'high',
    });
  });
});

describe('large_segment_size_mb of 12, 40 and 64, eight workloads', () => {
  const { workloads: sized }: { readonly workloads: typeof workloads } = JSON.parse(
    readFileSync('fixtures/whatif-segments.truth.json', 'utf8'),
  );
  const runs = Object.entries(sized).flatMap(([workload, { limit_bytes, settings }]) =>
    Object.entries(settings).map(([text, truth]) => {
      const [input] = inputsOf(`${workload}.pickle.gz`);
      const result = simulate(input, settingsOf(text), { limitBytes: limit_bytes ?? undefined });
      const off = result.peakReservedBytes / truth.peak_reserved_bytes - 1;
      return { name: `${workload} ${text}`, off, truth, result };
    }),
  );

  test('peak reserved: 30 of 32 equal to the byte, the other two within 3 %', () => {
    expect(runs).toHaveLength(32);
    expect(runs.filter(({ off }) => off !== 0).map(({ name }) => name)).toEqual([
      'train_gpt_small large_segment_size_mb:64,max_split_size_mb:64',
      'warm_then_steady large_segment_size_mb:12',
    ]);
    expect(Math.max(...runs.map(({ off }) => Math.abs(off)))).toBeLessThan(0.03);
  });

  test('peak allocated within 1.5 %, retries and OOMs as they were', () => {
    for (const { truth, result } of runs) {
      const ratio = result.peakAllocatedBytes / truth.peak_allocated_bytes;
      expect(Math.abs(ratio - 1)).toBeLessThan(0.015);
      expect(result.retries).toBe(truth.num_alloc_retries);
      expect(result.ooms).toHaveLength(truth.num_ooms);
    }
  });
});

describe('other settings', () => {
  const off = ({ truth, result }: (typeof cells)[number]): number =>
    Math.abs(result.peakReservedBytes / truth.peak_reserved_bytes - 1);

  test('peak reserved within 0.5 % in 95 % of the cells, and in all where the timing is the same', () => {
    const wrong = cells.filter((cell) => off(cell) > 0.005);
    expect(wrong.length / cells.length).toBeLessThanOrEqual(0.05);
    // The GPU was busy with other runs at the time, so its frees came earlier. See docs/whatif.md.
    expect(wrong.map(({ workload }) => workload)).toEqual([
      'streams_record_stream',
      'streams_record_stream',
      'streams_record_stream',
    ]);
    for (const { workload, text, truth, result } of wrong) {
      expect(result.confidence).not.toBe('high');
      const [input] = inputsOf(`${workload}.pickle.gz`);
      const lowest = simulate(input, settingsOf(text), { freesAtOnce: true });
      expect(truth.peak_reserved_bytes).toBeGreaterThan(lowest.peakReservedBytes);
      expect(truth.peak_reserved_bytes).toBeLessThan(result.peakReservedBytes);
    }
  });

  test('those three cells too, to the byte, once the GPU has no other work', () => {
    const again = Object.entries(ALONE.settings);
    expect(again).toHaveLength(5);
    const [input] = inputsOf(`${ALONE.workload}.pickle.gz`);
    for (const [text, runs] of again) {
      const { peakReservedBytes } = simulate(input, settingsOf(text), {});
      const equal = runs.filter((bytes) => bytes === peakReservedBytes);
      expect(equal.length).toBeGreaterThanOrEqual(runs.length - 1);
      for (const bytes of runs) expect(Math.abs(peakReservedBytes / bytes - 1)).toBeLessThan(0.03);
    }
  });

  test('as many are equal to the byte as the page says', () => {
    const equal = cells.filter((cell) => off(cell) === 0).length;
    expect({ runs: cells.length, equalReserved: equal }).toEqual(ACCURACY);
  });

  test('peak allocated within 0.5 %, and out of memory or not', () => {
    for (const { truth, result } of cells) {
      const ratio = result.peakAllocatedBytes / truth.peak_allocated_bytes;
      expect(Math.abs(ratio - 1)).toBeLessThan(0.005);
      expect(result.ooms.length).toBe(truth.num_ooms);
    }
  });

  test.each([
    ['expandable', 'expandable_segments:True'],
    ['pow2', 'roundup_power2_divisions:8'],
    ['split128', 'max_split_size_mb:128'],
    ['gc08', 'garbage_collection_threshold:0.8'],
  ])('the fragmented run that failed at 6 GiB, under %s', (folder, text) => {
    const [input] = inputsOf('oom_fragmented.pickle.gz');
    const { ooms } = simulate(input, settingsOf(text), { limitBytes: 6 * GIB });
    const truth = truthOf(`whatif_${folder}/oom_fragmented.pickle.gz`).stats[0];
    expect(ooms.length > 0).toBe(truth.num_ooms > 0);
  });
});
