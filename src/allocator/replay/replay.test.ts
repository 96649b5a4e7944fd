import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Column } from '../../base/table.ts';
import { snapshotFromValue } from '../../format/snapshot/from-value.ts';
import { ACTION_NAMES, type DeviceTrace } from '../../format/snapshot/tables.ts';
import { captureNames, loadCapture, statsOfDevice, truthOf } from '../../testing/captures.ts';
import { replaysOf } from '../../testing/contexts.ts';
import { replayDevice } from './replay.ts';
import { COUNTER_NAMES, NEVER, type Replay } from './types.ts';

/** Written before their truth was read: their peaks came later, or before the recording. */
const EARLIER = /legacy_segments_list|no_history|protocols_p/;

describe('against the allocator', () => {
  it.each(captureNames().filter((name) => !EARLIER.test(name)))('%s', (name) => {
    const snapshot = loadCapture(name);
    for (const [index, device] of snapshot.devices.entries()) {
      const { peaks, anomalyCount } = replaysOf(snapshot)[index];
      const stats = statsOfDevice(truthOf(name), device.device);
      expect({
        anomalyCount,
        requested: peaks.requestedBytes.bytes,
        allocated: peaks.allocatedBytes.bytes,
        active: peaks.activeBytes.bytes,
        reserved: peaks.reservedBytes.bytes,
      }).toEqual({
        anomalyCount: 0,
        requested: stats['requested_bytes.all.peak'],
        allocated: stats['allocated_bytes.all.peak'],
        active: stats['active_bytes.all.peak'],
        reserved: stats['reserved_bytes.all.peak'],
      });
      const split = peaks.inactiveSplitBytes.bytes;
      const splitTruth = stats['inactive_split_bytes.all.peak'];
      expect(split).toBe(splitTruth);
    }
  });

  it.each(captureNames())('%s ends in the state of its own segments', (name) => {
    const snapshot = loadCapture(name);
    for (const [index, device] of snapshot.devices.entries()) {
      const { end, start, countersAt } = replaysOf(snapshot)[index];
      const sum = (column: Float64Array) => column.reduce((total, bytes) => total + bytes, 0);
      expect(end.reservedBytes).toBe(sum(device.segments.totalBytes));
      expect(end.allocatedBytes).toBe(sum(device.segments.allocatedBytes));
      expect(end.activeBytes).toBe(sum(device.segments.activeBytes));
      expect(countersAt(device.events.length - 1)).toEqual(end);
      expect(countersAt(-1)).toEqual(start);
    }
  });
});

describe('how much of the process was recorded', () => {
  it.each([
    ['train_gpt_small.pickle.gz', 'complete'],
    ['train_recorded_late.pickle.gz', 'preexisting'],
    ['train_ring_truncated.pickle.gz', 'truncated'],
    ['no_history.pickle.gz', 'none'],
    ['whatif_expandable/frag_gpt_varlen.pickle.gz', 'complete'],
  ])('%s is %s', (name, recording) => {
    const { devices, settings } = loadCapture(name);
    expect(replayDevice(devices[0], settings).recording).toBe(recording);
  });
});

describe('a trace cut at its beginning', () => {
  // Covers native and expandable segments, small and large pools, record_stream, private pools.
  it.each([
    'train_gpt_small.pickle.gz',
    'streams_record_stream.pickle.gz',
    'cuda_graph_pool.pickle.gz',
    'whatif_expandable/oom_fragmented.pickle.gz',
  ])('%s: requested and reserved stay the same', (name) => {
    const { devices, settings } = loadCapture(name);
    const [device] = devices;
    const whole = replayDevice(device, settings);
    const { length } = device.events;
    for (const share of [0.01, 0.2, 0.5, 0.77, 0.99]) {
      const from = Math.floor(length * share);
      const late = replayDevice(cutFront(device, from), settings);
      for (let t = -1; t < length - from; t += 97) {
        const expected = whole.countersAt(from + t);
        const got = late.countersAt(t);
        expect(got.requestedBytes).toBe(expected.requestedBytes);
        expect(got.reservedBytes).toBe(expected.reservedBytes);
      }
      expect(late.anomalyCount).toBe(0);
    }
  });
});

