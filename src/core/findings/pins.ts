/** Live allocations that keep segments from going back to the driver. */
import { formatBytes, plural } from '../base/format.ts';
import type { AllocationIndex } from '../replay/types.ts';
import { EMPTY_STACK } from '../snapshot/tables.ts';
import type { SegmentState } from './address-state.ts';
import type { AnalysisContext } from './analysis-context.ts';
import { frameLocation } from './labels.ts';
import { sitePart } from './live-sites.ts';
import type { FindingPart } from './types.ts';

export interface Pin {
  /** The site; its bytes are those of the gaps that it keeps. */
  readonly part: FindingPart;
  readonly allocations: readonly AllocationIndex[];
}

/**
 * A segment goes back to the driver only when it is empty. Its free bytes are shared out evenly among
 * the blocks that are still in it, so that sums are true.
 */
export function pinningSites(study: AnalysisContext, segments: readonly SegmentState[]): Pin[] {
  const { stack } = study.input.replay.allocations;
  const bySite = new Map<number, { bytes: number; ids: number[]; segments: number }>();
  for (const { live, freeBytes, isSmall } of segments) {
    if (live.length === 0 || freeBytes === 0 || isSmall) continue;
    const counted = new Set<number>();
    for (const id of live) {
      const site = bySite.get(stack[id]) ?? { bytes: 0, ids: [], segments: 0 };
      bySite.set(stack[id], site);
      site.bytes += freeBytes / live.length;
      site.ids.push(id);
      if (!counted.has(stack[id])) site.segments++;
      counted.add(stack[id]);
    }
  }
  return [...bySite]
    .map(([site, { bytes, ids, segments: count }]) => ({
      part: sitePart(
        study,
        { stack: site, bytes: Math.round(bytes), count: ids.length },
        `pins ${plural(count, 'segment')}`,
      ),
      allocations: ids,
    }))
    .sort((a, b) => b.part.bytes - a.part.bytes);
}

/** Backward has no line to show: the first pin that has one is more use. */
export function namedPin(pins: readonly Pin[]): Pin | undefined {
  return pins.find(({ part }) => part.stack > EMPTY_STACK) ?? pins[0];
}

/** 'train.py:12 (step) keeps 3.1 GiB of the gaps from being given back: it pins 14 segments.' */
export function pinHolder({ part }: Pin): string {
  return `${frameLocation(part.frame)} keeps ${formatBytes(part.bytes)} of the gaps from being given back: it ${part.note}.`;
}
