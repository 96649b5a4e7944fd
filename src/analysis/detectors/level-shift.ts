/**
 * Memory that rises at one step of the program and stays up: a larger batch, an expert that gets more tokens, a copy of
 * the weights that is made once.
 *
 *     level shift   ▃▅▅▅▅▅████████   flat before, flat after
 *     warm-up       ▃▅██████████     only the first steps are lower
 *     one step      ▃▅▅▅▅▅█▅▅▅▅▅▅    falls back
 *     leak          ▁▂▃▄▅▆▇█         not flat
 */

import { liveAt } from '../../allocator/replay/trace-events.ts';
import type { AllocationIndex } from '../../allocator/replay/types.ts';
import { mappedRangesAt } from '../../allocator/state/allocator-state.ts';
import { groupBy, memoized, sumBy } from '../../base/collections.ts';
import { highest, lowest } from '../../base/extremes.ts';
import { formatBytes, formatCount, formatPercent, plural } from '../../base/format.ts';
import { Evidence } from '../../device/classes/types.ts';
import { annotationSpans } from '../../device/model/annotations.ts';
import { type EventIndex, type StackIndex, TraceAction } from '../../format/snapshot/tables.ts';
import type { AnalysisInput } from '../findings/analysis-input.ts';
import {
  cannotTell,
  clear,
  found,
  locationText,
  noSteps,
  placeText,
  series,
  sitePart,
} from '../findings/finding-parts.ts';
import type { Detector, DetectorResult, Fact, FindingBy } from '../findings/types.ts';
import { userLines } from '../findings/user-lines.ts';
import { stepCount } from '../steps/step-sequence.ts';
import { adviceFor } from '../verdict/remedy-ideas.ts';

export const levelShift = {
  id: 'level-shift',
  about: 'memory that steps up at one step of the program, and stays up',
  titles: {
    'larger-tensors': 'Stepped up: larger tensors',
    'more-tensors': 'Stepped up: more tensors',
    'new-tensors': 'Stepped up: new tensors that stay',
  },
  bytesAre: 'more a step',
  highlight: { style: 'growth', label: 'stepped up' },
  evidenceSearch: 'blocks',
} as const satisfies Detector;
type ShiftFinding = FindingBy<typeof levelShift>;

/** Fewer steps leave nothing between warm-up and end. */
const MIN_STEPS = 8;
/** Share of the new level: a smaller rise is not a finding. */
const MIN_SHARE = 0.05;
const MIN_BYTES = 8 * 2 ** 20;
const SEVERE_SHARE = 0.25;
const SEVERE_BYTES = 2 ** 30;
const MAX_LISTED = 3;

