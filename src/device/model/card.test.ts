import fc from 'fast-check';
import { expect, it } from 'vitest';
import { snapshotFromText } from '../../testing/snapshot-from-text.ts';
import { sampleOf, withLedger } from '../../testing/with-ledger.ts';
import { cardAt, cardHistory, rowKey, rowLabel, sampleText } from './card.ts';
import { timeOfEventUs } from './events.ts';

/** Twenty events, 10 us apart. */
const { snapshot } = snapshotFromText(
  Array.from({ length: 10 }, (_, i) => `+A${i} 512`).join('\n'),
);
const [trace] = snapshot.devices;
const firstUs = trace.events.timeUs?.[0] ?? 0;

const historyOf = (times: readonly number[]) =>
  cardHistory({
    snapshot: withLedger(
      snapshot,
      times.map((timeUs) => sampleOf({ timeUs: timeUs + firstUs })),
    ),
    trace,
  });

it('gives a moment the last sample that was taken by then', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: -50, max: 150 }), { minLength: 1 }),
      fc.integer({ min: -1, max: trace.events.length - 1 }),
      (unsorted, event) => {
        const times = unsorted.toSorted((a, b) => a - b);
        const history = historyOf(times);
        const found = history && cardAt(history, event, 'peak');
        // A state lasts until the next event.
        const untilUs = timeOfEventUs(trace.events, event + 1);
        const before = Number.isNaN(untilUs) ? times : times.filter((timeUs) => timeUs < untilUs);
        expect(found?.timeUs).toBe(before.at(-1));
      },
    ),
  );
});

it('gives the end the last sample', () => {
  const history = historyOf([0, 20, 10_000]);
  expect(history && cardAt(history, 3, 'end')?.timeUs).toBe(10_000);
});

it('has no history of pinned memory, of another device, and without a ledger', () => {
  expect(cardHistory({ snapshot, trace })).toBeUndefined();
  const own = withLedger(snapshot, [sampleOf({ device: 1 })]);
  expect(cardHistory({ snapshot: own, trace })).toBeUndefined();
  const pinned = withLedger(snapshot, [sampleOf({})]);
  expect(cardHistory({ snapshot: pinned, trace: { ...trace, kind: 'host' } })).toBeUndefined();
});

it('knows only the end of a trace without times', () => {
  const events = { ...trace.events, timeUs: undefined };
  const own = withLedger(snapshot, [sampleOf({}), sampleOf({ moment: 'dump', timeUs: 1e6 })]);
  const history = cardHistory({ snapshot: own, trace: { ...trace, events } });
  expect(history?.samples.map(({ event, moment }) => [event, moment])).toEqual([
    [trace.events.length - 1, 'dump'],
  ]);
});

it('names rows and moments in words', () => {
  expect(rowLabel({ kind: 'communicator', backend: 'nccl', group: 'tp', bytes: 1 })).toBe(
    'NCCL, group tp',
  );
  expect(rowKey({ kind: 'pool', id: [0, 1], bytes: 1, allocatedBytes: 1 })).toBe('pool 0,1');
  expect(sampleText({ moment: 'step', step: 12, event: 4312, timeUs: 2_050_000 })).toBe(
    'at step 12, after event 4,312, 2.05 s',
  );
  expect(sampleText({ moment: 'start', event: -1, timeUs: Number.NaN })).toBe(
    'at the start, before the first event',
  );
});
