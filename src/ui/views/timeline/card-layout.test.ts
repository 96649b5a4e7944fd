import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cardHistory } from '../../../device/model/card.ts';
import { deviceInfo } from '../../../testing/device-info.ts';
import { snapshotFromText } from '../../../testing/snapshot-from-text.ts';
import { gib, SIX_GROUPS, sampleOf, withLedger } from '../../../testing/with-ledger.ts';
import { cardColumns, cardLayout } from './card-layout.ts';

const { snapshot } = snapshotFromText(
  Array.from({ length: 40 }, (_, i) => `+A${i} 512`).join('\n'),
);
const [trace] = snapshot.devices;
const firstUs = trace.events.timeUs?.[0] ?? 0;
const { length } = trace.events;
const device = deviceInfo({ events: length, durationUs: 10 * (length - 1), hasTime: true });

function layoutOf(samples: Parameters<typeof sampleOf>[0][], axis: 'event' | 'time' = 'event') {
  const placed = samples.map((own) => sampleOf({ ...own, timeUs: (own.timeUs ?? 0) + firstUs }));
  const history = cardHistory({ snapshot: withLedger(snapshot, placed), trace });
  if (history === undefined) throw new Error('no ledger');
  return cardLayout(history, axis, device);
}

describe('the stack', () => {
  it('is as high as the card, with every row as tall as its bytes', () => {
    const others = fc.array(fc.record({ pid: fc.nat(), bytes: fc.nat(gib(90)) }), { maxLength: 2 });
    const own = fc.record(
      {
        freeBytes: fc.nat(gib(80)),
        processBytes: fc.nat(gib(80)),
        others,
        communicators: fc.constant(SIX_GROUPS),
      },
      { requiredKeys: ['freeBytes'] },
    );
    fc.assert(
      fc.property(fc.array(own, { minLength: 1, maxLength: 4 }), (samples) => {
        const { bands, ...layout } = layoutOf(samples.map((one, i) => ({ ...one, timeUs: i })));
        for (const [at, { totalBytes }] of layout.samples.entries()) {
          const heights = bands.map(({ edges }) => edges[at] ?? [0, 0]);
          const [lowest, highest] = [
            Math.min(...heights.map(([low]) => low)),
            Math.max(...heights.map(([, high]) => high)),
          ];
          // What is below the line was counted above it too.
          expect(highest + lowest).toBe(totalBytes);
          expect(layout.lowestBytes).toBeLessThanOrEqual(lowest);
          expect(layout.highestBytes).toBeGreaterThanOrEqual(highest);
        }
      }),
    );
  });

  it('puts what was freed behind the allocator below the line', () => {
    const { bands, lowestBytes, highestBytes } = layoutOf([
      { freeBytes: gib(77), processBytes: gib(3), others: [] },
    ]);
    const behind = bands.find(({ kind }) => kind === 'behind-allocator');
    expect([...(behind?.edges[0] ?? [])]).toEqual([-gib(7), 0]);
    expect([lowestBytes, highestBytes]).toEqual([-gib(7), gib(87)]);
  });

  it('keeps groups in their order from sample to sample', () => {
    const { bands } = layoutOf([
      { freeBytes: gib(50) },
      { freeBytes: gib(50), communicators: SIX_GROUPS, timeUs: 9 },
    ]);
    expect(bands.map(({ label }) => label)).toEqual([
      'PyTorch, allocated',
      'PyTorch, cached',
      ...SIX_GROUPS.map(({ group }) => `NCCL, group ${group}`),
      'other processes and this process outside PyTorch',
      'free',
    ]);
  });
});

describe('the columns', () => {
  const columnsOf = (times: readonly number[], width: number, free = () => gib(70)) => {
    const layout = layoutOf(
      times.map((timeUs) => ({ timeUs, freeBytes: free() })),
      'time',
    );
    const endX = 10 * (length - 1);
    return cardColumns(layout, (x) => (x / endX) * width, width, endX);
  };

  it('cover the plot from the first sample on, without overlaps', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: -100, max: 1000 }), { minLength: 1, maxLength: 60 }),
        fc.integer({ min: 20, max: 500 }),
        (times, width) => {
          const columns = columnsOf(
            times.toSorted((a, b) => a - b),
            width,
          );
          expect(columns.at(-1)?.right).toBe(width);
          for (const [i, { left, right }] of columns.entries()) {
            expect(right).toBeGreaterThan(left);
            expect(left).toBe(columns[i - 1]?.right ?? left);
          }
        },
      ),
    );
  });

  it('show the fullest of samples that share a pixel', () => {
    let free = 9;
    const columns = columnsOf([100, 100, 101, 101, 300], 40, () => gib(--free === 6 ? 1 : free));
    expect(columns.map(({ sample }) => sample)).toEqual([2, 4]);
  });

  it('have room for the sample of the dump, which comes after the last event', () => {
    expect(columnsOf([0, 5000], 100).at(-1)).toEqual({ left: 98, right: 100, sample: 1 });
  });
});