export function detectLevelShift(context: AnalysisInput): DetectorResult<ShiftFinding> {
  const [primary] = context.stepSequences;
  if (primary === undefined) {
    return cannotTell(
      `${noSteps(context.input.replay)} repeats often enough, so there are no steps to compare.`,
    );
  }
  const steps = stepCount(primary);
  const { bounds, description } = primary;
  if (steps < MIN_STEPS) {
    return cannotTell(
      `Only ${steps} steps, from ${description}: it takes ${MIN_STEPS} to tell a step up from the start of the program.`,
    );
  }
  const all = stepPeaks(context, bounds);
  const peaks = all.map((peak) => peak.bytes);
  const shift = findShift(peaks);
  const after = all[Math.min((shift?.step ?? 0) + 1, steps - 1)];
  const changed = shift === undefined ? [] : changedLines(context, all[shift.step - 1], after);
  if (shift === undefined || !isLarge(shift) || isCopyOfWeights(context, changed)) {
    return clear(
      `${steps} steps, from ${description}: no one step divides them into two flat levels at least ${formatPercent(MIN_SHARE)} apart.${risesText(peaks)}`,
    );
  }
  const { step, beforeBytes, afterBytes } = shift;
  const bytes = afterBytes - beforeBytes;
  const lines = changed.filter((line) => line.moreBytes >= MIN_SHARE * bytes);
  const lead = lines.find(({ isNamed }) => isNamed) ?? lines[0];
  const first = firstChange(context, bounds, step);
  const isNew = lead?.isNew ?? false;
  const kind = isNew
    ? 'new-tensors'
    : lead !== undefined && hasMore(lead)
      ? 'more-tensors'
      : 'larger-tensors';
  const isSevere = bytes >= SEVERE_SHARE * afterBytes && bytes >= SEVERE_BYTES;
  const reservedAt = (event: EventIndex) =>
    sumBy(mappedRangesAt(context.input.replay.segmentSpans, event), ({ sizeBytes }) => sizeBytes);
  // If something other than the lead changed first, it may be the cause.
  const firstText =
    first.line === undefined || isNew ? '' : ` The first to change in that step was ${first.line}.`;
  const last = bounds[steps];
  const texts = (label: string, all: readonly string[]) =>
    all.slice(0, MAX_LISTED).map((text): Fact => ({ label, text }));
  return found(context, {
    detector: 'level-shift',
    kind,
    severity: isSevere ? 'high' : 'medium',
    bytes,
    stack: lead?.stack,
    frameIs: 'allocated at',
    claim: (where) =>
      `After ${step} of ${steps} steps, a step's peak rose from ${formatBytes(beforeBytes)} to ${formatBytes(afterBytes)} and stayed there${lead === undefined ? '' : `: ${whatChanged(lead, where)}`}.${firstText} The levels before and after are flat, so it is neither a leak nor the start of the program.`,
    events: { first: first.event, last },
    sites: lead === undefined ? [] : [{ ...lead, bytes: lead.moreBytes }],
    note: '',
    pattern: 'stepped-up',
    parts: lines.map((line) => sitePart(context, { ...line, bytes: line.moreBytes }, noteOf(line))),
    ids: lead?.ids ?? [],
    moment: after.event,
    facts: [
      { label: 'steps are', text: description },
      { label: 'at step', count: step },
      { label: 'at event', count: first.event },
      { label: 'peak of a step before', bytes: beforeBytes },
      { label: 'peak of a step after', bytes: afterBytes },
      { label: 'reserved before', bytes: reservedAt(bounds[step]) },
      { label: 'reserved after', bytes: reservedAt(last) },
      ...texts('changed first', first.line === undefined ? [] : [first.line]),
      ...texts(
        'ran for the first time',
        lines
          .filter((line) => line.isNew && line.isNamed)
          .map(({ stack }) => placeText(context, stack)),
      ),
      ...texts('annotation seen for the first time', annotationsSince(context, bounds, step)),
    ],
    series: series('step', 'peak of each step', bounds.subarray(1), peaks),
    advice: isNew ? NEW_ADVICE : adviceFor('activations', 'stepped-up'),
    disproof:
      'If a longer recording falls back to the level before, it was a phase of the program (an evaluation, a curriculum), not a lasting step.',
  });
}

/** A copy of the weights that is made once (an average, a reference) is meant to stay. */
function isCopyOfWeights({ classification }: AnalysisInput, [lead]: readonly ChangedLine[]) {
  return (
    lead?.isNew === true &&
    lead.ids.every((id) => classification.evidenceOf[id] === Evidence.CopiedWeights)
  );
}

const isLarge = ({ beforeBytes, afterBytes }: Shift): boolean =>
  afterBytes - beforeBytes >= Math.max(MIN_BYTES, MIN_SHARE * afterBytes);

/** More tensors, none of them larger. */
const hasMore = ({ largestBefore, largestAfter, count, countBefore }: ChangedLine): boolean =>
  largestAfter <= 1.05 * largestBefore && count > countBefore;

function whatChanged(line: ChangedLine, where: string): string {
  const { isNew, moreBytes, largestBefore: before, largestAfter: after, count, countBefore } = line;
  if (isNew) return `${where} made its first tensors, ${formatBytes(moreBytes)} that stay`;
  if (hasMore(line))
    return `${where} has ${formatBytes(moreBytes)} more at a time, in ${plural(count - countBefore, 'more tensor')}`;
  return after > 1.05 * before
    ? `tensors of ${where} grew from ${formatBytes(before)} to ${formatBytes(after)}`
    : `${where} has ${formatBytes(moreBytes)} more at a time`;
}

const NEW_ADVICE = [
  'If it is meant to stay (an average of the weights, a reference model, a cache), keep it on the CPU or in bfloat16, and count it from the start.',
  'If it is not, delete what this line made when it is done.',
];

