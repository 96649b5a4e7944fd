/** Bytes and how many, by call site. */
import type { AllocationIndex } from '../replay/types.ts';
import type { StackIndex } from '../snapshot/tables.ts';
import type { AnalysisContext } from './analysis-context.ts';
import type { FindingPart } from './types.ts';

export interface SiteSum {
  readonly stack: StackIndex;
  readonly bytes: number;
  readonly count: number;
}

/** Adds up what call sites have: tensors alive at a peak, segments they had the driver give. */
export class SiteSums {
  readonly #sums = new Map<StackIndex, { stack: StackIndex; bytes: number; count: number }>();

  add(stack: StackIndex, bytes: number): void {
    const known = this.#sums.get(stack);
    if (known === undefined) this.#sums.set(stack, { stack, bytes, count: 1 });
    else {
      known.bytes += bytes;
      known.count++;
    }
  }

  largestFirst(): SiteSum[] {
    return [...this.#sums.values()].sort((a, b) => b.bytes - a.bytes);
  }
}

/** Allocations by stack, the largest sum of their blocks first. */
export function sumBySite(study: AnalysisContext, ids: Iterable<AllocationIndex>): SiteSum[] {
  const { stack, sizeBytes } = study.input.replay.allocations;
  const sums = new SiteSums();
  for (const id of ids) sums.add(stack[id], sizeBytes[id]);
  return sums.largestFirst();
}

/** A site as a part of a finding, under the user's own line; `note` says why it is listed. */
export function sitePart(
  study: AnalysisContext,
  { stack, bytes, count }: SiteSum,
  note: string,
): FindingPart {
  return { stack, frame: study.input.stacks.topUserFrameView(stack), bytes, count, note };
}
