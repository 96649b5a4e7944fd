import { expect, test } from 'vitest';
import { allCaptureNames, isRepeated, loadCapture } from '../../testing/captures.ts';
import { contextOf, contextsOf, traceOf } from '../../testing/contexts.ts';
import { type Share, traceFacts } from './trace-facts.ts';

const sum = (shares: readonly Share[], of: (share: Share) => number) =>
  shares.reduce((total, share) => total + of(share), 0);

test.each(allCaptureNames().filter((name) => !isRepeated(name)))(
  '%s: every grouping adds up to the peak and the end',
  (name) => {
    for (const context of contextsOf(loadCapture(name))) {
      const { replay } = context;
      const facts = traceFacts(context);
      for (const shares of [facts.stackKinds, facts.streams, facts.pools]) {
        expect(sum(shares, ({ allocations }) => allocations)).toBe(replay.allocations.length);
        expect(sum(shares, ({ endBytes }) => endBytes)).toBe(replay.end.activeBytes);
        expect(sum(shares, ({ peakBytes }) => peakBytes)).toBe(replay.peaks.activeBytes.bytes);
      }
    }
  },
);

test('backward threads have no Python stack, and earlier blocks no recorded one', () => {
  const [context] = contextsOf(loadCapture('train_recorded_late.pickle.gz'));
  const kinds = traceFacts(context).stackKinds;
  expect(kinds.map(({ kind }) => kind)).toEqual([
    'recorded',
    'C++-only',
    'no-python-stack',
    'no-context',
    'before-recording',
  ]);
  const [recorded, cppOnly, noPython, noContext, before] = kinds;
  expect(recorded.allocations).toBeGreaterThan(0);
  expect(cppOnly.allocations).toBe(0);
  expect(noPython.allocations).toBeGreaterThan(0);
  expect(noContext.allocations).toBe(0);
  expect(before.allocations).toBe(context.replay.allocations.preexisting);
});

test('of a recording with C++ frames, backward threads have only these', () => {
  const [context] = contextsOf(loadCapture('default_stacks/leak_loss_graph.pickle.gz'));
  const [recorded, cppOnly] = traceFacts(context).stackKinds;
  expect(recorded.allocations).toBeGreaterThan(0);
  expect(cppOnly.allocations).toBeGreaterThan(0);
});

test('private pools and streams are named as the user knows them', () => {
  const [graphs] = contextsOf(loadCapture('cuda_graph_pool.pickle.gz'));
  const pools = traceFacts(graphs).pools.map(({ pool }) => pool);
  expect(pools).toContain('default');
  expect(pools.some((pool) => /^\(\d+, \d+\)$/.test(pool))).toBe(true);
  const [streams] = contextsOf(loadCapture('streams_record_stream.pickle.gz'));
  expect(traceFacts(streams).streams.map(({ stream }) => stream)).toContain('0');
});

test('whether events were dropped is what the recording shows, if the file does not say it', () => {
  const dropped = (name: string) => {
    const [context] = contextsOf(loadCapture(name));
    const trace = { ...context.trace, ringOverflowed: undefined };
    return traceFacts({ ...context, trace }).ringOverflowed;
  };
  expect(dropped('train_gpt_small.pickle.gz')).toBe(false);
  expect(dropped('train_ring_truncated.pickle.gz')).toBe(true);
  expect(dropped('train_recorded_late.pickle.gz')).toBeUndefined();
});

test('columns that no event has are listed as missing', () => {
  const alloc = { action: 'alloc', addr: 512, size: 512 };
  const missing = (value: unknown) =>
    traceFacts(contextOf(value))
      .columns.filter(({ isRecorded }) => !isRecorded)
      .map(({ label }) => label);
  expect(missing(traceOf(alloc))).toContain('categories');
  expect(missing(traceOf({ ...alloc, category: 'gradient' }))).not.toContain('categories');
});
