/**
 * The workspaces of cuBLAS, where no C++ frame names them. A thread that multiplies matrices on a stream gets one, and
 * keeps it: so of the many tensors that may have its size, one is it at any time.
 *
 *     forward, 32 MiB: linear's workspace (never freed) | activations of 32 MiB that an OOM finds live | …
 *     backward, 32 MiB: the workspace of autograd's thread
 */
import type { AllocationIndex, AllocationTable } from '../../allocator/replay/types.ts';
import { type EventIndex, NO_STACK } from '../../format/snapshot/tables.ts';
import { StackHint, StackRole, type StackRoles } from './stack-roles.ts';

/** Bytes of the workspace of Hopper and later GPUs, and of the others (:4096:2:16:8). */
const CUBLAS_BYTES: ReadonlySet<number> = new Set([32 * 2 ** 20, 8_519_680]);
/** That of cuBLASLt, which older versions of PyTorch allocate just before or after the other. */
const CUBLASLT_BYTES = 2 ** 20;

/**
 * Those that sizes and lifetimes tell: the first of its thread, stream and pool that is freed after the last step, or
 * never; trainers clear workspaces when they are done.
 */
export function workspacesBySize(
  table: AllocationTable,
  roles: StackRoles,
  lastStep: EventIndex,
): ReadonlySet<AllocationIndex> {
  const found = new Set<AllocationIndex>();
  if (roles.hints.some((hints) => (hints & StackHint.Workspace) !== 0)) return found;
  const { length, requestedBytes, stack, stream, pool, start, freeRequested } = table;
  const roleOf = (id: AllocationIndex) => roles.role[stack[id] - NO_STACK];
  const isKept = (id: AllocationIndex) => id >= 0 && id < length && freeRequested[id] > lastStep;
  const freeOf = new Map<number, EventIndex>();
  for (let id = 0; id < length; id++) {
    if (!CUBLAS_BYTES.has(requestedBytes[id]) || !isKept(id)) continue;
    const role = roleOf(id);
    if (role !== StackRole.Forward && role !== StackRole.Backward) continue;
    const handle = (pool[id] * 65536 + stream[id]) * 8 + role;
    if (start[id] < (freeOf.get(handle) ?? -1)) continue;
    freeOf.set(handle, freeRequested[id]);
    found.add(id);
    for (const beside of [id - 1, id + 1]) {
      if (requestedBytes[beside] === CUBLASLT_BYTES && isKept(beside)) found.add(beside);
    }
  }
  return found;
}
