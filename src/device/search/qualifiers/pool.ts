import { privatePoolText } from '../../model/allocation-details.ts';
import type { DeviceModel } from '../../model/device-model.ts';
import { maskOf } from '../masks.ts';
import { type AllocationQualifier, quoteText } from '../qualifier.ts';

export type PoolWord = 'small' | 'large' | 'default' | 'private';

export interface PoolCondition {
  readonly kind: 'pool';
  /** A word, or the id of a private pool. */
  readonly pool: PoolWord | readonly [number, number];
}

const POOLS: readonly (readonly [PoolWord, string])[] = [
  ['small', 'requests up to 1 MiB, in segments of 2 MiB'],
  ['large', 'requests above 1 MiB'],
  ['default', 'not in a private pool'],
  ['private', 'in a private pool of a CUDA graph or MemPool'],
];
const POOL_ID = /^\(\s*(\d{1,15})\s*,\s*(\d{1,15})\s*\)$/;

export const POOL: AllocationQualifier<PoolCondition> = {
  name: 'pool',
  help: 'small, large, default, private or an id',
  examples: ['pool:"(1, 0)"'],
  parse(value) {
    const known = POOLS.find(([word]) => word === value.toLowerCase());
    if (known !== undefined) return { kind: 'pool', pool: known[0] };
    const id = POOL_ID.exec(value);
    return id === null ? undefined : { kind: 'pool', pool: [Number(id[1]), Number(id[2])] };
  },
  match: (context, { pool }) => ({ mask: poolMask(context, pool) }),
  values: ({ trace }) => trace.pools.map(privatePoolText).filter((pool) => pool !== undefined),
  suggest: (privatePools) => [
    ...POOLS.map(([word, hint]) => ({ term: poolTerm(word), hint })),
    ...privatePools.map((pool) => ({ term: privatePoolTerm(pool), hint: 'private pool' })),
  ],
};

function poolMask({ replay, trace }: DeviceModel, wanted: PoolCondition['pool']): Uint8Array {
  const { length, pool, isSmall } = replay.allocations;
  if (wanted === 'small' || wanted === 'large') {
    const flag = wanted === 'small' ? 1 : 0;
    return maskOf(length, (id) => isSmall[id] === flag);
  }
  const isHit = trace.pools.map(({ id: [capture, handle] }) => {
    if (typeof wanted !== 'string') return capture === wanted[0] && handle === wanted[1];
    return (capture === 0 && handle === 0) === (wanted === 'default');
  });
  return maskOf(length, (id) => isHit[pool[id]] ?? wanted === 'default');
}

export function poolTerm(pool: PoolWord): string {
  return `pool:${pool}`;
}

/** A private pool as `privatePoolText` writes it: '(1, 0)'. */
export function privatePoolTerm(pool: string): string {
  return `pool:${quoteText(pool)}`;
}