describe('properties', () => {
  const small = [
    'train_annotated.pickle.gz',
    'oom_fragmented.pickle.gz',
    'streams_record_stream.pickle.gz',
  ];
  it.each([...small, 'whatif_expandable/oom_fragmented.pickle.gz'])(
    '%s: the counters are the sums over live blocks',
    (name) => {
      const { devices, settings } = loadCapture(name);
      const replay = replayDevice(devices[0], settings);
      const { length } = devices[0].events;
      for (let t = -1; t < length; t += 211)
        expect(replay.countersAt(t)).toMatchObject(sumsAt(replay, t));
      for (const counter of COUNTER_NAMES) {
        const filled = new Float64Array(300);
        replay.fillCounter(counter, 150, filled);
        expect(filled[0]).toBe(replay.countersAt(150)[counter]);
        expect(filled[299]).toBe(replay.countersAt(449)[counter]);
      }
    },
  );

  it('live blocks never overlap and lie inside segments', () => {
    const { devices, settings } = loadCapture('whatif_expandable/oom_fragmented.pickle.gz');
    const { allocations: a, segmentSpans: s } = replayDevice(devices[0], settings);
    for (let t = 0; t < devices[0].events.length; t += 401) {
      const live = rows(a.length, (i) => a.start[i] <= t && t < a.end[i]).sort(
        (x, y) => a.address[x] - a.address[y],
      );
      for (let i = 1; i < live.length; i++) {
        expect(a.address[live[i]]).toBeGreaterThanOrEqual(
          a.address[live[i - 1]] + a.sizeBytes[live[i - 1]],
        );
      }
      const mapped = rows(s.length, (i) => s.start[i] <= t && t < s.end[i]);
      const inside = (address: number) =>
        mapped.some((i) => s.address[i] <= address && address < s.address[i] + s.sizeBytes[i]);
      for (const i of live) {
        expect(inside(a.address[i]) && inside(a.address[i] + a.sizeBytes[i] - 1)).toBe(true);
      }
    }
  });

  it('never throws, and its counters stay consistent, whatever the events say', () => {
    const action = fc.constantFrom(...ACTION_NAMES.slice(0, 9));
    const event = fc.record({
      action,
      addr: fc.integer({ min: 0, max: 20 }).map((n) => n * 512 * 1024),
      size: fc.constantFrom(0, 1, 512, 700_000, 2 ** 20, 2 ** 21, 20 * 2 ** 20),
      stream: fc.integer({ min: 0, max: 1 }),
    });
    fc.assert(
      fc.property(fc.array(event, { maxLength: 200 }), (events) => {
        const { devices, settings } = snapshotFromValue({ segments: [], device_traces: [events] });
        const replay = replayDevice(devices[0], settings);
        let t = -1;
        for (const filled of filledCounters(replay, events.length)) {
          t++;
          expect(filled).toEqual(replay.countersAt(t));
          expect(filled).toMatchObject(sumsAt(replay, t));
        }
      }),
    );
  });

  it('closes a block whose free was not recorded when its address is used again', () => {
    const alloc = { action: 'alloc', addr: 4096, size: 512, stream: 0 };
    const { devices, settings } = snapshotFromValue({ device_traces: [[alloc, alloc]] });
    const replay = replayDevice(devices[0], settings);
    expect(replay.anomalyCount).toBe(1);
    expect(Array.from(replay.allocations.end)).toEqual([1, NEVER]);
    expect(replay.end.activeBytes).toBe(512);
  });

  it('replays a recording without free_requested entries', () => {
    const alloc = { action: 'alloc', addr: 4096, size: 512, stream: 0 };
    const { devices, settings } = snapshotFromValue({
      device_traces: [[alloc, { ...alloc, action: 'free_completed' }]],
    });
    const replay = replayDevice(devices[0], settings);
    expect(replay.anomalyCount).toBe(0);
    expect(replay.countersAt(1)).toMatchObject({
      allocatedBytes: 0,
      activeBytes: 0,
      requestedBytes: 0,
    });
  });
});

it('can fail: the fixtures hold figures that differ', () => {
  const truth = JSON.parse(readFileSync('fixtures/oom_fragmented.truth.json', 'utf8'));
  const stats = truth.stats[0];
  expect(stats['allocated_bytes.all.peak']).not.toBe(stats['requested_bytes.all.peak']);
});

const rows = (length: number, keep: (row: number) => boolean): number[] =>
  Array.from({ length }, (_, i) => i).filter(keep);

/** The counters at state t, from the tables alone. */
function sumsAt({ allocations: a, segmentSpans: s }: Replay, t: number) {
  const sum = (live: readonly number[], of: (row: number) => number) =>
    live.reduce((total, row) => total + (Number.isNaN(of(row)) ? 0 : of(row)), 0);
  const live = rows(a.length, (i) => a.start[i] <= t && t < a.end[i]);
  const allocated = live.filter((i) => t < a.freeRequested[i]);
  const mapped = rows(s.length, (i) => s.start[i] <= t && t < s.end[i]);
  return {
    requestedBytes: sum(live, (i) => a.requestedBytes[i]),
    allocatedBytes: sum(allocated, (i) => a.sizeBytes[i]),
    activeBytes: sum(live, (i) => a.sizeBytes[i]),
    reservedBytes: sum(mapped, (i) => s.sizeBytes[i]),
  };
}

/** fillCounter for all counters, as one object per event. */
function filledCounters(replay: Replay, length: number) {
  const columns = COUNTER_NAMES.map((name) => {
    const out = new Float64Array(length);
    replay.fillCounter(name, 0, out);
    return [name, out] as const;
  });
  return Array.from({ length }, (_, t) =>
    Object.fromEntries(columns.map(([name, out]) => [name, out[t]])),
  );
}

/** The trace as a recording that began at event `from` would contain it. */
function cutFront(trace: DeviceTrace, from: number): DeviceTrace {
  const { events } = trace;
  const cut = <T extends Column>(column: T) => column.subarray(from) as T;
  return {
    ...trace,
    events: {
      ...events,
      length: events.length - from,
      action: cut(events.action),
      address: cut(events.address),
      sizeBytes: cut(events.sizeBytes),
      stream: cut(events.stream),
      stack: cut(events.stack),
    },
  };
}
