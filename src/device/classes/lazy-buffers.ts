/**
 * What a module makes in its first pass and keeps is a buffer: a table of positions, a mask, frequencies. Its line never
 * allocates again, though the program goes on to call the same model from the same line:
 *
 *     model.py:39  (extend_pe)  │██████████████████████   made once
 *     model.py:107 (forward)    │▌ ▌ ▌ ▌ ▌ ▌ ▌ ▌ ▌ ▌ ▌    each pass: what is kept of these is kept by the program
 *     ref.py:9     (forward)    │██████████████████████   one pass of another model, whose output is kept
 */
import { type AllocationIndex, NEVER } from '../../allocator/replay/types.ts';
import { NO_STACK, type StackIndex } from '../../format/snapshot/tables.ts';
import type { ForwardRuns } from './passes.ts';
import { FrameRole, StackRole, type StackRoles } from './stack-roles.ts';
import type { ClassSource } from './types.ts';

/** Of the call sites where something is kept, those that make buffers. @param kept by call site, in order of start */
export function lazyBufferSites(
  { snapshot, replay, stacks }: ClassSource,
  { role, hints }: StackRoles,
  runs: ForwardRuns,
  kept: ReadonlyMap<StackIndex, readonly AllocationIndex[]>,
): StackIndex[] {
  const { stack, start, freeRequested, length, preexisting } = replay.allocations;
  const { parent } = snapshot.stacks;
  /** When the code below a row last allocated. */
  const last = new Int32Array(parent.length);
  for (let id = preexisting; id < length; id++) if (stack[id] > 0) last[stack[id]] = start[id];
  const lastOfSite = new Map<StackIndex, number>();
  for (let row = 1; row < parent.length; row++) {
    if (last[row] === 0 || role[row - NO_STACK] !== StackRole.Forward) continue;
    const site = stacks.siteOf(row);
    if (kept.has(site)) lastOfSite.set(site, Math.max(last[row], lastOfSite.get(site) ?? 0));
  }
  for (let row = parent.length - 1; row > 0; row--)
    last[parent[row]] = Math.max(last[parent[row]], last[row]);
  const isOfModule = (row: StackIndex) => (hints[row - NO_STACK] & FrameRole.ModuleCall) !== 0;
  return [...lastOfSite.keys()].filter((site) => {
    const ids = kept.get(site) ?? [];
    const run = runs.before[ids[0]];
    const isMadeOnce = (lastOfSite.get(site) ?? NEVER) <= runs.end[run];
    let call = stack[ids[0]];
    if (!isMadeOnce || !isOfModule(call)) return false;
    while (isOfModule(parent[call])) call = parent[call];
    const isCalledAgain = last[call] > (runs.end[run + 1] ?? NEVER);
    return isCalledAgain && ids.every((id) => id >= preexisting && freeRequested[id] === NEVER);
  });
}