/** The moment with the most allocated bytes in each step. */
function stepPeaks({ input: { replay, trace } }: AnalysisInput, bounds: Int32Array): Peak[] {
  const { sizeBytes, preexisting } = replay.allocations;
  const { action } = trace.events;
  const peaks: Peak[] = [];
  let now = sumBy(sizeBytes.subarray(0, preexisting), (bytes) => bytes);
  for (let event = 0; event <= bounds[bounds.length - 1]; event++) {
    const begin = bounds[peaks.length];
    if (event > begin) peaks.push({ event: begin, bytes: now, begin });
    const id = replay.allocationOfEvent[event];
    if (id < 0) continue;
    if (action[event] === TraceAction.Alloc) now += sizeBytes[id];
    else if (action[event] === TraceAction.FreeRequested) now -= sizeBytes[id];
    const last = peaks[peaks.length - 1];
    if (last !== undefined && now > last.bytes)
      peaks[peaks.length - 1] = { event, bytes: now, begin: last.begin };
  }
  return peaks;
}

interface Shift {
  /** The first step of the higher level. */
  readonly step: number;
  readonly beforeBytes: number;
  readonly afterBytes: number;
}

/** Steps that a level must last. The program's first step doesn't count: it has no optimizer state yet. */
const MIN_LEVEL_STEPS = 3;
/** How much a level may vary, as a share of the rise. */
const MAX_UNEVEN = 0.25;
/** The gap between the highest step before and the lowest after, as a share of the latter: rules out slow rises. */
const MIN_GAP = 0.02;

/** Undefined unless one step divides all steps into a flat lower level and a flat higher level. */
export function findShift(peaks: ArrayLike<number>): Shift | undefined {
  const all = Array.from(peaks);
  let best: Shift | undefined;
  for (const step of gaps(all)) {
    const before = all.slice(0, step);
    const after = all.slice(step);
    const beforeBytes = upperMedian(before.slice(1));
    const afterBytes = upperMedian(after);
    const rise = afterBytes - beforeBytes;
    if (rise <= (best === undefined ? 0 : best.afterBytes - best.beforeBytes)) continue;
    const uneven = MAX_UNEVEN * rise;
    const isFlat =
      highest(before) <= beforeBytes + uneven &&
      lowest(before.slice(-MIN_LEVEL_STEPS)) >= beforeBytes - uneven &&
      highest(after) <= afterBytes + uneven &&
      lowest(after) >= afterBytes - uneven;
    const isRising = goesOn(before.slice(1), rise) || goesOn(after, rise);
    if (isFlat && !isRising) best = { step, beforeBytes, afterBytes };
  }
  return best;
}

/** Steps after which all peaks are higher than all peaks before. */
function gaps(peaks: readonly number[]): number[] {
  const lowestFrom = Float64Array.from(peaks);
  for (let i = peaks.length - 2; i >= 0; i--)
    lowestFrom[i] = Math.min(lowestFrom[i], lowestFrom[i + 1]);
  const found: number[] = [];
  let top = peaks[0] ?? 0;
  for (let step = 1; step <= peaks.length - MIN_LEVEL_STEPS; step++) {
    const isGap = lowestFrom[step] - top > MIN_GAP * lowestFrom[step];
    if (isGap && step > MIN_LEVEL_STEPS) found.push(step);
    top = Math.max(top, peaks[step]);
  }
  return found;
}

/** " From each of 3 steps on (11, 21, 31), all peaks are 2% or more above all before.", or '' if at most one does. */
function risesText(peaks: readonly number[]): string {
  const rises = gaps(peaks);
  if (rises.length < 2) return '';
  const more = rises.length > MAX_LISTED ? ', …' : '';
  return ` From each of ${formatCount(rises.length)} steps on (${rises.slice(0, MAX_LISTED).map(formatCount).join(', ')}${more}), all peaks are ${formatPercent(MIN_GAP)} or more above all before.`;
}

/** Whether a level's second half is higher than its first by much of the allowance: it keeps rising. */
function goesOn(level: readonly number[], rise: number): boolean {
  const half = level.length >> 1;
  const more = upperMedian(level.slice(half)) - upperMedian(level.slice(0, half));
  return more > (MAX_UNEVEN / 2) * rise;
}

