/** What a private pool is for: judged by the code that allocates in it and, where that says nothing, by its id. */
import { isPrivatePool } from '../../allocator/replay/types.ts';
import type { PoolIndex } from '../../format/snapshot/tables.ts';
import type { DeviceModel } from './device-model.ts';

export type PoolKind = 'CUDA graph' | 'cudagraph trees' | 'symmetric memory' | 'MemPool';

/** Files of PyTorch that allocate in a pool of their own; the innermost that a stack has counts. */
const KIND_OF_FILE: readonly (readonly [RegExp, PoolKind])[] = [
  [/(^|[\\/])torch[\\/]_inductor[\\/]cudagraph_trees\.py$/, 'cudagraph trees'],
  [/(^|[\\/])torch[\\/]cuda[\\/]graphs\.py$/, 'CUDA graph'],
  [/(^|[\\/])torch[\\/]distributed[\\/]_symmetric_memory[\\/]/, 'symmetric memory'],
];
/** Allocations looked at: those of one pool are made in one place. */
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
  // The id of a pool that a capture makes for itself is (n, 0); of one that a program makes, (0, n).
  return trace.pools[pool].id[1] === 0 ? 'CUDA graph' : 'MemPool';
}
