/** Sites that ask for ever other sizes: blocks cached for one size do not fit the next. */
import { highest, lowest } from '../base/extremes.ts';
import type { StackIndex } from '../snapshot/tables.ts';
import type { AnalysisContext } from './analysis-context.ts';

export interface SizeChurn {
  readonly stack: StackIndex;
  /** Different sizes above the small pool's. */
  readonly sizes: number;
  readonly smallestBytes: number;
  readonly largestBytes: number;
  readonly bytes: number;
}

/** Smaller requests share 2 MiB segments and pin nothing much. */
const LARGE_BYTES = 2 ** 20;
const MIN_SIZES = 4;

export function churningSites(study: AnalysisContext): SizeChurn[] {
  const { stack, requestedBytes, length, preexisting } = study.input.replay.allocations;
  const sizes = new Map<StackIndex, Set<number>>();
  const bytes = new Map<StackIndex, number>();
  for (let id = preexisting; id < length; id++) {
    if (requestedBytes[id] <= LARGE_BYTES) continue;
    let seen = sizes.get(stack[id]);
    if (seen === undefined) {
      seen = new Set();
      sizes.set(stack[id], seen);
    }
    seen.add(requestedBytes[id]);
    bytes.set(stack[id], (bytes.get(stack[id]) ?? 0) + requestedBytes[id]);
  }
  return [...sizes]
    .filter(([, seen]) => seen.size >= MIN_SIZES)
    .map(([site, seen]) => ({
      stack: site,
      sizes: seen.size,
      smallestBytes: lowest(seen),
      largestBytes: highest(seen),
      bytes: bytes.get(site) ?? 0,
    }))
    .sort((a, b) => b.sizes - a.sizes || b.bytes - a.bytes);
}
