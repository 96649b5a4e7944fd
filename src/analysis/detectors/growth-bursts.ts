/** Memory that piles up over steps and is given back at once: garbage cycles, caches dropped by design. */

import type { AllocationIndex } from '../../allocator/replay/types.ts';
import { highest } from '../../base/extremes.ts';
import { formatBytes, plural } from '../../base/format.ts';
import type { AnalysisInput } from '../findings/analysis-input.ts';
import {
  evidence,
  fingerprint,
  locationOf,
  locationText,
  series,
  sitePart,
} from '../findings/finding-parts.ts';
import type { AnyFinding } from '../findings/types.ts';
import type { StepSequence } from '../steps/step-sequence.ts';
import type { BurstSite } from './growth-sites.ts';

/** Piles below this share of the peak are not worth a line. */
const MIN_SHARE = 0.01;

/** One finding for all sites that pile up; never more than low, for the memory comes back. */
export function burstFindings(
  context: AnalysisInput,
  { bounds }: StepSequence,
  bursts: readonly BurstSite[],
): AnyFinding<'growth', 'given-back-in-bursts'>[] {
  if (bursts.length === 0) return [];
  const pile = pileOf(context, bounds, bursts);
  const top = highest(pile.bytes);
  if (top < MIN_SHARE * context.input.replay.peaks.allocatedBytes.bytes) return [];
  return [toFinding(context, bounds, bursts, { ...pile, top })];
}

/** What the sites have together. */
interface Pile {
  /** After each step. */
  readonly bytes: Float64Array;
  /** Allocations that outlived their step. */
  readonly ids: readonly AllocationIndex[];
}

function pileOf(
  context: AnalysisInput,
  bounds: StepSequence['bounds'],
  bursts: readonly BurstSite[],
): Pile {
  const { allocations: table } = context.input.replay;
  const isBurst = new Set(bursts.map(({ site }) => site));
  const change = new Float64Array(bounds.length + 1);
  const ids: AllocationIndex[] = [];
  let step = 0;
  for (let id = table.preexisting; id < table.length; id++) {
    while (step < bounds.length - 1 && table.start[id] > bounds[step]) step++;
    if (!isBurst.has(context.sites[id]) || table.freeRequested[id] <= bounds[step]) continue;
    ids.push(id);
    change[step] += table.sizeBytes[id];
    let freed = step;
    while (freed < bounds.length && bounds[freed] < table.freeRequested[id]) freed++;
    change[freed] -= table.sizeBytes[id];
  }
  let now = 0;
  const bytes = Float64Array.from(bounds, (_, i) => {
    now += change[i];
    return now;
  });
  return { bytes, ids };
}

function toFinding(
  context: AnalysisInput,
  bounds: StepSequence['bounds'],
  bursts: readonly BurstSite[],
  { bytes, ids, top }: Pile & { readonly top: number },
): AnyFinding<'growth', 'given-back-in-bursts'> {
  const largest = bursts.reduce((a, b) => (highest(b.live) > highest(a.live) ? b : a));
  const drops = highest(bursts.map((burst) => burst.drops.length));
  const where = locationOf(context, largest.stack);
  return {
    detector: 'growth',
    kind: 'given-back-in-bursts',
    severity: 'low',
    bytes: top,
    claim: `Up to ${formatBytes(top)} from ${plural(bursts.length, 'call site')} (${locationText(where.frame)} first) piles up over several steps and is given back at once, ${plural(drops, 'time')}. It is no leak; it looks like reference cycles that wait for Python's garbage collector, or a cache that is dropped by design.`,
    ...where,
    events: { first: bounds[0], last: bounds[bounds.length - 1] },
    parts: bursts.map(({ stack, live }) =>
      sitePart(context, { stack, bytes: 0, count: highest(live) }, 'tensors at the highest'),
    ),
    facts: [{ label: 'times given back', count: drops }],
    evidence: evidence(context, ids, bursts),
    series: series('step', 'bytes piled up', bounds, bytes),
    advice: [
      'If nothing here is a cache, break the cycle: an object that refers to itself (a closure over self, an exception kept with its traceback) keeps its tensors until gc runs.',
      'To see whether it is gc: call gc.collect() each step once and record again; the pile is gone if it is.',
    ],
    disproof:
      'With gc.collect() in each step the curve stays as it is: then something holds them on purpose.',
    fingerprint: fingerprint(context, 'growth', 'given-back-in-bursts', largest.stack),
  };
}
