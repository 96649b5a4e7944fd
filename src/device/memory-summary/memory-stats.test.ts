import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  COUNTER_NAMES,
  type CounterName,
  type Counters,
  NEVER,
} from '../../allocator/replay/types.ts';
import { runToEnd } from '../../base/task.ts';
import { allocatorProgram } from '../../testing/arbitrary-program.ts';
import {
  allCaptureNames,
  captureNames,
  isRepeated,
  loadCapture,
  truthOf,
} from '../../testing/captures.ts';
import { contextOf, contextsOf, traceOf } from '../../testing/contexts.ts';
import { snapshotFromText } from '../../testing/snapshot-from-text.ts';
import type { DeviceModel } from '../model/device-model.ts';
import {
  type MemoryFigures,
  MemoryStats,
  type StatFigures,
  type StatName,
} from './memory-stats.ts';

/** Our names for the keys of torch.cuda.memory_stats() in the captures' truth. */
const TRUTH_KEYS: Readonly<Record<string, StatName>> = {
  allocated_bytes: 'allocatedBytes',
  active_bytes: 'activeBytes',
  requested_bytes: 'requestedBytes',
  reserved_bytes: 'reservedBytes',
  inactive_split_bytes: 'inactiveSplitBytes',
  allocation: 'allocations',
  segment: 'segments',
};

/** Written before their truth was read: the file lacks what was freed in between. */
const WRITTEN_EARLIER = /^(oom_observer|protocols_p\d)\./;

const tallyOf = (text: string): MemoryStats =>
  new MemoryStats(contextsOf(snapshotFromText(text).snapshot)[0]);

function atEnd(context: DeviceModel): MemoryFigures {
  return runToEnd(new MemoryStats(context).at(context.trace.events.length - 1));
}

function currents({ pools }: MemoryFigures): Counters {
  const current = (name: CounterName) => pools.all[name].current;
  return {
    requestedBytes: current('requestedBytes'),
    allocatedBytes: current('allocatedBytes'),
    activeBytes: current('activeBytes'),
    reservedBytes: current('reservedBytes'),
    inactiveSplitBytes: current('inactiveSplitBytes'),
  };
}

describe.each(captureNames().filter((name) => !WRITTEN_EARLIER.test(name)))('%s', (name) => {
  const contexts = contextsOf(loadCapture(name));
  const { stats } = truthOf(name);

  test('adds up to memory_stats() at the end', () => {
    for (const context of contexts) {
      const truth = stats[context.trace.device];
      if (truth === undefined || context.replay.recording !== 'complete') continue;
      const { all } = atEnd(context).pools;
      for (const [key, stat] of Object.entries(TRUTH_KEYS)) {
        const expected: StatFigures = {
          current: truth[`${key}.all.current`],
          peak: truth[`${key}.all.peak`],
          allocated: truth[`${key}.all.allocated`],
          freed: truth[`${key}.all.freed`],
        };
        expect(all[stat], key).toEqual(expected);
      }
    }
  });
});

test.each(allCaptureNames().filter((name) => !isRepeated(name)))(
  '%s: the pools are the parts of all memory',
  (name) => {
    for (const context of contextsOf(loadCapture(name))) {
      const { replay, trace } = context;
      const tally = new MemoryStats(context);
      const last = trace.events.length - 1;
      for (const event of [-1, 0, Math.floor(last / 3), Math.floor(last / 2), last]) {
        const figures = runToEnd(tally.at(event));
        expect(currents(figures)).toEqual(replay.countersAt(figures.event));
        const { all, large, small } = figures.pools;
        for (const counter of [...COUNTER_NAMES, 'allocations', 'segments'] as const) {
          expect(large[counter].current + small[counter].current).toBe(all[counter].current);
          expect(all[counter].allocated - all[counter].freed).toBe(all[counter].current);
          for (const { current, peak } of [all[counter], large[counter], small[counter]]) {
            expect(current).toBeGreaterThanOrEqual(0);
            expect(peak).toBeGreaterThanOrEqual(current);
          }
        }
      }
      if (last < 0) continue;
      const { isSmall, totalBytes, activeBytes } = trace.segments;
      const sumOf = (column: Float64Array, small: number) =>
        column.reduce((sum, bytes, i) => (isSmall[i] === small ? sum + bytes : sum), 0);
      const { large, small } = runToEnd(tally.at(last)).pools;
      if (replay.anomalyCount > 0) continue;
      expect(small.reservedBytes.current).toBe(sumOf(totalBytes, 1));
      expect(large.reservedBytes.current).toBe(sumOf(totalBytes, 0));
      expect(small.activeBytes.current).toBe(sumOf(activeBytes, 1));
      expect(large.activeBytes.current).toBe(sumOf(activeBytes, 0));
    }
  },
);

test('at any event of any program, the figures are those of a replay that ends there', () => {
  fc.assert(
    fc.property(allocatorProgram([]), fc.nat(), (lines, pick) => {
      const { snapshot, counters } = snapshotFromText(lines.join('\n'));
      const [context] = contextsOf(snapshot);
      const event = pick % (context.trace.events.length + 1);
      const { pools } = runToEnd(new MemoryStats(context).at(event - 1));
      for (const name of COUNTER_NAMES) {
        const { current, peak } = pools.all[name];
        const soFar = counters[0].slice(0, event + 1).map((at) => at[name]);
        expect(current).toBe(soFar.at(-1));
        expect(peak).toBe(Math.max(...soFar));
      }
    }),
    { numRuns: 60 },
  );
});

describe('a trace that began late', () => {
  const text = '+A 512 @a.py:1 f\n+B 3Mi @a.py:2 f\nrecord\n+C 700 @a.py:3 f\n-B';

  test('counts earlier memory once, and says that the figures do not cover the whole process', () => {
    const { isWhole, pools } = runToEnd(tallyOf(text).at(-1));
    expect(isWhole).toBe(false);
    expect(pools.small.allocatedBytes).toEqual({
      current: 512,
      peak: 512,
      allocated: 512,
      freed: 0,
    });
    expect(pools.large.segments.current).toBe(1);
    expect(pools.small.inactiveSplitBytes.current).toBe(2 * 2 ** 20 - 512);
  });

  test('goes on from there', () => {
    const { all, large } = runToEnd(tallyOf(text).at(9)).pools;
    expect(all.allocations).toEqual({ current: 2, peak: 3, allocated: 3, freed: 1 });
    expect(large.allocatedBytes.current).toBe(0);
  });
});

test('events beyond the ends are clamped to the first and last state', () => {
  const tally = tallyOf('+A 512 @a.py:1 f\n-A');
  expect(runToEnd(tally.at(-5)).event).toBe(-1);
  expect(runToEnd(tally.at(10 ** 9))).toEqual(runToEnd(tally.at(3)));
});

test('a trace that contradicts itself keeps its numbers of blocks', () => {
  const alloc = { action: 'alloc', addr: 0x7000, size: 700 };
  const context = contextOf(
    traceOf(alloc, alloc, { ...alloc, action: 'free_completed' }, alloc, {
      ...alloc,
      addr: 0x9000,
    }),
  );
  const { freeRequested, end, length } = context.replay.allocations;
  expect(context.replay.anomalyCount).toBeGreaterThan(0);
  const live = Array.from({ length }, (_, id) => id).filter((id) => end[id] === NEVER);
  const { all } = atEnd(context).pools;
  expect(all.activeAllocations.current).toBe(live.length);
  expect(all.allocations.current).toBe(live.filter((id) => freeRequested[id] === NEVER).length);
});
