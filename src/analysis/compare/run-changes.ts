/** What call stacks do otherwise over the whole run: their tensors live longer, or are made more often. */
import type { MergedStacks } from './match-sites.ts';
import { type ComparisonSide, lineOf, type StackRun } from './side.ts';
import type { RunChange, RunChangeKind } from './types.ts';

/** Half as much again. */
const RATIO = 1.5;
/** Shares of the run: shorter lives that get longer are of no interest. */
const NOTABLE_SHARE = 0.02;
/** Fewer allocations say nothing of a rate. */
const NOTABLE_COUNT = 8;

/** Those that move most bytes first. */
export function runChanges(
  a: ComparisonSide,
  b: ComparisonSide,
  { ofA, ofB }: MergedStacks,
): RunChange[] {
  const inA = new Map(
    a.runs.map((run) => [run.stack > 0 ? ofA[run.stack] : Math.min(0, run.stack), run]),
  );
  const perStep = (side: ComparisonSide) => Math.max(1, side.stepBounds.length - 1);
  const steps = { a: perStep(a), b: perStep(b) };
  const changes: RunChange[] = [];
  for (const run of b.runs) {
    const other = run.stack > 0 ? inA.get(ofB[run.stack]) : undefined;
    if (other === undefined) continue;
    const kinds = [...livesOf(other, run), ...churnOf(other, run, steps)];
    if (kinds.length > 0) changes.push({ kinds, frame: lineOf(b, run.stack), a: other, b: run });
  }
  const weight = (change: RunChange) => Math.max(change.a.totalBytes, change.b.totalBytes);
  return changes.sort((x, y) => weight(y) - weight(x));
}

function livesOf(a: StackRun, b: StackRun): RunChangeKind[] {
  if (isMuchMore(b.lifetimeShare, a.lifetimeShare, NOTABLE_SHARE)) return ['lives-longer'];
  return isMuchMore(a.lifetimeShare, b.lifetimeShare, NOTABLE_SHARE) ? ['lives-shorter'] : [];
}

/** By step where both sides have steps: a run of twice as many allocates twice as often. */
function churnOf(
  a: StackRun,
  b: StackRun,
  steps: { readonly a: number; readonly b: number },
): RunChangeKind[] {
  const isPerStep = steps.a > 1 && steps.b > 1;
  const rateA = a.allocations / (isPerStep ? steps.a : 1);
  const rateB = b.allocations / (isPerStep ? steps.b : 1);
  const least = isPerStep ? 1 : NOTABLE_COUNT;
  if (isMuchMore(rateB, rateA, least)) return ['churns-more'];
  return isMuchMore(rateA, rateB, least) ? ['churns-less'] : [];
}

const isMuchMore = (more: number, less: number, least: number): boolean =>
  more >= RATIO * less && more - less >= least;
