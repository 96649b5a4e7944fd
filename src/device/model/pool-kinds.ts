/** What a private pool is for, judged by the code that allocates in it or, if that says nothing, by the pool's id. */
import { isPrivatePool } from '../../allocator/replay/types.ts';
import type { PoolIndex } from '../../format/snapshot/tables.ts';
import type { DeviceModel } from './device-model.ts';

export type PoolKind = 'CUDA graph' | 'cudagraph trees' | 'symmetric memory' | 'MemPool';

/** PyTorch files that allocate in their own pool; the innermost one in a stack decides. */
const KIND_OF_FILE: readonly (readonly [RegExp, PoolKind])[] = [
  [/(^|[\\/])torch[\\/]_inductor[\\/]cudagraph_trees\.py$/, 'cudagraph trees'],
  [/(^|[\\/])torch[\\/]cuda[\\/]graphs\.py$/, 'CUDA graph'],
  [/(^|[\\/])torch[\\/]distributed[\\/]_symmetric_memory[\\/]/, 'symmetric memory'],
];
/** Allocations examined: those of one pool come from one place. */
const MAX_LOOKED_AT = 64;

/** Undefined for the default pool. */
export function poolKind(
  { trace, replay, stacks }: Pick<DeviceModel, 'trace' | 'replay' | 'stacks'>,
  pool: PoolIndex,
): PoolKind | undefined {
  if (!isPrivatePool(trace.pools[pool])) return undefined;
  const { pool: poolOf, stack } = replay.allocations;
  let looked = 0;
  for (let own = poolOf.indexOf(pool); own >= 0; own = poolOf.indexOf(pool, own + 1)) {
    if (looked++ >= MAX_LOOKED_AT) break;
    for (const frame of stacks.frames(stack[own])) {
      const { filename } = stacks.frame(frame);
      const kind = KIND_OF_FILE.find(([file]) => file.test(filename))?.[1];
      if (kind !== undefined) return kind;
    }
  }
  // A capture's own pool has the id (n, 0); a pool made by the program has (0, n).
  return trace.pools[pool].id[1] === 0 ? 'CUDA graph' : 'MemPool';
}
