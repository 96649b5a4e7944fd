/**
 * Call sites whose live allocations increase step after step until the end of the recording.
 *
 * This counts tensors, not bytes: activations that grow with the batch, and a tensor replaced by a larger one, are not
 * leaks. A queue that fills and stays, optimizer state, and garbage collected in bursts fail the test of steadiness:
 *
 *     leak     ▁▂▃▄▅▆▇█   rises in every part
 *     queue    ▃▆█▉████   flat later
 *     bursts   ▃▆█▁▃▆█▃   was as high before
 */

import { type AllocationIndex, NEVER } from '../../allocator/replay/types.ts';
import { groupBy } from '../../base/collections.ts';
import { highest } from '../../base/extremes.ts';
import { EMPTY_STACK, type StackIndex } from '../../format/snapshot/tables.ts';
import type { AnalysisInput } from '../findings/analysis-input.ts';
import { forEachMade, type StepSequence, stepCount, stepOf } from '../steps/step-sequence.ts';

/** Fewer steps look like a warm-up. */
const MIN_KEPT_STEPS = 4;
/** With fewer steps, a site may look like a leak but steadiness can't be tested. */
const SHORT_STEPS = 8;
/** Piles that are freed more often belong to the step itself. */
const MIN_BURST_STEPS = 8;

interface Curve {
  readonly site: number;
  readonly stack: StackIndex;
  /** Live tensors at the end of each step. */
  readonly live: Int32Array;
  /** By step: allocations made in it that are live at the end of the last step. */
  readonly keptCount: Int32Array;
  readonly keptBytes: Float64Array;
  /** The kept allocations, in order. */
  readonly kept: AllocationIndex[];
}

export interface GrowingSite extends Readonly<Curve> {
  readonly firstStep: number;
  readonly keptSteps: number;
}

/** A site whose tensors pile up over several steps and are then freed at once. */
export interface BurstSite extends Pick<Curve, 'site' | 'stack' | 'live'> {
  /** Steps at whose end a pile was gone. */
  readonly drops: readonly number[];
}

export interface SiteVerdicts {
  readonly leaks: readonly GrowingSite[];
  readonly bursts: readonly BurstSite[];
  /** In a recording too short to judge: stacks that kept something in every step between first and last. */
  readonly suspects: readonly StackIndex[];
}

/** Judges all sites by one kind of step; suspects only come from recordings with few steps. */
export function judgeSites(context: AnalysisInput, sequence: StepSequence): SiteVerdicts {
  const steps = stepCount(sequence);
  const leaks: GrowingSite[] = [];
  const bursts: BurstSite[] = [];
  const suspects: StackIndex[] = [];
  for (const curve of siteCurves(context, sequence)) {
    const { keptCount, stack } = curve;
    const firstStep = steadyFrom(curve, steps);
    if (firstStep !== undefined) {
      const kept = withoutSetUp(context, curve, firstStep);
      const keptSteps = keptCount.subarray(firstStep).filter((count) => count > 0).length;
      leaks.push({ ...curve, kept, firstStep, keptSteps });
      continue;
    }
    const drops = burstDrops(curve.live);
    const isRare = drops.length * MIN_BURST_STEPS <= steps;
    // With one fall it must be piled up again.
    const isAgain = 2 * (curve.live.at(-1) ?? 0) >= highest(curve.live);
    if (isRare && (drops.length >= 2 || (drops.length === 1 && isAgain)))
      bursts.push({ ...curve, drops });
    const isKeeping = steps > 3 && keptCount.subarray(1, -1).every((count) => count > 0);
    if (steps < SHORT_STEPS && isKeeping) suspects.push(stack);
  }
  return { leaks, bursts, suspects };
}

/**
 * The first matrix product of a program allocates cuBLAS's workspace (32 MiB on Hopper) from the same line as its
 * result. So what the first step keeps is set-up if it is twice as large as everything later steps keep.
 */
