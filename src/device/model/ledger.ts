/**
 * The memory of the whole card, beyond what the caching allocator of this process sees.
 *
 *   ledgerRows(sample, missing)   one moment as rows whose sum is the card's total to the byte
 */
import { sumBy } from '../../base/collections.ts';
import type { LedgerSample, MemoryLedger } from '../../format/snapshot/tables.ts';

export type { LedgerSample, MemoryLedger } from '../../format/snapshot/tables.ts';

type Pools = NonNullable<LedgerSample['pools']>;

/** Every row has bytes of its own: none is counted in two rows. Only the last two kinds may be negative. */
export type LedgerRow = {
  readonly bytes: number;
} /** Of this process's PyTorch, outside the private pools that have a row: allocated; and reserved but not allocated. */ & (
  | { readonly kind: 'allocated' | 'cached' | 'free' }
  /** What a private pool has reserved, with what is allocated in it. */
  | {
      readonly kind: 'pool';
      readonly id: readonly [number, number];
      readonly allocatedBytes: number;
    }
  | { readonly kind: 'communicator'; readonly group: string; readonly backend: string }
  /** What else the driver counts for this process: the context, modules, graphs, libraries. */
  | { readonly kind: 'process-rest'; readonly contextBytes?: number }
  /** Other processes; without a list, all that the driver does not count for this one. */
  | { readonly kind: 'others'; readonly processes?: LedgerSample['others'] }
  /** This process's rest and other processes, as one sum, and why nothing tells them apart. */
  | { readonly kind: 'outside'; readonly reason: string; readonly contextBytes?: number }
  /** Negative: counted as reserved, but no longer on the card, such as pools that sleep. */
  | { readonly kind: 'behind-allocator' }
  /** Used, but by no process on the list; negative if the list counts more than is used. */
  | { readonly kind: 'unexplained' }
);

/**
 * Whole bytes, in the order in which they are stacked. 'allocated', 'cached' and 'free' are always there; the rest of the
 * process and other processes are there if they are known, even if they are 0.
 */
export function ledgerRows(
  sample: LedgerSample,
  missing: MemoryLedger['missing'] = {},
): readonly LedgerRow[] {
  const { freeBytes, totalBytes, allocatedBytes, reservedBytes, processBytes, others } = sample;
  const pools = separablePools(sample);
  const inPools = sumBy(pools, ({ allocatedBytes: own = 0 }) => own);
  const cachedInPools = sumBy(pools, (pool) => pool.reservedBytes) - inPools;
  const communicators = sample.communicators ?? [];
  const own = reservedBytes + sumBy(communicators, ({ bytes }) => bytes);
  const used = totalBytes - freeBytes;
  const context = sample.contextBytes !== undefined && { contextBytes: sample.contextBytes };
  /** What of this process, or else of the card, is in none of the rows so far. */
  const rest = (processBytes ?? used) - own;
  const rows: LedgerRow[] = [
    { kind: 'allocated', bytes: allocatedBytes - inPools },
    { kind: 'cached', bytes: reservedBytes - allocatedBytes - cachedInPools },
    ...pools.map(({ id, reservedBytes: bytes, allocatedBytes: live = 0 }) => {
      return { kind: 'pool', bytes, id, allocatedBytes: live } as const;
    }),
    ...communicators.map((row) => ({ kind: 'communicator', ...row }) as const),
  ];
  if (processBytes === undefined) {
    const reason = missing.process ?? 'nothing said how much of it is this process';
    rows.push({ kind: 'outside', bytes: Math.max(0, rest), reason, ...context });
  } else {
    const besides = Math.max(0, used - processBytes);
    const bytes = others === undefined ? besides : sumBy(others, (process) => process.bytes);
    rows.push({ kind: 'process-rest', bytes: Math.max(0, rest), ...context });
    rows.push({ kind: 'others', bytes, ...(others !== undefined && { processes: others }) });
  }
  if (rest < 0) rows.push({ kind: 'behind-allocator', bytes: rest });
  const unexplained = used - sumBy(rows, ({ bytes }) => bytes);
  if (unexplained !== 0) rows.push({ kind: 'unexplained', bytes: unexplained });
  return [...rows, { kind: 'free', bytes: freeBytes }];
}

/** Pools with a row of their own: all or none, because what they leave to the others must not be negative. */
function separablePools({ pools = [], allocatedBytes, reservedBytes }: LedgerSample): Pools {
  const isKnown = pools.every((pool) => (pool.allocatedBytes ?? Infinity) <= pool.reservedBytes);
  const inPools = sumBy(pools, (pool) => pool.allocatedBytes ?? 0);
  const cached = sumBy(pools, (pool) => pool.reservedBytes) - inPools;
  return isKnown && inPools <= allocatedBytes && cached <= reservedBytes - allocatedBytes
    ? pools
    : [];
}
