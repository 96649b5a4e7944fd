import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runToEnd } from '../../base/task.ts';
import { captureNames, loadCapture } from '../../testing/captures.ts';
import { contextOf, replaysOf } from '../../testing/contexts.ts';
import { type AllocConf, parseAllocConf } from './alloc-conf.ts';
import { COMMON_CARDS_GIB, cardFor, limitOfCard, PRESETS } from './presets.ts';
import { ByteCurveBuilder, firstEventOfPart } from './recorded-memory.ts';
import { recordedRun } from './recorded-run.ts';
import type { WhatIfInput } from './simulation.ts';
import type { WhatIfResult } from './types.ts';
import { commonCard, simulate, smallestLimit, whatIf, whatIfInput } from './what-if.ts';

const MIB = 2 ** 20;
const GIB = 2 ** 30;

/** 15 MiB is not a multiple of the small pool's 2 MiB pages. */
const NEWER = [
  'large_segment_size_mb:15',
  'expandable_segments:True,large_segment_size_mb:15',
  'per_process_memory_fraction:0.5,throw_on_cudamalloc_oom:True',
];

function confOf(text: string): AllocConf {
  const conf = parseAllocConf(text);
  if (!conf.ok) throw new Error(conf.message);
  return conf;
}

function captureInput(name: string): WhatIfInput {
  const snapshot = loadCapture(name);
  return whatIfInput(snapshot.devices[0], replaysOf(snapshot)[0], snapshot.settings);
}

function madeInput(value: unknown): WhatIfInput {
  const { snapshot, trace, replay } = contextOf(value);
  return whatIfInput(trace, replay, snapshot.settings);
}

test('a recording that begins with more than the limit: the cache is given back first, or it runs out at once', () => {
  const block = (address: number, state: string) => ({
    address,
    size: 20 * MIB,
    requested_size: 20 * MIB,
    state,
  });
  const segment = (n: number, state: string) => ({
    ...{ address: n * GIB, total_size: 20 * MIB, stream: 0, segment_type: 'large', device: 0 },
    blocks: [block(n * GIB, state)],
  });
  const input = madeInput({
    segments: [segment(1, 'active_allocated'), segment(2, 'inactive')],
    device_traces: [[{ action: 'snapshot', addr: 0, size: 0, stream: 0 }]],
  });
  const [roomy, tight, small] = [40, 30, 10].map((mib) =>
    simulate(input, confOf(''), { limitBytes: mib * MIB }),
  );
  expect([roomy.peakReservedBytes, roomy.ooms]).toEqual([40 * MIB, []]);
  expect([tight.peakReservedBytes, tight.ooms]).toEqual([20 * MIB, []]);
  expect(small.ooms).toMatchObject([{ event: -1, requestedBytes: 10 * MIB }]);
});

test('any sequence of events under any setting: a result, never an error', () => {
  const address = fc.integer({ min: 1, max: 60 }).map((n) => n * 512 * 1024);
  const entry = fc.record({
    action: fc.constantFrom(
      ...['alloc', 'alloc', 'alloc', 'free_requested', 'free_completed', 'free_completed'],
      ...['segment_alloc', 'segment_free', 'segment_map', 'segment_unmap', 'oom', 'snapshot'],
    ),
    addr: address,
    size: fc.constantFrom(0, 1, 512, 700_000, MIB, 2 * MIB, 5 * MIB, 20 * MIB, 33 * MIB),
    stream: fc.constantFrom(0, 7),
  });
  const entries = fc.array(entry, { minLength: 1, maxLength: 80, size: 'max' });
  const limit = fc.constantFrom(undefined, 40 * MIB, 4 * MIB);
  fc.assert(
    fc.property(
      entries,
      fc.constantFrom(...PRESETS, ...NEWER),
      limit,
      (trace, text, limitBytes) => {
        const input = madeInput({ segments: [], device_traces: [trace] });
        const result = simulate(input, confOf(text), { limitBytes, parts: 7 });
        expect(result.peakReservedBytes).toBeGreaterThanOrEqual(result.peakAllocatedBytes);
        if (limitBytes !== undefined && input.replay.recording === 'complete') {
          expect(result.peakReservedBytes).toBeLessThanOrEqual(limitBytes + 20 * MIB);
        }
        for (const { missingBytes } of result.ooms) expect(missingBytes).toBeGreaterThan(0);
      },
    ),
    { endOnFailure: true },
  );
});