function withoutSetUp(
  context: AnalysisInput,
  { kept, keptCount, keptBytes }: Curve,
  firstStep: number,
): AllocationIndex[] {
  const { sizeBytes } = context.input.replay.allocations;
  const before = keptCount.subarray(0, firstStep).reduce((sum, count) => sum + count, 0);
  const later = before + keptCount[firstStep];
  const largestLater = highest([0, ...kept.slice(later).map((id) => sizeBytes[id])]);
  return kept.filter((id, i) => {
    const isSetUp = i >= before && i < later && sizeBytes[id] > 2 * largestLater;
    if (isSetUp) {
      keptCount[firstStep]--;
      keptBytes[firstStep] -= sizeBytes[id];
    }
    return !isSetUp;
  });
}

/** Curves of the sites that keep something from several steps, or that pile up often. */
function siteCurves(context: AnalysisInput, sequence: StepSequence): Curve[] {
  const { sites, siteCount, input } = context;
  const { freeRequested, sizeBytes, stack } = input.replay.allocations;
  const steps = stepCount(sequence);
  const end = sequence.bounds[steps];
  const isPiled = piledSites(context, sequence);
  if (!isPiled.includes(1)) return [];
  const curves: Curve[] = [];
  const curveOf = new Array<Curve | undefined>(siteCount);
  forEachMade(input.replay.allocations, sequence, (id, step) => {
    const site = sites[id];
    if (isPiled[site] === 0) return;
    let curve = curveOf[site];
    if (curve === undefined) {
      curve = {
        ...{ site, stack: stack[id], kept: [] },
        live: new Int32Array(steps),
        keptCount: new Int32Array(steps),
        keptBytes: new Float64Array(steps),
      };
      curveOf[site] = curve;
      curves.push(curve);
    }
    curve.live[step]++;
    if (freeRequested[id] > end) {
      curve.keptCount[step]++;
      curve.keptBytes[step] += sizeBytes[id];
      curve.kept.push(id);
    } else {
      curve.live[stepOf(sequence, freeRequested[id])]--;
    }
  });
  for (const { live, kept } of curves) {
    for (const id of agedOutOf(context, kept)) {
      const step = stepOf(sequence, freeRequested[id]);
      if (step < steps) live[step]--;
    }
  }
  // So far each step has its change.
  for (const { live } of curves) for (let i = 1; i < steps; i++) live[i] += live[i - 1];
  return curves;
}

/** Smaller tensors are of sizes that many lines have. */
const MIN_AGED_BYTES = 2 ** 16;
/** A step's own tensors are freed in it, or in the next. */
export const AGED_STEPS = 2;

/**
 * Blocks from before a ring's oldest event that are freed within it have no stack. If a line keeps tensors of their size,
 * they are taken to be its older ones: a queue drops its oldest tensor for each new one, and does not grow.
 *
 *     before    t₀ t₁ t₂ t₃
 *     ring      t₀ freed, t₄ made | t₁ freed, t₅ made | …   441 KiB each; t₂ and t₃ have a stack, as they are still live
 *
 * @returns by size
 */
function agedOut(context: AnalysisInput): ReadonlyMap<number, AllocationIndex[]> {
  const { preexisting, stack, freeRequested, sizeBytes } = context.input.replay.allocations;
  const after = context.stepSequences[0]?.bounds[AGED_STEPS] ?? 0;
  const ids = Array.from({ length: preexisting }, (_, id) => id).filter(
    (id) =>
      stack[id] <= EMPTY_STACK &&
      freeRequested[id] > after &&
      freeRequested[id] !== NEVER &&
      sizeBytes[id] >= MIN_AGED_BYTES,
  );
  return groupBy(ids, (id) => sizeBytes[id]);
}

/** For each that a queue adds, it drops about one. */
const MIN_DROPPED_SHARE = 0.5;

/** The older tensors of the queue that these are in; none if it is no queue. */
export function agedOutOf(
  context: AnalysisInput,
  kept: readonly AllocationIndex[],
): AllocationIndex[] {
  const aged = context.once(agedOut);
  if (aged.size === 0) return [];
  const { sizeBytes, start } = context.input.replay.allocations;
  const sizes = new Set(kept.map((id) => sizeBytes[id]));
  const dropped = [...sizes].flatMap((size) => aged.get(size) ?? []);
  const added = kept.filter((id) => start[id] >= 0).length;
  return added > 0 && dropped.length >= MIN_DROPPED_SHARE * added ? dropped : [];
}

