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

import type { AllocationIndex } from '../../allocator/replay/types.ts';
import { lowerBound } from '../../base/binary-search.ts';
import type { StackIndex } from '../../format/snapshot/tables.ts';
import type { AnalysisInput } from '../findings/analysis-input.ts';
import { type StepSequence, stepCount } from '../steps/step-sequence.ts';

/** Fewer steps look like a warm-up. */
const MIN_KEPT_STEPS = 4;
/** With fewer steps, a site may look like a leak but steadiness can't be tested. */
const SHORT_STEPS = 8;
/** Piles that are freed more often belong to the step itself. */
const MIN_BURST_STEPS = 8;

export interface GrowingSite {
  readonly site: number;
  readonly stack: StackIndex;
  /** By step: allocations made in it that are live at the end of the last step. */
  readonly keptCount: Int32Array;
  readonly keptBytes: Float64Array;
  readonly firstStep: number;
  readonly keptSteps: number;
  /** The kept allocations, in order. */
  readonly kept: readonly AllocationIndex[];
}

interface Curve {
  readonly stack: StackIndex;
  readonly bornCount: Int32Array;
  readonly diedCount: Int32Array;
  readonly keptCount: Int32Array;
  readonly keptBytes: Float64Array;
  readonly kept: AllocationIndex[];
}

export interface SiteVerdicts {
  readonly leaks: readonly GrowingSite[];
  readonly bursts: readonly BurstSite[];
  /** In a recording too short to judge: stacks that kept something in every step between first and last. */
  readonly suspects: readonly StackIndex[];
}

/** A site whose tensors pile up over several steps and are then freed at once. */
export interface BurstSite {
  readonly site: number;
  readonly stack: StackIndex;
  /** Steps at whose end a pile was gone. */
  readonly drops: readonly number[];
  /** Live tensors at the end of each step. */
  readonly live: Int32Array;
}

/** Judges all sites by one kind of step; suspects only come from recordings with few steps. */
export function judgeSites(context: AnalysisInput, sequence: StepSequence): SiteVerdicts {
  const steps = stepCount(sequence);
  const leaks: GrowingSite[] = [];
  const bursts: BurstSite[] = [];
  const suspects: StackIndex[] = [];
  for (const [site, curve] of siteCurves(context, sequence)) {
    const live = liveCurve(curve, steps);
    const firstStep = steadyFrom(live, curve, steps);
    if (firstStep !== undefined) leaks.push(growingSite(context, site, curve, firstStep));
    else {
      const drops = burstDrops(live);
      const isRare = drops.length * MIN_BURST_STEPS <= steps;
      if (drops.length >= 2 && isRare) bursts.push({ site, stack: curve.stack, drops, live });
      if (steps < SHORT_STEPS && keepsEveryStep(curve, steps)) suspects.push(curve.stack);
    }
  }
  return { leaks, bursts, suspects };
}

function growingSite(
  context: AnalysisInput,
  site: number,
  curve: Curve,
  firstStep: number,
): GrowingSite {
  const { stack, keptCount, keptBytes } = curve;
  const kept = withoutSetUp(context, curve, firstStep);
  let keptSteps = 0;
  for (let i = firstStep; i < keptCount.length; i++) if (keptCount[i] > 0) keptSteps++;
  return { site, stack, keptCount, keptBytes, firstStep, keptSteps, kept };
}

/**
 * The first matrix product of a program allocates cuBLAS's workspace (32 MiB on Hopper) from the same line as its
 * result. So what the first step keeps is set-up if it is twice as large as everything later steps keep.
 */