test('releases native segments and pages together, even though freed rows are reused at once', () => {
  const segment = (address: number, is_expandable: boolean, used: number) => ({
    ...{
      device: 0,
      address,
      total_size: 40 * MIB,
      stream: 0,
      segment_type: 'large',
      is_expandable,
    },
    blocks: [
      ...(used > 0
        ? [{ address, size: used, requested_size: used, state: 'active_allocated' }]
        : []),
      { address: address + used, size: 40 * MIB - used, state: 'inactive' },
    ],
  });
  const input = madeInput({
    segments: [segment(20 * MIB, true, 5 * MIB), segment(512 * MIB, false, 0)],
    device_traces: [[{ action: 'oom', addr: 0, size: 4096 * MIB, stream: 0 }]],
  });
  const { end, ooms } = simulate(input, confOf(''), { limitBytes: 100 * MIB });
  expect(ooms).toHaveLength(1);
  // The page with the live block stays.
  expect(end.reservedBytes).toBe(20 * MIB);
});

test('a run that does not fit says which request failed and what was missing, and ends there', () => {
  const input = captureInput('train_gpt_small.pickle.gz');
  const result = simulate(input, confOf(''), { limitBytes: GIB, parts: 100 });
  expect(result.ooms).toHaveLength(1);
  const [oom] = result.ooms;
  expect(oom.isRecorded).toBe(false);
  expect(result.events).toBe(oom.event + 1);
  expect(input.trace.events.sizeBytes[oom.event]).toBe(oom.requestedBytes);
  expect(result.peakReservedBytes).toBeLessThanOrEqual(GIB);
  expect(result.unknowns.map(({ code }) => code)).toContain('stopped');
  // The curve ends there too: what follows is unknown, not 0.
  expect(result.reserved.highest.at(-1)).toBeNaN();
});

test('a workspace that cuDNN only tried may fail: the program sees no error', () => {
  const frames = [{ name: 'conv', filename: 'net.py', line: 3 }];
  const at = (action: string, addr: number, size: number) => ({
    ...{ action, addr, size: size * MIB, stream: 0, frames },
  });
  const search = [
    ...[at('segment_alloc', 1000 * MIB, 100), at('alloc', 1000 * MIB, 100)],
    ...[at('free_requested', 1000 * MIB, 100), at('free_completed', 1000 * MIB, 100)],
    ...[at('segment_free', 1000 * MIB, 100), at('segment_alloc', 2000 * MIB, 20)],
    at('alloc', 2000 * MIB, 20),
  ];
  const input = madeInput({ segments: [], device_traces: [search] });
  const run = simulate(input, confOf(''), { limitBytes: 50 * MIB });
  expect(run).toMatchObject({ ooms: [], retriedOoms: 1, peakReservedBytes: 20 * MIB });
  expect(run.confidence).toBe('medium');
  expect(runToEnd(smallestLimit(input, confOf('')))).toMatchObject({ limitBytes: 20 * MIB });
  // In another line than the search, empty_cache() is the program's, and the request is one that it needs.
  const other = [{ name: 'train', filename: 'train.py', line: 9 }];
  const emptied = search.map((event) =>
    event.action === 'segment_free' ? { ...event, frames: other } : event,
  );
  const needed = simulate(madeInput({ segments: [], device_traces: [emptied] }), confOf(''), {
    limitBytes: 50 * MIB,
  });
  expect(needed.ooms).toHaveLength(1);
});

test('per_process_memory_fraction is a share of the limit; without one it says so', () => {
  const input = captureInput('train_gpt_small.pickle.gz');
  const fraction = confOf('per_process_memory_fraction:0.75');
  const { settings: _, ...half } = simulate(input, fraction, { limitBytes: 2 * GIB });
  expect(half.limitBytes).toBe(1.5 * GIB);
  expect(half).toMatchObject(
    withoutSettings(simulate(input, confOf(''), { limitBytes: 1.5 * GIB })),
  );
  const free = simulate(input, fraction);
  expect(free.unknowns.map(({ code }) => code)).toEqual(['fraction-without-limit']);
  expect(free).toMatchObject({ limitBytes: undefined, ooms: [], confidence: 'high' });
});

