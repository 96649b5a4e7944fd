/** Ledgers that `vramscope.record` wrote on an H200, against what the programs measured themselves: fixtures/capture/ledger.py. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { type LedgerRow, type LedgerSample, ledgerRows } from '../device/model/ledger.ts';
import type { MemoryLedger, Snapshot } from '../format/snapshot/tables.ts';
import { openSnapshot } from './open-snapshot.ts';

interface Truth {
  readonly name: string;
  readonly from_us: number;
  readonly to_us: number;
  readonly free: number;
  readonly total: number;
  readonly process: number;
  readonly others: number;
  readonly allocated: number;
  readonly reserved: number;
  /** By id: reserved and allocated. */
  readonly pools?: Readonly<Record<string, readonly [number, number]>>;
}

const GIB = 2 ** 30;
const FOLDER = 'fixtures/record/ledger';
const truthOf = (name: string): Truth[] =>
  JSON.parse(readFileSync(`${FOLDER}/${name}.truth.json`, 'utf8'));

async function open(name: string): Promise<{ snapshot: Snapshot; ledger: MemoryLedger }> {
  const { snapshot } = await openSnapshot(process, `${FOLDER}/${name}.pickle.gz`, {});
  const { ledger } = snapshot;
  if (ledger === undefined) throw new Error(`${name} has no ledger`);
  expect(snapshot.warnings.filter(({ code }) => code !== 'window')).toEqual([]);
  return { snapshot, ledger };
}

const bytesOf = (rows: readonly LedgerRow[], kind: LedgerRow['kind']): number =>
  rows.filter((row) => row.kind === kind).reduce((sum, { bytes }) => sum + bytes, 0);

const PROGRAMS = ['card', 'beside', 'oom', 'ranks-rank0', 'ranks-rank1'];

describe.each(PROGRAMS)('%s', (name) => {
  test('each row is what the program measured at that time, to the byte', async () => {
    const { snapshot, ledger } = await open(name);
    let found = 0;
    for (const { from_us, to_us, ...truth } of truthOf(name)) {
      const during = ledger.samples.filter(({ timeUs }) => {
        const clock = timeUs + snapshot.startUs;
        return clock >= from_us && clock <= to_us;
      });
      // Until the first collective, the other rank may still change while this one measures.
      const steady = during.filter(({ freeBytes }) => freeBytes === truth.free);
      if (steady.length > during.length / 3) found++;
      for (const sample of steady) {
        const rows = ledgerRows(sample, ledger.missing);
        const inPools = bytesOf(rows, 'pool');
        expect({
          free: bytesOf(rows, 'free'),
          reserved: bytesOf(rows, 'allocated') + bytesOf(rows, 'cached') + inPools,
          allocated: sample.allocatedBytes,
          rest: bytesOf(rows, 'process-rest'),
          others: bytesOf(rows, 'others'),
          total: rows.reduce((sum, { bytes }) => sum + bytes, 0),
        }).toEqual({
          free: truth.free,
          reserved: truth.reserved,
          allocated: truth.allocated,
          rest: truth.process - truth.reserved,
          others: truth.others,
          total: truth.total,
        });
        expect(rows.map(({ kind }) => kind)).not.toContain('behind-allocator');
      }
    }
    expect(found).toBeGreaterThanOrEqual(truthOf(name).length - (name.startsWith('ranks') ? 1 : 0));
  });

  test('what is not explained is the driver’s own: under 16 MB, and under 1% from 1.5 GiB of use on', async () => {
    const { ledger } = await open(name);
    for (const sample of ledger.samples.filter(({ processBytes = 0 }) => processBytes > 0)) {
      const unexplained = bytesOf(ledgerRows(sample, ledger.missing), 'unexplained');
      const used = sample.totalBytes - sample.freeBytes;
      expect(unexplained).toBeGreaterThanOrEqual(0);
      expect(unexplained).toBeLessThan(16e6);
      expect(unexplained / used).toBeLessThan(used > 1.5 * GIB ? 0.01 : 0.03);
    }
  });
});

test('another process that allocates 3 GiB is a row that grows by 3 GiB and its context', async () => {
  const { snapshot, ledger } = await open('card');
  const context = ledger.samples.find(({ moment }) => moment === 'init')?.contextBytes ?? 0;
  const largest = Math.max(
    ...ledger.samples.map((sample) => bytesOf(ledgerRows(sample, ledger.missing), 'others')),
  );
  expect(largest).toBe(3 * GIB + context);
  const [first] = ledger.samples;
  expect(first).toMatchObject({ moment: 'start', processBytes: 0, others: [], reservedBytes: 0 });
  expect(first.timeUs).toBeLessThan(0);
  expect(ledger.samples.filter(({ moment }) => moment === 'step')).toHaveLength(3);
  expect(snapshot.devices[0].events.length).toBeGreaterThan(0);
});

test('the pools of a graph and of a MemPool are rows of the dump', async () => {
  const { ledger } = await open('card');
  const { pools = {} } = truthOf('card').at(-1) ?? {};
  const dump = ledger.samples.at(-1) as LedgerSample;
  expect(dump.moment).toBe('dump');
  const rows = ledgerRows(dump, ledger.missing);
  const found = rows.flatMap((row) =>
    row.kind === 'pool' ? [[`(${row.id.join(', ')})`, [row.bytes, row.allocatedBytes]]] : [],
  );
  const [reserved = 0, allocated = 0] = pools['(0, 0)'] ?? [];
  expect({ ...Object.fromEntries(found), '(0, 0)': [reserved, allocated] }).toEqual(pools);
  expect(bytesOf(rows, 'allocated')).toBe(allocated);
  expect(bytesOf(rows, 'cached')).toBe(reserved - allocated);
});

test('a sample inside the failing request has what the allocator’s event says', async () => {
  for (const name of ['oom', 'oom.oom']) {
    const { snapshot, ledger } = await open(name);
    const [sample, ...others] = ledger.samples.filter(({ moment }) => moment === 'oom');
    expect(others).toEqual([]);
    const [[event, free]] = snapshot.devices[0].events.oomDeviceFreeBytes;
    expect(sample.freeBytes).toBe(free);
    const eventUs = snapshot.devices[0].events.timeUs?.[event] ?? 0;
    expect(Math.abs(sample.timeUs - eventUs)).toBeLessThan(1e5);
  }
});

test('ranks on one card: each new communicator adds to the process’s rest, and the file says why it has no row', async () => {
  for (const rank of [0, 1]) {
    const { ledger } = await open(`ranks-rank${rank}`);
    const rests = truthOf(`ranks-rank${rank}`).map(({ process: own, reserved }) => own - reserved);
    expect(rests).toEqual([...rests].sort((a, b) => a - b));
    expect((rests.at(-1) ?? 0) - rests[0]).toBeGreaterThan(300e6);
    expect(ledger.missing.communicators).toContain('NCCL 2.28.9');
    expect(ledger.missing.communicators).toContain('default_pg, group 1, group 2, group 3');
  }
});
