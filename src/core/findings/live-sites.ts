/** Allocations by call site. */
import type { AllocationIndex } from '../replay/types.ts';
import type { StackIndex } from '../snapshot/tables.ts';
import type { Study } from './study.ts';
import type { FindingPart } from './types.ts';

export interface SiteSum {
  readonly stack: StackIndex;
  bytes: number;
  count: number;
}

/** By stack, the largest first. */
export function sumBySite(study: Study, ids: Iterable<AllocationIndex>): SiteSum[] {
  const { stack, sizeBytes } = study.input.replay.allocations;
  const sums = new Map<StackIndex, SiteSum>();
  for (const id of ids) {
    const known = sums.get(stack[id]);
    if (known === undefined)
      sums.set(stack[id], { stack: stack[id], bytes: sizeBytes[id], count: 1 });
    else {
      known.bytes += sizeBytes[id];
      known.count++;
    }
  }
  return [...sums.values()].sort((a, b) => b.bytes - a.bytes);
}

/** A site as a part of a finding, under the user's own line; `note` says why it is listed. */
export function sitePart(
  study: Study,
  { stack, bytes, count }: SiteSum,
  note: string,
): FindingPart {
  return { stack, frame: study.input.stacks.topUserFrameView(stack), bytes, count, note };
}