function withoutSettings(result: WhatIfResult): Partial<WhatIfResult> {
  const { settings: _, ...rest } = result;
  return rest;
}

test('throw_on_cudamalloc_oom fails instead of releasing the cache and trying again', () => {
  const input = captureInput('frag_gpt_varlen.pickle.gz');
  const limitBytes = 16 * GIB;
  const retried = simulate(input, confOf(''), { limitBytes });
  const thrown = simulate(input, confOf('throw_on_cudamalloc_oom:True'), { limitBytes });
  expect(retried).toMatchObject({ retries: 4, ooms: [] });
  expect(thrown.retries).toBe(0);
  expect(thrown.ooms).toHaveLength(1);
  // The runs are the same up to there: it is the first request that does not fit under the limit.
  const [{ event, requestedBytes, missingBytes }] = thrown.ooms;
  expect(thrown.peakReservedBytes + requestedBytes).toBeGreaterThan(limitBytes);
  expect(missingBytes).toBeLessThanOrEqual(requestedBytes + 2 * MIB);
  expect(event).toBeLessThan(retried.events);
  const free = simulate(input, confOf('throw_on_cudamalloc_oom:True'));
  expect(free.peakReservedBytes).toBe(simulate(input, confOf('')).peakReservedBytes);
  expect(free.unknowns.map(({ code }) => code)).toEqual(['fraction-without-limit']);
});

test('the result names an option without effect', () => {
  const input = captureInput('train_gpt_small.pickle.gz');
  const { unknowns, confidence } = simulate(input, confOf('pinned_free_catch_all:True'));
  expect(unknowns).toEqual([
    {
      code: 'without-effect',
      message: expect.stringContaining('pinned_free_catch_all affects pinned host memory'),
    },
  ]);
  expect(confidence).toBe('high');
});

test('the smallest limit is the smallest: 2 MiB less fail', () => {
  const input = captureInput('train_resnet.pickle.gz');
  const conf = confOf('');
  const { limitBytes, cardGib } = runToEnd(smallestLimit(input, conf));
  const unlimited = simulate(input, conf);
  expect(limitBytes).toBeLessThan(unlimited.peakReservedBytes);
  expect(limitBytes).toBeGreaterThanOrEqual(unlimited.peakAllocatedBytes);
  expect(simulate(input, conf, { limitBytes }).ooms).toEqual([]);
  expect(simulate(input, conf, { limitBytes: limitBytes - 2 * MIB }).ooms).toHaveLength(1);
  expect(cardGib).toBe(cardFor(limitBytes));
});

test.each([
  ['train_resnet', ''],
  ['frag_gpt_varlen', ''],
  ['frag_gpt_varlen', 'garbage_collection_threshold:0.6'],
  ['frag_gpt_varlen', 'expandable_segments:True'],
  ['train_resnet', 'per_process_memory_fraction:0.5'],
  ['train_hf_gpt2', 'expandable_segments:True,large_segment_size_mb:256'],
])('%s under %j: the smallest card is the first that serves it', (name, text) => {
  const input = captureInput(`${name}.pickle.gz`);
  const conf = confOf(text);
  const unlimited = simulate(input, conf);
  // Without a fraction, an expandable segment maps only what is missing.
  const isEnough = (limitBytes: number) =>
    conf.settings.expandableSegments && unlimited.peakReservedBytes <= limitBytes;
  const onCard = (gib: number) =>
    isEnough(limitOfCard(gib))
      ? unlimited
      : simulate(input, conf, { limitBytes: limitOfCard(gib) });
  const search = commonCard(input, conf, unlimited);
  let step = search.next();
  let runs = 0;
  for (; !step.done; step = search.next()) runs = step.value;
  const gib = COMMON_CARDS_GIB.find((own) => onCard(own).ooms.length === 0);
  if (gib === undefined) throw new Error('no card serves it');
  const { retries, deviceAllocs, deviceFrees } = onCard(gib);
  expect(step.value).toEqual({ gib, retries, calls: deviceAllocs + deviceFrees });
  expect(gib).toBe(runToEnd(smallestLimit(input, conf)).cardGib);
  expect(runs).toBeLessThanOrEqual(5);
});

test('after an OOM nobody knows which card would be enough', () => {
  const input = captureInput('oom_fragmented.pickle.gz');
  const conf = confOf('expandable_segments:True');
  const card = runToEnd(commonCard(input, conf));
  expect(card).toEqual({ gib: undefined, retries: 0, calls: 0, isUnknown: true });
});

