import { describe, expect, it } from 'vitest';
import { emitPickle } from '../../testing/fuzz/emit-pickle.ts';
import { Dict, dict, list, type Py, Seq } from '../../testing/fuzz/py-values.ts';
import { join } from '../../testing/write-pickle.ts';
import { decodeSnapshot, encodeSnapshot } from '../snapshot-file/compact-snapshot.ts';
import { prune } from '../snapshot-file/prune.ts';
import { SnapshotDecoder } from './decoder.ts';
import { snapshotFromValue, withBeside } from './from-value.ts';
import type { LedgerSample } from './tables.ts';

const START = 1_700_000_000_000_000;
const GIB = 2 ** 30;

const plain = {
  time_us: START - 5,
  device: 0,
  moment: 'start',
  free: 100 * GIB,
  total: 140 * GIB,
  allocated: 10 * GIB + 1,
  reserved: 12 * GIB,
};
const whole = {
  ...plain,
  time_us: START + 7,
  moment: 'step',
  step: 12,
  process: 20 * GIB,
  others: [{ pid: 7, bytes: 20 * GIB }],
  context: 512,
  communicators: [{ group: 'tp', backend: 'nccl', bytes: GIB }],
  pools: [
    { pool: [0, 1], reserved: 2 * GIB, allocated: GIB },
    { pool: [3, 0], reserved: 5 },
  ],
  'from a newer version': [1],
};
const ledger = { version: 1, samples: [whole, plain], missing: { process: 'no NVML', odd: 3 } };

const PLAIN: LedgerSample = {
  timeUs: -5,
  device: 0,
  moment: 'start',
  freeBytes: 100 * GIB,
  totalBytes: 140 * GIB,
  allocatedBytes: 10 * GIB + 1,
  reservedBytes: 12 * GIB,
};
const READ = {
  samples: [
    PLAIN,
    {
      ...PLAIN,
      timeUs: 7,
      moment: 'step',
      step: 12,
      processBytes: 20 * GIB,
      others: [{ pid: 7, bytes: 20 * GIB }],
      contextBytes: 512,
      communicators: [{ group: 'tp', backend: 'nccl', bytes: GIB }],
      pools: [
        { id: [0, 1], reservedBytes: 2 * GIB, allocatedBytes: GIB },
        { id: [3, 0], reservedBytes: 5 },
      ],
    },
  ],
  missing: { process: 'no NVML' },
};

const event = { action: 'alloc', addr: 512, size: 512, stream: 0, time_us: START, frames: [] };
const withLedger = (memory_ledger: unknown) =>
  snapshotFromValue({ segments: [], device_traces: [[event]], memory_ledger });

/** A dictionary's lists of two numbers become tuples, as the recorder writes pools. */
function toPy(value: unknown): Py {
  if (typeof value === 'number') return BigInt(value);
  if (typeof value === 'string') return value;
  if (!Array.isArray(value)) {
    return new Dict(Object.entries(Object(value)).map(([key, item]) => [key, toPy(item)]));
  }
  const items = value.map(toPy);
  return typeof value[0] === 'number' ? new Seq('tuple', items) : list(...items);
}

describe('the ledger of a pickle', () => {
  const value = dict({
    segments: list(),
    device_traces: list(list(toPy(event))),
    memory_ledger: toPy(ledger),
  });

  it.each([0, 1, 2, 4, 5] as const)(
    'is the same in protocol %i, however it arrives',
    (protocol) => {
      for (const hasMemo of [true, false]) {
        const bytes = join(...emitPickle(value, { protocol, hasMemo, batch: hasMemo ? 1000 : 0 }));
        for (const size of [1, 7, bytes.length]) {
          const decoder = new SnapshotDecoder();
          for (let at = 0; at < bytes.length; at += size)
            decoder.push(bytes.subarray(at, at + size));
          const { ledger: found, warnings, devices } = decoder.finish();
          expect(found).toEqual(READ);
          expect(warnings).toEqual([]);
          expect(devices[0].events.length).toBe(1);
        }
      }
    },
  );

  it('is kept in reports', () => {
    const shared = prune(withLedger(ledger), { paths: 'last-two', stacks: false, holders: false });
    expect(decodeSnapshot(encodeSnapshot(shared)).snapshot.ledger).toEqual(READ);
  });
});

