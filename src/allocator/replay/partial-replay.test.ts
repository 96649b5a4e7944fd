import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { DeviceTrace } from '../../format/snapshot/tables.ts';
import { allCaptureNames, loadCapture, pairNames } from '../../testing/captures.ts';
import { replaysOf } from '../../testing/contexts.ts';
import { differences } from '../../testing/differences.ts';
import { completePartialReplay, type EventChunk, PartialReplay } from './partial-replay.ts';
import { COUNTER_NAMES, NEVER, type Replay } from './types.ts';

/** Events `first` to before `to` in columns of their own, as they are sent to another thread. */
function chunkOf({ events }: DeviceTrace, first: number, to: number): EventChunk {
  return {
    first,
    length: to - first,
    action: events.action.slice(first, to),
    address: events.address.slice(first, to),
    sizeBytes: events.sizeBytes.slice(first, to),
    stream: events.stream.slice(first, to),
    stack: events.stack.slice(first, to),
    pool: events.pool?.slice(first, to),
  };
}

/** @param expected the announced number of events, which may be wrong */
function feed(
  live: PartialReplay,
  trace: DeviceTrace,
  sizes: readonly number[],
  expected = trace.events.length,
): void {
  for (let at = 0, i = 0; at < trace.events.length; i++) {
    const to = Math.min(trace.events.length, at + (sizes[i % sizes.length] ?? 1));
    live.advance(chunkOf(trace, at, to), expected);
    at = to;
  }
}

/** Everything that a replay returns, including its counters after each event. */
function plain(replay: Replay) {
  const { countersAt, fillCounter, ...tables } = replay;
  const { length } = replay.allocationOfEvent;
  const lines = COUNTER_NAMES.map((name) => {
    const values = new Float64Array(length);
    fillCounter(name, 0, values);
    return values;
  });
  return { ...tables, lines, last: countersAt(length - 1) };
}

const NAMES = [
  ...allCaptureNames(),
  ...pairNames().flatMap((name) => [`${name}.python.pickle.gz`, `${name}.all.pickle.gz`]),
];
const devicesOf = (name: string) => {
  const snapshot = loadCapture(name);
  const { devices, settings } = snapshot;
  return devices
    .map((trace, i) => ({ trace, settings, whole: replaysOf(snapshot)[i] }))
    .filter(({ trace }) => trace.events.length > 0);
};

function deviceOf(name: string) {
  const [device] = devicesOf(name);
  if (device === undefined) throw new Error(`${name} has no events`);
  return device;
}

describe('a trace replayed as its events arrive', () => {
  /** Complete recordings, and how many of them were replayed while they arrived. */
  const seen = { complete: 0, live: 0 };

  it.each(NAMES)('%s: equals the replay of the whole, or is refused', (name) => {
    for (const { trace, settings, whole } of devicesOf(name)) {
      const live = new PartialReplay(trace.segments.length > 0);
      feed(live, trace, [997, 64, 5000]);
      const replay = completePartialReplay(live.finish(), trace, settings);
      // A recording that begins late can only be replayed from its end.
      if (whole.recording !== 'complete' || whole.anomalyCount > 0) expect(replay).toBeUndefined();
      if (replay !== undefined) expect(differences(plain(replay), plain(whole))).toEqual([]);
      seen.complete += Number(whole.recording === 'complete');
      seen.live += Number(whole.recording === 'complete' && replay !== undefined);
    }
  });

  it('succeeds for nearly all complete recordings', () => {
    expect(seen.complete).toBeGreaterThan(NAMES.length / 2);
    expect(seen.live).toBeGreaterThan(seen.complete * 0.8);
  });

  it('is the same for any chunks and any expected length', () => {
    const { trace, settings, ...device } = deviceOf('train_gpt_small.pickle.gz');
    const whole = plain(device.whole);
    const sizes = fc.array(fc.integer({ min: 1, max: 3000 }), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(sizes, fc.nat(20_000), (chunks, expected) => {
        const live = new PartialReplay(true);
        feed(live, trace, chunks, expected);
        const replay = completePartialReplay(live.finish(), trace, settings);
        expect(replay && differences(plain(replay), whole)).toEqual([]);
      }),
      { numRuns: 12 },
    );
  });

  it('agrees with the whole replay about the events so far', () => {
    const { trace, whole } = deviceOf('train_gpt_small.pickle.gz');
    const live = new PartialReplay(true);
    for (const [from, to] of [
      [0, 1],
      [1, 640],
      [640, 3001],
      [3001, 9000],
    ] as const) {
      live.advance(chunkOf(trace, from, to), trace.events.length);
      const { allocations, length, isExact } = live.soFar();
      expect({ length, isExact }).toEqual({ length: to, isExact: true });
      expect(allocations.length).toBe(whole.allocations.start.filter((start) => start < to).length);
      for (let row = 0; row < allocations.length; row++) {
        const end = whole.allocations.end[row];
        expect(allocations.end[row]).toBe(end < to ? end : NEVER);
        expect(allocations.sizeBytes[row]).toBe(whole.allocations.sizeBytes[row]);
      }
      for (const event of [-1, 0, to >> 1, to - 1]) {
        expect(live.countersAt(event)).toEqual(whole.countersAt(event));
      }
    }
  });

  it('notices that earlier memory is missing', () => {
    const { trace, settings } = deviceOf('train_recorded_late.pickle.gz');
    const live = new PartialReplay(trace.segments.length > 0);
    feed(live, trace, [500]);
    expect(live.soFar().isExact).toBe(false);
    expect(completePartialReplay(live.finish(), trace, settings)).toBeUndefined();
  });
});