function withoutSetUp(context: AnalysisInput, curve: Curve, firstStep: number): AllocationIndex[] {
  const { sizeBytes } = context.input.replay.allocations;
  const { kept, keptCount, keptBytes } = curve;
  let before = 0;
  for (let i = 0; i < firstStep; i++) before += keptCount[i];
  const later = before + keptCount[firstStep];
  let largestLater = 0;
  for (let i = later; i < kept.length; i++)
    largestLater = Math.max(largestLater, sizeBytes[kept[i]]);
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
function siteCurves(context: AnalysisInput, { bounds }: StepSequence): Map<number, Curve> {
  const { sites, siteCount } = context;
  const { start, freeRequested, sizeBytes, stack, length, preexisting } =
    context.input.replay.allocations;
  const steps = bounds.length - 1;
  const end = bounds[steps];
  const chosen = piledSites(context, bounds);
  const curves = new Map<number, Curve>();
  if (chosen.every((mark) => mark === 0)) return curves;
  const curveOf: (Curve | undefined)[] = new Array(siteCount);
  let step = 0;
  for (let id = preexisting; id < length && start[id] <= end; id++) {
    if (start[id] <= bounds[0]) continue;
    while (start[id] > bounds[step + 1]) step++;
    const site = sites[id];
    if (chosen[site] === 0) continue;
    let curve = curveOf[site];
    if (curve === undefined) {
      curve = emptyCurve(stack[id], steps);
      curveOf[site] = curve;
      curves.set(site, curve);
    }
    curve.bornCount[step]++;
    if (freeRequested[id] > end) {
      curve.keptCount[step]++;
      curve.keptBytes[step] += sizeBytes[id];
      curve.kept.push(id);
    } else {
      curve.diedCount[lowerBound(bounds, freeRequested[id], step + 1) - 1]++;
    }
  }
  return curves;
}

function emptyCurve(stack: StackIndex, steps: number): Curve {
  return {
    stack,
    bornCount: new Int32Array(steps),
    diedCount: new Int32Array(steps),
    keptCount: new Int32Array(steps),
    keptBytes: new Float64Array(steps),
    kept: [],
  };
}

/** 1 for sites with tensors from at least MIN_KEPT_STEPS steps that are live at the end or at some step's end. */
function piledSites(context: AnalysisInput, bounds: Int32Array): Uint8Array {
  const { sites, siteCount } = context;
  const { start, freeRequested, length, preexisting } = context.input.replay.allocations;
  const end = bounds[bounds.length - 1];
  const lastStep = new Int32Array(siteCount).fill(-1);
  const keptSteps = new Int32Array(siteCount);
  const oldSteps = new Int32Array(siteCount);
  const lastOld = new Int32Array(siteCount).fill(-1);
  let step = 0;
  for (let id = preexisting; id < length && start[id] <= end; id++) {
    if (start[id] <= bounds[0]) continue;
    while (start[id] > bounds[step + 1]) step++;
    const site = sites[id];
    if (freeRequested[id] > end) {
      if (lastStep[site] !== step) keptSteps[site]++;
      lastStep[site] = step;
    }
    // Outlived two whole steps: part of a pile.
    const later = bounds[Math.min(bounds.length - 1, step + 3)];
    if (freeRequested[id] > later && lastOld[site] !== step) {
      oldSteps[site]++;
      lastOld[site] = step;
    }
  }
  const chosen = new Uint8Array(siteCount);
  for (let site = 0; site < siteCount; site++) {
    const enough = bounds.length - 1 < SHORT_STEPS ? 2 : MIN_KEPT_STEPS;
    if (keptSteps[site] >= enough || oldSteps[site] >= 2 * MIN_KEPT_STEPS) chosen[site] = 1;
  }
  return chosen;
}

function keepsEveryStep({ keptCount }: Curve, steps: number): boolean {
  for (let i = 1; i < steps - 1; i++) if (keptCount[i] === 0) return false;
  return steps > 3;
}

function liveCurve({ bornCount, diedCount }: Curve, steps: number): Int32Array {
  const live = new Int32Array(steps);
  let count = 0;
  for (let i = 0; i < steps; i++) {
    count += bornCount[i] - diedCount[i];
    live[i] = count;
  }
  return live;
}

/** First step of a steady rise to the end, or undefined. Ignores the last step: much of it is about to be freed. */
function steadyFrom(live: Int32Array, { keptCount }: Curve, steps: number): number | undefined {
  const last = steps - 2;
  const keptAt: number[] = [];
  for (let i = 0; i <= last; i++) if (keptCount[i] > 0) keptAt.push(i);
  for (const from of possibleStarts(keptAt)) {
    const rest = keptAt.slice(from);
    if (rest.length >= MIN_KEPT_STEPS && isSteady(live, keptCount, rest, last)) return rest[0];
  }
  return undefined;
}

/**
 * Where a rise may begin, as positions in `keptAt`: at the first step, after the first step's own buffers, or after the
 * longest pause.
 */
function possibleStarts(keptAt: readonly number[]): number[] {
  let pauseEnd = 0;
  for (let i = 1; i < keptAt.length; i++) {
    const longest = pauseEnd === 0 ? 0 : keptAt[pauseEnd] - keptAt[pauseEnd - 1];
    if (keptAt[i] - keptAt[i - 1] > longest) pauseEnd = i;
  }
  return [...new Set([0, 1, pauseEnd])];
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
  let kept = 0;
  let top = 0;
  for (let i = 0; i < first; i++) top = Math.max(top, live[i]);
  // Was as high before: a queue, or garbage collected in bursts.
  if (live[last] < base + rise / 2 || top > base + rise / 2) return false;
  top = base;
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
  let low = 0;
  let lowAt = -1;
  let top = 0;
  for (let i = 0; i < live.length; i++) {
    top = Math.max(top, live[i]);
    const pile = top - low;
    if (pile >= 4 && i - lowAt >= 4 && live[i] - low <= pile / 4) {
      drops.push(i);
      [low, lowAt, top] = [live[i], i, live[i]];
    } else if (live[i] <= low) {
      [low, lowAt, top] = [live[i], i, live[i]];
    }
  }
  return drops;
}
