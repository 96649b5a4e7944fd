/**
 * `model.cpu(); torch.save(model); model.to(device)` moves gradients as well as weights: Module._apply moves each
 * parameter, by a later line its gradient, and by a third line the buffers. The numbers of these lines differ between
 * versions of PyTorch. Gradients' is the one after which all tensors are as large as what an earlier line has just made:
 *
 *     module.py:965   4 MiB       3 MiB                      parameters
 *     module.py:1009        4 MiB       3 MiB                gradients: each follows its parameter
 *     module.py:1035                           3 MiB  2 MiB  buffers: the last follows no parameter
 */
import type { AllocationTable } from '../../allocator/replay/types.ts';
import { memoized } from '../../base/collections.ts';
import { type FrameIndex, NO_STACK, type StackIndex } from '../../format/snapshot/tables.ts';
import type { StackSource } from '../model/stacks.ts';
import { FrameRole, type StackRoles } from './stack-roles.ts';

/** Tells which stacks make gradients while their module is moved. */
export function movedGradients(
  { stack, requestedBytes, preexisting, length }: AllocationTable,
  { strings, stacks: { frame, parent }, frames }: StackSource,
  { hints }: StackRoles,
): (row: StackIndex) => boolean {
  const isMoved = (own: StackIndex) => (hints[own - NO_STACK] & FrameRole.Moved) !== 0;
  /** The row of the innermost _apply; that of no stack if nothing is moved. */
  const moverOf = memoized((own: StackIndex): StackIndex => {
    if (!isMoved(own)) return NO_STACK;
    let row = own;
    while (row > 0 && strings.get(frames.name[frame[row]]) !== '_apply') row = parent[row];
    return row;
  });
  const lines = new Set<FrameIndex>();
  const others = new Set<FrameIndex>();
  for (let id = preexisting; id < length; id++) {
    if (!isMoved(stack[id])) continue;
    const own = moverOf(stack[id]);
    if (own <= 0) continue;
    const before = id === preexisting ? NO_STACK : moverOf(stack[id - 1]);
    const isAfterParameter =
      before > 0 &&
      parent[before] === parent[own] &&
      frames.line[frame[before]] < frames.line[frame[own]] &&
      requestedBytes[id - 1] === requestedBytes[id];
    (isAfterParameter ? lines : others).add(frame[own]);
  }
  for (const line of others) lines.delete(line);
  return memoized((row: StackIndex) => lines.size > 0 && lines.has(frame[moverOf(row)]));
}
