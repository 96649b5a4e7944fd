/** Memory that grows step after step and is not given back. */
import { type AllocationIndex, NEVER } from '../../allocator/replay/types.ts';
import { lowerBound } from '../../base/binary-search.ts';
import { addUp, groupBy, largestFirst, sumBy } from '../../base/collections.ts';
import { highest } from '../../base/extremes.ts';
import { formatBytes, plural } from '../../base/format.ts';
import { frameLabel } from '../../device/model/frame-text.ts';
import type { FrameView } from '../../device/model/types.ts';
import type { EventIndex, FrameIndex } from '../../format/snapshot/tables.ts';
import type { AnalysisInput } from '../findings/analysis-input.ts';
import {
  cannotTell,
  clear,
  findingOf,
  noSteps,
  placeText,
  stepSeries,
} from '../findings/finding-parts.ts';
import type { Detector, DetectorResult, FindingBy } from '../findings/types.ts';
import { MIN_STEPS, type StepSequence, stepCount } from '../steps/step-sequence.ts';
import { growthOf, SURE_STEPS } from './growth-leaks.ts';
import { cohortsToTell, keptFinding, liveAtBounds } from './kept-finding.ts';

export const growth = {
  id: 'growth',
  about: 'tensors that a program keeps, more of them step after step',
  titles: {
    'kept-graph': 'Growth: a kept graph',
    'kept-hook': 'Growth: kept by a hook',
    'kept-scalar': 'Growth: kept numbers',
    'kept-output': 'Growth: kept outputs',
    'kept-gradients': 'Growth: kept in backward',
    'kept-optimizer': 'Growth: optimizer state',
    'kept-tensor': 'Growth: kept tensors',
    'freed-in-bursts': 'Growth, freed in bursts',
  },
  bytesAre: 'kept in all',
  bytesOfKind: { 'freed-in-bursts': 'at its highest' },
  highlight: { style: 'growth', label: 'grows' },
  evidenceSearch: 'blocks',
} as const satisfies Detector;
type GrowthFinding = FindingBy<typeof growth>;

export function detectGrowth(context: AnalysisInput): DetectorResult<GrowthFinding> {
  const { replay } = context.input;
  const [primary] = context.stepSequences;
  const cohorts = context.once(cohortsToTell).map((cohort) => keptFinding(context, cohort));
  if (primary === undefined) {
    if (cohorts.length > 0) return { status: 'found', findings: cohorts };
    const { stack: stacks, preexisting } = replay.allocations;
    const why = stacks.subarray(preexisting).every((stack) => stack <= 0)
      ? 'No call stacks were recorded, and no annotation marks the steps'
      : `${noSteps(replay)} that repeats at least ${MIN_STEPS} times was found`;
    return cannotTell(`${why}, so there are no steps to compare.`);
  }
  const { bursts, suspects } = growthOf(context);
  const findings = [...cohorts, ...burstFindings(context, primary, bursts)];
  if (findings.length > 0) return { status: 'found', findings };
  const steps = stepCount(primary);
  if (suspects.length > 0) {
    const where = placeText(context, suspects[0]);
    return cannotTell(
      `The recording has only ${plural(steps, 'step')}, from ${primary.description}, and ${where} kept something in each: too few to tell a leak from a start. Record ten or more.`,
    );
  }
  if (replay.recording === 'truncated') {
    return cannotTell(
      `${replay.recordingReason} In what is left, no line has a growing number of live tensors (${plural(steps, 'step')}, from ${primary.description}), but slow growth before that cannot be seen.`,
    );
  }
  return clear(
    `${plural(steps, 'step')}, from ${primary.description}: no call site has a growing number of live tensors up to the end.${steps < SURE_STEPS ? ' A leak slower than every step would need a longer recording.' : ''}`,
  );
}

type BurstSites = ReturnType<typeof growthOf>['bursts'];

/** Share of the peak: smaller piles are not worth a line. */
const MIN_SHARE = 0.01;

/**
 * What piles up over steps and is freed at once: garbage cycles, or caches that are dropped on purpose. All such sites
 * share one finding of low severity, because the memory comes back.
 */
