/** At what rate a leak's cohort grows, in the run and up to a moment of it. */
import type { AllocationIndex } from '../../allocator/replay/types.ts';
import { sumBy } from '../../base/collections.ts';
import { burstBytes, isMean, type Leak } from '../detectors/growth-leaks.ts';
import type { AnalysisInput } from '../findings/analysis-input.ts';
import { stepCount } from '../steps/step-sequence.ts';
import type { EntryRate } from './types.ts';

/** @param same leaks of one cohort, the largest first */
export function rateOfLeaks(same: readonly Leak[]): EntryRate {
  const [{ sequence, law, perStep }] = same;
  const bursts = burstsOf(same);
  return {
    // What another loop adds, such as an evaluation, is counted in its own repetitions.
    bytes: Math.round(sumBy(same, (leak) => (leak.sequence === sequence ? leak.perStep.bytes : 0))),
    // Two leaks that begin at different steps are in as many of all steps: '12 of 120'.
    steps: bursts === undefined ? perStep.steps : stepCount(sequence),
    unit: perStep.unit,
    isMean: isMean(law),
    varies: false,
    bursts,
  };
}

/** Of leaks that add something in as many steps, all together. */
function burstsOf(same: readonly Leak[]): EntryRate['bursts'] {
  const [{ law, sequence }] = same;
  const { length: count } = law.keptBytes;
  const each = same.map((leak) =>
    leak.sequence === sequence && leak.law.keptBytes.length === count
      ? burstBytes(leak.law)
      : undefined,
  );
  if (each.some((bytes) => bytes === undefined)) return undefined;
  return { bytes: Math.round(sumBy(each, (bytes) => bytes ?? 0)), count };
}

/** A leak's repetitions up to the moment: later ones have left nothing there yet. */
export function rateSoFar(
  { input }: AnalysisInput,
  live: Int32Array,
  { rate, all }: { readonly rate: EntryRate; readonly all: readonly AllocationIndex[] },
  { group: { sites }, sequence: { bounds } }: Leak,
): EntryRate {
  const { start, sizeBytes } = input.replay.allocations;
  const last = live.at(-1) ?? -1;
  if (rate.bursts !== undefined) {
    const isBurst = (step: number) => sites.some(({ keptBytes }) => keptBytes[step] > 0);
    const begun = [...bounds.keys()].filter((step) => bounds[step] < (start[last] ?? 0));
    return { ...rate, bursts: { ...rate.bursts, count: begun.filter(isBurst).length } };
  }
  if (rate.bytes <= 0) return rate;
  const later = sumBy(all, (id) => (id > last ? sizeBytes[id] : 0));
  return { ...rate, steps: Math.max(1, rate.steps - Math.round(later / rate.bytes)) };
}
