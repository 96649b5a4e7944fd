/** The whole card in the account and in the verdict: with made-up ledgers, and without one. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sumBy } from '../../base/collections.ts';
import type { LedgerSample, MemoryLedger } from '../../format/snapshot/tables.ts';
import { contextsOf } from '../../testing/contexts.ts';
import { snapshotFromText } from '../../testing/snapshot-from-text.ts';
import { gib, SIX_GROUPS, sampleOf, withLedger } from '../../testing/with-ledger.ts';
import { analyse } from '../findings/analyse.ts';

/** 8 GiB stay, then 2 GiB are refused: 10 us between events, the OOM at 40 us. */
const FAILING = snapshotFromText(`
  +A 4Gi @train.py:10 build < main.py:1 main
  +B 4Gi @train.py:11 build < main.py:1 main
  oom 2Gi free=1073741824 @train.py:20 step < main.py:1 main`);

const OOM_US = 1000 + 10 * FAILING.eventOf('oom') - FAILING.snapshot.startUs;

const analysed = (samples: readonly LedgerSample[], missing?: MemoryLedger['missing']) =>
  analyse(contextsOf(withLedger(FAILING.snapshot, samples, missing))[0]);

/** At the OOM: PyTorch has 8 GiB, and 1 GiB is free. */
const AT_OOM = {
  timeUs: OOM_US + 3,
  moment: 'oom',
  freeBytes: gib(1),
  allocatedBytes: gib(8),
  reservedBytes: gib(8),
} as const;

describe('the account of an OOM', () => {
  it('has the card of the sample that was taken then', async () => {
    const { account } = await analysed([
      sampleOf({ timeUs: OOM_US - 20 }),
      sampleOf({ ...AT_OOM, processBytes: gib(9), others: [{ pid: 577, bytes: gib(70) }] }),
      // The error has been handled since.
      sampleOf({ timeUs: OOM_US + 500, moment: 'dump' }),
    ]);
    expect(account.card?.sample?.moment).toBe('oom');
    expect(account.card?.rows.map(({ kind, bytes }) => [kind, bytes])).toEqual([
      ['allocated', gib(8)],
      ['cached', 0],
      ['process-rest', gib(1)],
      ['others', gib(70)],
      ['free', gib(1)],
    ]);
    expect(account.card?.unknown).toEqual([]);
  });

  it('has the nearest sample before it, and how long before', async () => {
    const { account } = await analysed([
      sampleOf({ timeUs: OOM_US - 20, step: 3, moment: 'step' }),
      sampleOf({ timeUs: OOM_US + 500, moment: 'dump' }),
    ]);
    expect(account.card).toMatchObject({ sample: { step: 3 }, ageUs: 20 });
  });

  it('of a file without a ledger has what the OOM says, and no guess', async () => {
    const { account } = await analyse(contextsOf(FAILING.snapshot)[0]);
    expect(account.card).toMatchObject({
      sample: undefined,
      rows: [
        { kind: 'allocated', bytes: gib(8) },
        { kind: 'cached', bytes: 0 },
        { kind: 'free', bytes: gib(1) },
      ],
      unknown: [
        "We can't tell what other processes and this process outside PyTorch hold, because the file has no ledger: record with vramscope.record().",
      ],
    });
  });

  it('says why what is outside PyTorch is not told apart', async () => {
    const { account, verdict } = await analysed([sampleOf(AT_OOM)], {
      process: 'nvidia-ml-py is not installed',
      communicators: 'NCCL 2.27 does not say',
    });
    expect(account.card?.unknown).toEqual([
      "We can't tell other processes and this process outside PyTorch apart, because nvidia-ml-py is not installed.",
      "We can't tell how much NCCL and other collectives hold, because NCCL 2.27 does not say.",
    ]);
    expect(verdict.also).toContain(
      "Other processes and this process outside PyTorch hold 71.00 GiB; we can't tell them apart, because nvidia-ml-py is not installed.",
    );
  });

  it('adds up, inside the allocator and over the card, whatever the ledger says', async () => {
    const [plain] = contextsOf(FAILING.snapshot);
    const without = await analyse(plain);
    const bytes = fc.integer({ min: 0, max: gib(40) });
    const others = fc.array(fc.record({ pid: fc.nat(), bytes }), { maxLength: 3 });
    await fc.assert(
      fc.asyncProperty(
        fc.record(
          { freeBytes: fc.integer({ min: 0, max: gib(80) }), processBytes: bytes, others },
          { requiredKeys: ['freeBytes'] },
        ),
        fc.integer({ min: -100, max: 100 }),
        async (own, laterUs) => {
          const sample = sampleOf({ ...own, timeUs: OOM_US + laterUs });
          const { account, accountAtEnd } = await analysed([sample]);
          expect(account.entries).toEqual(without.account.entries);
          expect(sumBy(account.entries, (entry) => entry.bytes)).toBe(account.reservedBytes);
          for (const { card } of [account, accountAtEnd]) {
            if (card?.sample === undefined) continue;
            expect(sumBy(card.rows, (row) => row.bytes)).toBe(gib(80));
          }
        },
      ),
      { numRuns: 40 },
    );
  });
});

