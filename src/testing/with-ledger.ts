/** Made-up ledgers, for tests of what a card's samples become. */
import type { LedgerSample, MemoryLedger, Snapshot } from '../format/snapshot/tables.ts';

const GIB = 2 ** 30;
export const gib = (count: number): number => count * GIB;

/** A sample of a card of 80 GiB of which this process has 10 GiB in PyTorch, 8 GiB of it allocated, and nobody has more. */
export const sampleOf = (own: Partial<LedgerSample>): LedgerSample => ({
  timeUs: 0,
  device: 0,
  moment: 'interval',
  freeBytes: gib(70),
  totalBytes: gib(80),
  allocatedBytes: gib(8),
  reservedBytes: gib(10),
  ...own,
});

export const withLedger = (
  snapshot: Snapshot,
  samples: readonly LedgerSample[],
  missing: MemoryLedger['missing'] = {},
): Snapshot => ({ ...snapshot, ledger: { samples, missing } });

/** Six groups of NCCL with 9.5 GiB in all. */
export const SIX_GROUPS = ['world', 'dp', 'tp', 'pp', 'ep', 'cp'].map((group, i) => ({
  group,
  backend: 'nccl',
  bytes: i === 0 ? gib(2) : gib(1.5),
}));