function burstFindings(context: AnalysisInput, { bounds }: StepSequence, bursts: BurstSites) {
  if (bursts.length === 0) return [];
  const { bytes, ids, ends } = pileOf(context, bounds, bursts);
  const top = highest(bytes);
  if (top < MIN_SHARE * context.input.replay.peaks.allocatedBytes.bytes) return [];
  const moment = ends[bytes.indexOf(top)];
  const sums = sumsOfSites(context, ids, moment);
  const sites = bursts
    .map(({ site, stack }) => ({ stack, ...(sums.get(site) ?? { bytes: 0, count: 0 }) }))
    .sort((a, b) => b.bytes - a.bytes);
  const drops =
    highest(bursts.map((burst) => burst.drops.length)) +
    Number(isDroppedLater(context, bytes, ids));
  const lines = linesThatFree(context, ids);
  const isBy = lines.length === 0 ? '' : ` by ${lines.map(frameLabel).join(' and ')}`;
  const why =
    lines.length === 0
      ? "it looks like reference cycles that wait for Python's garbage collector, or a cache that is dropped by design"
      : lines.length === 1
        ? "that line drops what holds it, or runs Python's garbage collector"
        : "these lines drop what holds it, or run Python's garbage collector";
  const finding: GrowthFinding = findingOf(context, {
    detector: 'growth',
    kind: 'freed-in-bursts',
    severity: 'low',
    bytes: top,
    stack: sites[0].stack,
    claim: (where) =>
      `Up to ${formatBytes(top)} from ${plural(bursts.length, 'call site')} (${where} first) piles up over several steps and is given back at once${isBy}, ${plural(drops, 'time')}. It is not a leak: ${why}.`,
    events: { first: bounds[0], last: bounds[bounds.length - 1] },
    sites,
    note: 'tensors at the highest',
    facts: [{ label: 'times given back', count: drops }],
    ids,
    moment,
    series: stepSeries('bytes not freed', bounds, bytes),
    advice: [lines.length === 0 ? BREAK_CYCLE : KEEP_LESS],
    disproof:
      lines.length === 0
        ? 'With gc.collect() in each step the curve stays as it is: then something holds them on purpose.'
        : 'With a number or a copy on the CPU kept of each instead, the curve stays as it is.',
  });
  return [finding];
}

const BREAK_CYCLE =
  'If nothing here is a cache, break the cycle: an object that refers to itself (a closure over self, an exception kept with its traceback) keeps its tensors until gc runs. With gc.collect() in each step such a pile is gone.';
const KEEP_LESS =
  'Keep only what is needed of each (a number, or a copy on the CPU), or empty what holds them more often. If such a line calls gc.collect(), an object that refers to itself keeps them: break the cycle.';

/** Of the highest, and of what it was then. */
const PILE_SHARE = 0.5;
const LEFT_SHARE = 0.25;

/** Whether a pile that was there at the last step's end was given back after it, as when the function returned. */
function isDroppedLater(
  { input }: AnalysisInput,
  bytes: Float64Array,
  ids: readonly AllocationIndex[],
): boolean {
  const { freeRequested, sizeBytes } = input.replay.allocations;
  const last = bytes[bytes.length - 1];
  const left = sumBy(ids, (id) => (freeRequested[id] === NEVER ? sizeBytes[id] : 0));
  return last >= PILE_SHARE * highest(bytes) && left <= LEFT_SHARE * last;
}

/** What is live at a moment, by call site. */
function sumsOfSites(context: AnalysisInput, ids: readonly AllocationIndex[], moment: EventIndex) {
  const { start, freeRequested, sizeBytes } = context.input.replay.allocations;
  const live = ids.filter((id) => start[id] <= moment && freeRequested[id] > moment);
  const bySite = groupBy(live, (id) => context.sites[id]);
  return new Map(
    [...bySite].map(([site, own]) => [
      site,
      { bytes: sumBy(own, (id) => sizeBytes[id]), count: own.length },
    ]),
  );
}

/** Share of the tensors given back that so many lines free. The garbage collector runs wherever the program happens to be. */
const FEW_LINES = 0.9;

/** The user's lines that give nearly all of them back; none if many do, or the frees have no stacks. */
function linesThatFree({ input }: AnalysisInput, ids: readonly AllocationIndex[]): FrameView[] {
  const { freeRequested } = input.replay.allocations;
  const { action, stack } = input.trace.events;
  const freed = ids.filter((id) => freeRequested[id] < action.length);
  const counts = new Map<FrameIndex, number>();
  for (const id of freed) {
    const line = input.stacks.topUserFrame(stack[freeRequested[id]]);
    if (line !== undefined) addUp(counts, line, 1);
  }
  const most = largestFirst(counts);
  const few = [1, 2]
    .map((lines) => most.slice(0, lines))
    .find((lines) => sumBy(lines, ([, count]) => count) >= FEW_LINES * freed.length);
  return few?.map(([line]) => input.stacks.frame(line)) ?? [];
}

/** The sites' total after each step, the event it is of, and the allocations that outlived their step. */
function pileOf(context: AnalysisInput, bounds: Int32Array, bursts: BurstSites) {
  const { start, freeRequested, preexisting, length } = context.input.replay.allocations;
  const isBurst = new Set(bursts.map(({ site }) => site));
  const ids: AllocationIndex[] = [];
  for (let id = preexisting; id < length; id++) {
    const step = Math.min(lowerBound(bounds, start[id]), bounds.length - 1);
    if (isBurst.has(context.sites[id]) && freeRequested[id] > bounds[step]) ids.push(id);
  }
  // The last one also counts what came after the last step.
  const ends = bounds.slice();
  ends[ends.length - 1] = highest([bounds[bounds.length - 1], ...ids.map((id) => start[id])]);
  return { bytes: liveAtBounds(context, bounds, ids), ids, ends };
}