/** 1 for sites with tensors from at least MIN_KEPT_STEPS steps that are live at the end or at some step's end. */
function piledSites(
  { sites, siteCount, input }: AnalysisInput,
  sequence: StepSequence,
): Uint8Array {
  const { freeRequested } = input.replay.allocations;
  const { bounds } = sequence;
  const last = bounds.length - 1;
  const [kept, lastKept, old, lastOld] = [0, 1, 2, 3].map(() => new Int32Array(siteCount));
  forEachMade(input.replay.allocations, sequence, (id, step) => {
    const site = sites[id];
    const freed = freeRequested[id];
    if (freed > bounds[last] && lastKept[site] <= step) {
      kept[site]++;
      lastKept[site] = step + 1;
    }
    // Outlived two whole steps: part of a pile.
    if (freed > bounds[Math.min(last, step + 3)] && lastOld[site] <= step) {
      old[site]++;
      lastOld[site] = step + 1;
    }
  });
  const enough = last < SHORT_STEPS ? 2 : MIN_KEPT_STEPS;
  return Uint8Array.from(kept, (count, site) =>
    count >= enough || old[site] >= 2 * MIN_KEPT_STEPS ? 1 : 0,
  );
}

/** First step of a steady rise to the end, or undefined. Ignores the last step: much of it is about to be freed. */
function steadyFrom({ live, keptCount }: Curve, steps: number): number | undefined {
  const last = steps - 2;
  const keptAt: number[] = [];
  for (let i = 0; i <= last; i++) if (keptCount[i] > 0) keptAt.push(i);
  return possibleStarts(keptAt)
    .map((from) => keptAt.slice(from))
    .find((rest) => rest.length >= MIN_KEPT_STEPS && isSteady(live, keptCount, rest, last))?.[0];
}

/**
 * Where a rise may begin, as positions in `keptAt`: at the first step, after the first step's own buffers, or after the
 * longest pause.
 */
function possibleStarts(keptAt: readonly number[]): number[] {
  const pauses = keptAt.map((step, i) => (i === 0 ? 0 : step - keptAt[i - 1]));
  return [...new Set([0, 1, Math.max(0, pauses.indexOf(highest(pauses)))])];
}

function isSteady(
  live: Int32Array,
  keptCount: Int32Array,
  keptAt: readonly number[],
  last: number,
): boolean {
  const first = keptAt[0];
  const base = first === 0 ? 0 : live[first - 1];
  const rise = live[last] - base;
  const topBefore = highest([0, ...live.subarray(0, first)]);
  // Was as high before: a queue, or garbage collected in bursts.
  if (live[last] < base + rise / 2 || topBefore > base + rise / 2) return false;
  let [kept, top] = [0, base];
  for (let i = first; i <= last; i++) {
    kept += keptCount[i];
    top = Math.max(top, live[i]);
    if (top - live[i] > 0.25 * rise + 1) return false;
  }
  // Old ones are freed as new ones come.
  if (rise < 0.6 * kept) return false;
  const parts = Math.min(5, keptAt.length >> 1);
  let before = base;
  for (let part = 1; part <= parts; part++) {
    const at = first - 1 + Math.round(((last - first + 1) * part) / parts);
    if (live[at] - before < (0.4 * rise) / parts) return false;
    before = live[at];
  }
  return true;
}

/** Steps at which a pile of at least four tensors, built over several steps, fell to a quarter. */
function burstDrops(live: Int32Array): number[] {
  const drops: number[] = [];
  let [low, lowAt, top] = [0, -1, 0];
  live.forEach((count, i) => {
    top = Math.max(top, count);
    const pile = top - low;
    const isDrop = pile >= 4 && i - lowAt >= 4 && count - low <= pile / 4;
    if (isDrop) drops.push(i);
    if (isDrop || count <= low) [low, lowAt, top] = [count, i, count];
  });
  return drops;
}