test.each([
  [3 * GIB, 4],
  [3.5 * GIB, 6],
  [23.3 * GIB, 24],
  [23.5 * GIB, 32],
  [500 * GIB, undefined],
])('%i bytes for PyTorch: a card of %s GiB', (bytes, gib) => {
  expect(cardFor(bytes)).toBe(gib);
});

test('a run can be paused between slices without changing the result', () => {
  const input = captureInput('frag_gpt_varlen.pickle.gz');
  const conf = confOf('expandable_segments:True');
  const run = whatIf(input, conf);
  const seen: number[] = [];
  let step = run.next();
  for (; step.done !== true; step = run.next()) seen.push(step.value);
  expect(seen.length).toBeGreaterThan(1);
  expect(seen).toEqual([...seen].sort((a, b) => a - b));
  expect(step.value).toEqual(simulate(input, conf));
});

test('the result names what the trace does not show', () => {
  const codesOf = (name: string, limitBytes?: number) =>
    simulate(captureInput(name), confOf('garbage_collection_threshold:0.8'), {
      limitBytes,
    }).unknowns.map(({ code }) => code);
  expect(codesOf('train_gpt_small.pickle.gz')).toEqual(['gc-without-limit']);
  expect(codesOf('train_gpt_small.pickle.gz', 8 * GIB)).toEqual(['outside-memory']);
  expect(codesOf('oom_fragmented.pickle.gz', 80 * GIB)).toEqual(['after-oom', 'outside-memory']);
  expect(codesOf('train_recorded_late.pickle.gz', 8 * GIB)).toContain('before-trace');
  expect(codesOf('streams_record_stream.pickle.gz', 8 * GIB)).toContain('delayed-frees');
  const graph = codesOf('cuda_graph_pool.pickle.gz', 8 * GIB);
  expect(graph).toEqual(['private-pools', 'empty-cache', 'outside-memory']);
});

test.each(captureNames())('%s: the recorded curves have the peaks of the counters', (name) => {
  const snapshot = loadCapture(name);
  const { settings } = snapshot;
  for (const [device, trace] of snapshot.devices.entries()) {
    const replay = replaysOf(snapshot)[device];
    const { length } = trace.events;
    const { reserved, allocated } = recordedRun(whatIfInput(trace, replay, settings), 37);
    for (const [counter, curve] of [
      ['reservedBytes', reserved],
      ['allocatedBytes', allocated],
    ] as const) {
      const values = new Float64Array(length);
      replay.fillCounter(counter, 0, values);
      const parts = curve.highest.length;
      expect(parts).toBe(Math.min(37, length));
      curve.highest.forEach((highest, part) => {
        const from = firstEventOfPart(part, length, parts);
        const before = from === 0 ? replay.start[counter] : values[from - 1];
        const own = values.subarray(from, firstEventOfPart(part + 1, length, parts));
        expect(highest).toBe(own.reduce((most, value) => Math.max(most, value), before));
        expect(curve.lowest[part]).toBe(own.reduce((least, v) => Math.min(least, v), before));
      });
    }
  }
});

test('the curve has the lowest and highest value of each part', () => {
  const change = fc.tuple(fc.nat(99), fc.nat(1000));
  fc.assert(
    fc.property(
      fc.array(change),
      fc.integer({ min: 1, max: 120 }),
      fc.nat(50),
      (some, parts, first) => {
        const changes = [...some].sort(([a], [b]) => a - b);
        const builder = new ByteCurveBuilder(100, parts);
        builder.set(-1, first);
        for (const [event, bytes] of changes) builder.set(event, bytes);
        const { lowest, highest } = builder.finish(100);
        const length = Math.min(parts, 100);
        expect(highest).toHaveLength(length);
        for (let part = 0; part < length; part++) {
          const of = (event: number) => Math.floor((event * length) / 100);
          const before = changes.filter(([event]) => of(event) < part).at(-1)?.[1] ?? first;
          const values = changes.filter(([event]) => of(event) === part).map(([, bytes]) => bytes);
          expect(lowest[part]).toBe(Math.min(before, ...values));
          expect(highest[part]).toBe(Math.max(before, ...values));
        }
      },
    ),
  );
});