describe('the verdict', () => {
  it('names the process that has the card, and how much ending it gives back', async () => {
    const { verdict } = await analysed([
      sampleOf({ ...AT_OOM, processBytes: gib(9), others: [{ pid: 577, bytes: gib(70) }] }),
    ]);
    expect(verdict).toMatchObject({
      cause: 'other-processes',
      bytes: gib(70),
      brief: 'Out of memory: other processes hold 70.00 GiB.',
      text: "Out of memory: another process (PID 577) holds 70.00 GiB of this GPU's 80.00 GiB, and 2.00 GiB did not fit in the rest.",
      advice: [{ id: 'free-the-device', savesBytes: gib(70), isEnough: true }],
    });
  });

  it('says how much of the card NCCL has', async () => {
    const big = SIX_GROUPS.map((group) => ({ ...group, bytes: 3 * group.bytes }));
    const { verdict } = await analysed([
      sampleOf({ ...AT_OOM, processBytes: gib(79), others: [], communicators: big }),
    ]);
    // Rest: 79 - 8 - 28.5 GiB, which is more than NCCL has.
    expect(verdict.cause).toBe('process-rest');
    expect(verdict.also).toContain('28.50 GiB of this card is NCCL, in 6 groups.');
    const { verdict: other } = await analysed([
      sampleOf({
        ...{ ...AT_OOM, freeBytes: gib(40), processBytes: gib(40), others: [] },
        communicators: big,
      }),
    ]);
    expect(other.cause).toBe('collectives');
    expect(other.text).toBe(
      'Out of memory: 28.50 GiB of this card is NCCL, in 6 groups, and 2.00 GiB more did not fit in the rest.',
    );
    expect(other.advice.map(({ id }) => id)).toEqual(['fewer-groups', 'smaller-collectives']);
  });

  it('does not take NCCL for another process where nothing tells processes apart', async () => {
    const big = SIX_GROUPS.map((group) => ({ ...group, bytes: 7 * group.bytes }));
    const { verdict } = await analysed([sampleOf({ ...AT_OOM, communicators: big })]);
    expect(verdict.cause).not.toBe('other-processes');
    expect(verdict.also).toContain('66.50 GiB of this card is NCCL, in 6 groups.');
  });

  it('says what a pool that sleeps has given back', async () => {
    const { verdict } = await analysed([
      sampleOf({ ...AT_OOM, freeBytes: gib(70), processBytes: gib(3), others: [] }),
    ]);
    expect(verdict.also).toContain(
      '5.00 GiB that PyTorch counts as reserved is not on the card: it was freed behind the allocator, as pools that sleep are.',
    );
  });

  it('says how old a sample is', async () => {
    const { verdict } = await analysed([
      sampleOf({
        timeUs: OOM_US - 20,
        processBytes: gib(10),
        others: [{ pid: 1, bytes: gib(60) }],
      }),
    ]);
    expect(verdict.text).toContain('another process (PID 1) holds 60.00 GiB');
  });
});