/** A peak that some step had, even if the number of steps is even. */
const upperMedian = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1];

/** A user line, or all backward threads together. */
type ChangedLine = ReturnType<typeof changedLines>[number];

const BACKWARD = -1;

/** The highest moment of a step. */
interface Peak {
  readonly event: EventIndex;
  readonly bytes: number;
  /** The last event before the step. */
  readonly begin: EventIndex;
}

/** The largest rise first: compares the highest moments of the steps before and after the rise. */
function changedLines(context: AnalysisInput, before: Peak, after: Peak) {
  const { sizeBytes, stack, start } = context.input.replay.allocations;
  const held = heldByLine(context, before);
  const largestOf = (ids: readonly AllocationIndex[], { begin }: Peak): AllocationIndex => {
    // cuBLAS's workspace stays forever and says little: what the step itself made comes first.
    const made = ids.filter((id) => start[id] > begin);
    return (made.length > 0 ? made : ids).reduce((a, b) => (sizeBytes[b] > sizeBytes[a] ? b : a));
  };
  const lines = Array.from(heldByLine(context, after), ([line, ids]) => {
    const was = held.get(line) ?? [];
    const isNew = was.length === 0;
    const beforeBytes = sumBy(was, (id) => sizeBytes[id]);
    const largest = largestOf(ids, after);
    return {
      /** Of its largest tensor. */
      stack: stack[largest],
      /** False for backward threads. */
      isNamed: line !== BACKWARD,
      moreBytes: sumBy(ids, (id) => sizeBytes[id]) - beforeBytes,
      largestBefore: isNew ? 0 : sizeBytes[largestOf(was, before)],
      largestAfter: sizeBytes[largest],
      count: ids.length,
      countBefore: was.length,
      ...{ isNew, beforeBytes, ids },
    };
  });
  return lines.filter(({ moreBytes }) => moreBytes > 0).sort((a, b) => b.moreBytes - a.moreBytes);
}

const noteOf = ({ isNew, beforeBytes, moreBytes, count, countBefore }: ChangedLine): string =>
  isNew
    ? 'made for the first time'
    : `${count === countBefore ? '' : `(${formatCount(countBefore)} before), `}${formatBytes(beforeBytes)} → ${formatBytes(beforeBytes + moreBytes)} at a time`;

/** What each user line has at an event, and all backward threads together. */
function heldByLine({ input, classifier }: AnalysisInput, { event }: Peak) {
  const { allocations } = input.replay;
  const lineOf = memoized((own: StackIndex) =>
    classifier.isBackward(own) ? BACKWARD : (input.stacks.topUserFrame(own) ?? BACKWARD),
  );
  return groupBy(liveAt(allocations, event), (id) => lineOf(allocations.stack[id]));
}

/**
 * The first allocation in the step with a stack and size that the step before lacks: later differences may follow from
 * it.
 */
function firstChange(context: AnalysisInput, bounds: Int32Array, step: number) {
  const { start, requestedBytes, stack, length, preexisting } = context.input.replay.allocations;
  const seen = new Set<string>();
  for (let id = preexisting; id < length && start[id] <= bounds[step + 1]; id++) {
    if (start[id] <= bounds[step - 1]) continue;
    const key = `${stack[id]} ${requestedBytes[id]}`;
    if (start[id] <= bounds[step]) seen.add(key);
    else if (!seen.has(key)) {
      const lines = userLines(context, stack[id]).map(locationText);
      const ends = lines.length > 2 ? [lines[0], lines[lines.length - 1]] : lines;
      return { event: start[id], line: ends.join(', called from ') || undefined };
    }
  }
  return { event: bounds[step] + 1, line: undefined };
}

/** Names of annotations that first began in this step; names that differ only in numbers count as equal. */
function annotationsSince({ input }: AnalysisInput, bounds: Int32Array, step: number): string[] {
  const namesBetween = (from: number, to: number) =>
    annotationSpans(input)
      .filter(({ startEvent }) => startEvent > from && startEvent <= to)
      .map(({ name }) => name.replace(/\d+/g, '…'));
  const before = new Set(namesBetween(-Infinity, bounds[step]));
  const own = new Set(namesBetween(bounds[step], bounds[step + 1]));
  return [...own].filter((name) => !before.has(name));
}
