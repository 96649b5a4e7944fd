/** What the program or the profiler wrote about allocations: `annotate` events, metadata, and categories. */
import type { AllocationIndex } from '../replay/types.ts';
import { TraceAction } from '../snapshot/tables.ts';
import { type ClassSource, MemoryClass } from './types.ts';

/**
 * The profiler's words, and those that a program puts first in its metadata: 'gradient blocks.0.qkv.weight'. What
 * only mentions such a word ('step 3, gradient accumulation') says nothing of one allocation.
 */
const WORDS: readonly (readonly [RegExp, MemoryClass])[] = [
  [/^optim(izer)?([ _-]?state)?\b/i, MemoryClass.OptimizerState],
  [/^grad(ient)?s?\b/i, MemoryClass.Gradients],
  [/^activations?\b/i, MemoryClass.Activations],
  [/^(param(eter)?s?|buffers?)\b/i, MemoryClass.Parameters],
  [/^inputs?\b/i, MemoryClass.Inputs],
  [/^(temp(orar(y|ies))?|autograd_detail)\b/i, MemoryClass.Temporaries],
  [/^(kv[ _-]?cache|growing([ _-]state)?)\b/i, MemoryClass.GrowingState],
  [/^workspaces?\b/i, MemoryClass.Workspaces],
  [/^kept\b/i, MemoryClass.Kept],
  [/^unknown\b/i, MemoryClass.Unknown],
  [/^(communication|collective)s?\b/i, MemoryClass.Communication],
];

/** The class that a text names; undefined where it names none. */
export function classNamed(text: string): MemoryClass | undefined {
  return WORDS.find(([word]) => word.test(text))?.[1];
}

/** Allocations with a class that was written down; where there is more than one text the last one holds. */
export function* writtenClasses({
  snapshot,
  trace,
  replay,
}: ClassSource): Generator<readonly [AllocationIndex, MemoryClass]> {
  const { category, userMetadata, action, address } = trace.events;
  const named = new Map<number, MemoryClass | undefined>();
  const classAt = (column: Int32Array | undefined, event: number): MemoryClass | undefined => {
    const text = column?.[event] ?? -1;
    if (text <= 0) return undefined;
    if (!named.has(text)) named.set(text, classNamed(snapshot.strings.get(text)));
    return named.get(text);
  };
  if (category === undefined && userMetadata === undefined) return;
  const { length, preexisting, start } = replay.allocations;
  for (let id = preexisting; id < length; id++) {
    const name = classAt(userMetadata, start[id]) ?? classAt(category, start[id]);
    if (name !== undefined) yield [id, name];
  }
  // An annotation belongs to the allocation that is live at its address.
  const live = new Map<number, AllocationIndex>();
  for (let t = action.indexOf(TraceAction.Annotate), id = 0; t >= 0; ) {
    for (; id < length && start[id] <= t; id++) live.set(replay.allocations.address[id], id);
    const found = live.get(address[t]);
    const name = classAt(userMetadata, t);
    const isLive = found !== undefined && replay.allocations.end[found] > t;
    if (isLive && name !== undefined) yield [found, name];
    t = action.indexOf(TraceAction.Annotate, t + 1);
  }
}