describe('a broken ledger is a warning', () => {
  const codes = (memory_ledger: unknown) => {
    const { ledger: found, warnings, devices } = withLedger(memory_ledger);
    expect(devices[0].events.length).toBe(1);
    const bad = warnings.filter(({ message }) => message.includes("'memory_ledger'"));
    return { samples: found?.samples.length, bad: bad.map(({ message }) => parseInt(message, 10)) };
  };

  it.each([
    null,
    3,
    'x',
    [],
    [1],
    { version: 2, samples: [] },
    { version: 1 },
    { version: 1, samples: 1 },
  ])('as a whole: %j', (value) => expect(codes(value)).toEqual({ samples: undefined, bad: [1] }));

  it.each([
    ['time_us', 'now'],
    ['time_us', undefined],
    ['time_us', 1e300],
    ['time_us', true],
    ['device', -1],
    ['device', 1e9],
    ['free', -1],
    ['free', 0.5],
    ['free', 141 * GIB],
    ['total', 2 ** 53],
    ['total', '140'],
    ['allocated', 13 * GIB],
    ['reserved', true],
    ['reserved', {}],
  ])('in a sample: %s is %j', (key, value) => {
    const samples = [plain, { ...plain, [key]: value }, 5];
    expect(codes({ version: 1, samples })).toEqual({ samples: 1, bad: [2] });
  });

  it.each([
    ['process', -1],
    ['context', 1.5],
    ['others', 7],
    ['others', [{ pid: 7 }]],
    [
      'others',
      [
        { pid: 7, bytes: 1 },
        { pid: -7, bytes: 1 },
      ],
    ],
    ['communicators', [{ backend: 'nccl', bytes: 1 }]],
    ['communicators', Array.from({ length: 257 }, () => whole.communicators[0])],
    ['pools', [{ pool: [0], reserved: 1 }]],
    ['pools', [{ pool: [0, 'x'], reserved: 1 }]],
    ['pools', [{ pool: [0, 1], reserved: -1 }]],
  ])('in a field, which is then unknown: %s', (key, value) => {
    const { samples } =
      withLedger({ version: 1, samples: [{ ...plain, [key]: value }] }).ledger ?? {};
    expect(samples).toEqual([PLAIN]);
    expect(codes({ version: 1, samples: [{ ...plain, [key]: value }] }).bad).toEqual([1]);
  });

  it('reads None as unknown, and an unknown moment as any moment', () => {
    const sample = { ...plain, process: null, others: null, moment: 'nightfall', step: -2 };
    const { ledger: found, warnings } = withLedger({ version: 1, samples: [sample] });
    expect(found?.samples).toEqual([{ ...PLAIN, moment: 'interval' }]);
    expect(warnings).toEqual([]);
  });
});

describe('a ledger beside the snapshot', () => {
  const bare = withLedger(undefined);
  const text = JSON.stringify(ledger);

  it('is read as if it were inside, by the clock of the events', () => {
    const { ledger: none, ...others } = withLedger({});
    expect(none).toBeUndefined();
    const found = withBeside({ ...bare, warnings: [] }, { ledger: text });
    expect(found.ledger).toEqual(READ);
    expect(found.warnings).toEqual([]);
    expect(found.devices).toEqual(others.devices);
  });

  it('does not replace one that is inside', () => {
    const own = withLedger({ version: 1, samples: [] });
    expect(withBeside(own, { ledger: text }).ledger?.samples).toEqual([]);
  });

  it.each(['', '{"version": 1', '{"version": 2, "samples": []}', '[]', 'null'])(
    'cannot be read: %s',
    (broken) => {
      const { ledger: found, warnings } = withBeside(bare, { ledger: broken });
      expect(found).toBeUndefined();
      expect(warnings.at(-1)?.message).toContain('.ledger.json');
    },
  );

  it('says what in it is wrong', () => {
    const half = JSON.stringify({ version: 1, samples: [plain, { ...plain, free: -1 }] });
    const { ledger: found, warnings } = withBeside(bare, { ledger: half });
    expect(found?.samples).toHaveLength(1);
    expect(warnings.at(-1)?.message).toContain("'memory_ledger'");
  });
});
