import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { LedgerSample } from '../../format/snapshot/tables.ts';
import { windowSnapshot } from '../../output/slice/window-snapshot.ts';
import { contextsOf } from '../../testing/contexts.ts';
import { snapshotFromText } from '../../testing/snapshot-from-text.ts';
import { ledgerRows } from './ledger.ts';

const bytes = fc.integer({ min: 0, max: 2 ** 38 });
/** Whatever the reader lets through. */
const anySample: fc.Arbitrary<LedgerSample> = fc
  .record(
    {
      total: bytes,
      free: bytes,
      reserved: bytes,
      allocated: bytes,
      processBytes: bytes,
      contextBytes: bytes,
      others: fc.array(fc.record({ pid: fc.nat(), bytes }), { maxLength: 3 }),
      communicators: fc.array(
        fc.record({ group: fc.string(), backend: fc.constant('nccl'), bytes }),
        { maxLength: 3 },
      ),
      pools: fc.array(
        fc
          .record({
            low: bytes,
            high: bytes,
            isKnown: fc.boolean(),
            scale: fc.constantFrom(1, 1000),
          })
          .map(({ low, high, isKnown, scale }) => ({
            id: [0, low] as const,
            reservedBytes: Math.floor(Math.max(low, high) / scale),
            ...(isKnown && { allocatedBytes: Math.floor(Math.min(low, high) / scale) }),
          })),
        { maxLength: 3 },
      ),
    },
    { requiredKeys: ['total', 'free', 'reserved', 'allocated'] },
  )
  .map(({ total, free, reserved, allocated, ...known }) => ({
    ...known,
    timeUs: 0,
    device: 0,
    moment: 'interval',
    totalBytes: Math.max(total, free),
    freeBytes: Math.min(total, free),
    reservedBytes: Math.max(reserved, allocated),
    allocatedBytes: Math.min(reserved, allocated),
  }));

test('the rows add up to the card to the byte, whatever the sample says', () => {
  fc.assert(
    fc.property(anySample, (sample) => {
      const rows = ledgerRows(sample);
      expect(rows.reduce((sum, row) => sum + row.bytes, 0)).toBe(sample.totalBytes);
      const signed = ['behind-allocator', 'unexplained'];
      for (const { kind, bytes: own } of rows)
        expect(Number.isSafeInteger(own) && (own >= 0 || signed.includes(kind))).toBe(true);
      const reserved = rows
        .filter(({ kind }) => ['allocated', 'cached', 'pool'].includes(kind))
        .reduce((sum, row) => sum + row.bytes, 0);
      expect(reserved).toBe(sample.reservedBytes);
    }),
  );
});

describe('a card of 1000 bytes', () => {
  const sample: LedgerSample = {
    timeUs: 0,
    device: 0,
    moment: 'dump',
    freeBytes: 400,
    totalBytes: 1000,
    allocatedBytes: 150,
    reservedBytes: 200,
  };
  /** 'allocated 150, cached 50, …' */
  const text = (more: Partial<LedgerSample>, missing = {}) =>
    ledgerRows({ ...sample, ...more }, missing)
      .map(({ kind, bytes: own }) => `${kind} ${own}`)
      .join(', ');

  test('without NVML, what is outside PyTorch is one row, which says why', () => {
    expect(text({})).toBe('allocated 150, cached 50, outside 400, free 400');
    const [, , outside] = ledgerRows(sample, { process: 'nvidia-ml-py is not installed' });
    expect(outside).toMatchObject({ reason: 'nvidia-ml-py is not installed' });
  });

  test('with it, this process and the others are apart', () => {
    expect(text({ processBytes: 250 })).toBe(
      'allocated 150, cached 50, process-rest 50, others 350, free 400',
    );
  });

  test('known zeros are rows', () => {
    expect(text({ processBytes: 200, freeBytes: 800, others: [] })).toBe(
      'allocated 150, cached 50, process-rest 0, others 0, free 800',
    );
  });

  test('what no listed process uses is not explained, and so is what they use too much', () => {
    const others = [
      { pid: 7, bytes: 300 },
      { pid: 8, bytes: 40 },
    ];
    expect(text({ processBytes: 250, others })).toBe(
      'allocated 150, cached 50, process-rest 50, others 340, unexplained 10, free 400',
    );
    expect(text({ processBytes: 270, others })).toContain('others 340, unexplained -10, free 400');
  });

  test('communicators come out of the process’s rest', () => {
    const communicators = [
      { group: 'tp', backend: 'nccl', bytes: 30 },
      { group: 'dp', backend: 'nccl', bytes: 15 },
    ];
    expect(text({ processBytes: 250, communicators })).toBe(
      'allocated 150, cached 50, communicator 30, communicator 15, process-rest 5, others 350, free 400',
    );
    expect(text({ communicators })).toContain('communicator 15, outside 355, free 400');
  });

  test('private pools leave the other rows what is outside them', () => {
    const pools = [
      { id: [0, 1], reservedBytes: 60, allocatedBytes: 50 },
      { id: [1, 0], reservedBytes: 40, allocatedBytes: 0 },
    ] as const;
    expect(text({ pools })).toBe(
      'allocated 100, cached 0, pool 60, pool 40, outside 400, free 400',
    );
    expect(text({ pools: [{ id: [0, 1], reservedBytes: 60 }] })).not.toContain('pool');
    expect(text({ pools: [...pools, pools[1]] })).not.toContain('pool');
  });

  test('reserved beyond the card: freed behind the allocator, signed', () => {
    expect(text({ reservedBytes: 1200, processBytes: 300, freeBytes: 700 })).toBe(
      'allocated 150, cached 1050, process-rest 0, others 0, behind-allocator -900, free 700',
    );
    expect(text({ reservedBytes: 1200, freeBytes: 700 })).toBe(
      'allocated 150, cached 1050, outside 0, behind-allocator -900, free 700',
    );
  });
});

test('a part of a recording has the samples of its time and device', () => {
  const snapshot = snapshotFromText(`+A 512
+B 512
+C 512`).snapshot;
  const at = (timeUs: number, device = 0): LedgerSample => ({
    timeUs,
    device,
    moment: 'interval',
    freeBytes: 0,
    totalBytes: 0,
    allocatedBytes: 0,
    reservedBytes: 0,
  });
  const { length, timeUs } = snapshot.devices[0].events;
  const [first, last] = [timeUs?.[1] ?? 0, timeUs?.[length - 1] ?? 0];
  const samples = [at(-5), at(first), at(first, 1), at(last), at(last + 5)];
  const [context] = contextsOf({ ...snapshot, ledger: { samples, missing: {} } });
  const kept = (from: number, to: number) =>
    windowSnapshot(context, { from, to }).ledger?.samples.map((sample) => sample.timeUs);
  expect(kept(0, length)).toEqual(samples.map((sample) => sample.timeUs));
  expect(kept(1, length - 1)).toEqual([first]);
  expect(kept(0, length - 1)).toEqual([-5, first]);
});
