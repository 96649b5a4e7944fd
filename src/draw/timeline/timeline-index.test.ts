import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { CounterName } from '../../allocator/replay/types.ts';
import { randomTrace, syntheticReplay } from '../../testing/synthetic-replay.ts';
import { counterOverview } from './columns.ts';
import { CounterBlocks } from './counter-blocks.ts';
import { MaxEndPyramid } from './max-end-pyramid.ts';
import { SampledTimes, TimelineIndex } from './timeline-index.ts';

describe('MaxEndPyramid', () => {
  test('collects what a scan of all ends finds, from any id to any id', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat(50), fc.nat(120)), { maxLength: 60, size: 'max' }),
        fc.nat(50),
        fc.nat(),
        fc.nat(),
        (runs, state, a, b) => {
          // Runs of equal ends: whole nodes of 16, 256 and 4,096 ids are dead or alive.
          const end = Int32Array.from(runs.flatMap(([value, n]) => new Array(n).fill(value)));
          const from = Math.min(a % (end.length + 1), b % (end.length + 1));
          const to = Math.max(a % (end.length + 1), b % (end.length + 1));
          const expected: number[] = [];
          for (let id = from; id < to; id++) if (end[id] > state) expected.push(id);
          const out = new Int32Array(to - from);
          const count = new MaxEndPyramid(end).collect(state, from, to, out);
          expect([...out.subarray(0, count)]).toEqual(expected);
        },
      ),
      { numRuns: 300, endOnFailure: true },
    );
  });
});

describe('CounterBlocks', () => {
  test('finds highest, lowest and first highest of any range', () => {
    const lives = Array.from({ length: 300 }, (_, i) => ({
      start: i * 2,
      end: i * 2 + 3 + ((i * 37) % 50),
      sizeBytes: 1 + ((i * 7919) % 5),
    }));
    const count = 700;
    const replay = syntheticReplay(lives, count);
    const blocks = new CounterBlocks(replay, 'activeBytes', count);
    const values = new Float64Array(count);
    replay.fillCounter('activeBytes', 0, values);
    fc.assert(
      fc.property(fc.nat(count - 1), fc.nat(count - 1), (a, b) => {
        const first = Math.min(a, b);
        const range = values.subarray(first, Math.max(a, b) + 1);
        const { max, min, argmax } = blocks.scan(first, Math.max(a, b));
        expect(max).toBe(Math.max(...range));
        expect(min).toBe(Math.min(...range));
        expect(argmax).toBe(first + range.indexOf(max));
      }),
      { numRuns: 500 },
    );
  });
});

describe('TimelineIndex', () => {
  test('knows the next id of every state', () => {
    fc.assert(
      fc.property(randomTrace, (trace) => {
        const index = new TimelineIndex(trace.replay, trace.eventCount);
        const { start } = trace.replay.allocations;
        for (let state = -1; state < trace.eventCount; state++) {
          expect(index.nextId(state)).toBe(start.filter((event) => event <= state).length);
        }
      }),
      { numRuns: 60, endOnFailure: true },
    );
  });

  test('shows every peak in the overview, by event and by time', () => {
    fc.assert(
      fc.property(randomTrace, fc.integer({ min: 1, max: 30 }), (trace, width) => {
        const index = new TimelineIndex(trace.replay, trace.eventCount, trace.timeUs);
        const names: CounterName[] = ['activeBytes', 'reservedBytes'];
        for (const name of names) {
          const values = new Float64Array(trace.eventCount);
          trace.replay.fillCounter(name, 0, values);
          for (const axis of ['event', 'time'] as const) {
            const columns = counterOverview(index, name, axis, width);
            expect(Math.max(...columns)).toBe(Math.max(...values));
          }
        }
      }),
      { numRuns: 60, endOnFailure: true },
    );
  });
});

describe('SampledTimes', () => {
  test('finds events by time as a scan does', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(3), { minLength: 1, maxLength: 300, size: 'max' }), (gaps) => {
        const timeUs = new Float64Array(gaps.length);
        for (let i = 0, now = 1.7e15; i < gaps.length; i++) timeUs[i] = now += gaps[i];
        const times = new SampledTimes(timeUs);
        for (let at = -2; at < times.durationUs + 3; at++) {
          const since = timeUs.map((time) => time - timeUs[0]);
          expect(times.countBefore(at)).toBe(since.filter((time) => time < at).length);
          expect(times.eventAt(at)).toBe(since.filter((time) => time <= at).length - 1);
        }
      }),
      { numRuns: 60, endOnFailure: true },
    );
  });
});
