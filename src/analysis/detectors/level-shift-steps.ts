/** The peak of each step, and the step at which these peaks go up for good. */
import { highest, lowest } from '../../base/extremes.ts';
import { TraceAction } from '../../format/snapshot/tables.ts';
import type { AnalysisInput } from '../findings/analysis-input.ts';
import type { StepSequence } from '../steps/step-sequence.ts';

/** Bytes allocated at the highest moment of each step. */
export function stepPeaks(
  { input: { replay, trace } }: AnalysisInput,
  { bounds }: Pick<StepSequence, 'bounds'>,
): Float64Array {
  const { sizeBytes, preexisting } = replay.allocations;
  const { action } = trace.events;
  const peaks = new Float64Array(bounds.length - 1);
  let now = 0;
  for (let id = 0; id < preexisting; id++) now += sizeBytes[id];
  let step = -1;
  for (let event = 0; event <= bounds[bounds.length - 1]; event++) {
    while (step < peaks.length - 1 && event > bounds[step + 1]) {
      step++;
      peaks[step] = now;
    }
    const id = replay.allocationOfEvent[event];
    if (id < 0) continue;
    if (action[event] === TraceAction.Alloc) now += sizeBytes[id];
    else if (action[event] === TraceAction.FreeRequested) now -= sizeBytes[id];
    if (step >= 0) peaks[step] = Math.max(peaks[step], now);
  }
  return peaks;
}

export interface Shift {
  /** The first step of the higher level. */
  readonly step: number;
  readonly beforeBytes: number;
  readonly afterBytes: number;
}

/** Steps that a level must have lasted, the first of the program not counted: it has no optimizer state yet. */
const MIN_LEVEL_STEPS = 3;
/** How far a level may be from flat, of the height of the step between both. */
const MAX_UNEVEN = 0.25;
/** Between the highest step before and the lowest after, of the latter: what leaves out the steps of a slow rise. */
const MIN_GAP = 0.02;

/** Undefined where no step parts all steps into a lower and a higher level, each of them flat. */
export function findShift(peaks: ArrayLike<number>): Shift | undefined {
  const all = Array.from(peaks);
  let best: Shift | undefined;
  for (const step of gaps(all)) {
    const beforeBytes = middle(all.slice(1, step));
    const afterBytes = middle(all.slice(step));
    const rise = afterBytes - beforeBytes;
    if (best !== undefined && rise <= best.afterBytes - best.beforeBytes) continue;
    const isFlat =
      highest(all.slice(0, step)) <= beforeBytes + MAX_UNEVEN * rise &&
      lowest(all.slice(step - MIN_LEVEL_STEPS, step)) >= beforeBytes - MAX_UNEVEN * rise &&
      highest(all.slice(step)) <= afterBytes + MAX_UNEVEN * rise &&
      lowest(all.slice(step)) >= afterBytes - MAX_UNEVEN * rise;
    const isRising = goesOn(all.slice(1, step), rise) || goesOn(all.slice(step), rise);
    if (rise > 0 && isFlat && !isRising) {
      best = { step, beforeBytes, afterBytes };
    }
  }
  return best;
}

/** Steps from which on all peaks are higher than all before. */
function gaps(peaks: readonly number[]): number[] {
  const lowestFrom = Float64Array.from(peaks);
  for (let i = peaks.length - 2; i >= 0; i--) {
    lowestFrom[i] = Math.min(lowestFrom[i], lowestFrom[i + 1]);
  }
  const found: number[] = [];
  let top = peaks[0] ?? 0;
  for (let step = 1; step <= peaks.length - MIN_LEVEL_STEPS; step++) {
    const isGap = lowestFrom[step] - top > MIN_GAP * lowestFrom[step];
    if (isGap && step > MIN_LEVEL_STEPS) found.push(step);
    top = Math.max(top, peaks[step]);
  }
  return found;
}

/** The second half of a level is higher than the first by much of what is allowed: it rises. */
function goesOn(level: readonly number[], rise: number): boolean {
  const half = level.length >> 1;
  return middle(level.slice(half)) - middle(level.slice(0, half)) > (MAX_UNEVEN / 2) * rise;
}

/** Median. */
function middle(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1];
}
