/**
 * Memory that rises at one step of the program and stays up: a larger batch, an expert that gets more tokens, a copy of
 * the weights that is made once.
 *
 *     level shift   ▃▅▅▅▅▅████████   flat before, flat after
 *     warm-up       ▃▅██████████     only the first steps are lower
 *     one step      ▃▅▅▅▅▅█▅▅▅▅▅▅    falls back
 *     leak          ▁▂▃▄▅▆▇█         not flat
 */
import { highest, lowest } from '../../base/extremes.ts';
import { formatBytes, formatPercent } from '../../base/format.ts';
import { Evidence } from '../../device/classes/types.ts';
import { type EventIndex, TraceAction } from '../../format/snapshot/tables.ts';
import type { AnalysisInput } from '../findings/analysis-input.ts';
import { cannotTell, clear, findingOf, locationText, series } from '../findings/finding-parts.ts';
import type { Detector, DetectorResult, Fact, FindingBy } from '../findings/types.ts';
import { type StepSequence, stepCount } from '../steps/step-sequence.ts';
import { adviceFor } from '../verdict/remedies.ts';
import {
  annotationsSince,
  type ChangedLine,
  changedLines,
  firstChange,
  noteOf,
} from './level-shift-lines.ts';

export const levelShift = {
  id: 'level-shift',
  about: 'memory that steps up at one step of the program, and stays up',
  titles: {
    'larger-tensors': 'Stepped up: larger tensors',
    'new-tensors': 'Stepped up: new tensors that stay',
  },
  bytesAre: 'more a step',
  band: { style: 'growth', label: 'stepped up' },
  evidenceSearch: 'line',
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
  if (!context.hasTrace)
    return cannotTell('The file has no trace: a step up shows only over time.');
  const [primary] = context.stepSequences;
  if (primary === undefined) {
    return cannotTell('Nothing in the recording repeats, so there are no steps to compare.');
  }
  const steps = stepCount(primary);
  if (steps < MIN_STEPS) {
    return cannotTell(
      `Only ${steps} steps, from ${primary.description}: a step up takes ${MIN_STEPS} to differ from a start.`,
    );
  }
  const peaks = stepPeaks(context, primary);
  const shift = findShift(peaks);
  if (shift !== undefined && isLarge(shift)) {
    const lines = changedLines(context, primary.bounds, shift.step);
    if (!isCopyOfWeights(context, lines))
      return { status: 'found', findings: [toFinding(context, primary, peaks, shift, lines)] };
  }
  return clear(
    `${steps} steps, from ${primary.description}: none from which on all need at least ${formatPercent(MIN_SHARE)} more than those before.`,
  );
}

/** A copy of the weights that is made once (an average, a reference) is meant to stay. */
function isCopyOfWeights({ classification }: AnalysisInput, lines: readonly ChangedLine[]) {
  const [lead] = lines;
  return (
    lead?.isNew === true &&
    lead.ids.every((id) => classification.evidenceOf[id] === Evidence.CopiedWeights)
  );
}

const isLarge = ({ beforeBytes, afterBytes }: Shift): boolean =>
  afterBytes - beforeBytes >= Math.max(MIN_BYTES, MIN_SHARE * afterBytes);

function toFinding(
  context: AnalysisInput,
  sequence: StepSequence,
  peaks: Float64Array,
  shift: Shift,
  changed: readonly ChangedLine[],
): ShiftFinding {
  const { bounds } = sequence;
  const { step, beforeBytes, afterBytes } = shift;
  const bytes = afterBytes - beforeBytes;
  const lines = changed.filter((line) => line.moreBytes >= MIN_SHARE * bytes);
  const lead = lines.find(({ isNamed }) => isNamed) ?? lines[0];
  const first = firstChange(context, bounds, step);
  const isNew = lead?.isNew ?? false;
  const isSevere = bytes >= SEVERE_SHARE * afterBytes && bytes >= SEVERE_BYTES;
  const reservedAt = (event: EventIndex) => context.stateAt(event).reservedBytes;
  return findingOf(context, {
    detector: 'level-shift',
    kind: isNew ? 'new-tensors' : 'larger-tensors',
    severity: isSevere ? 'high' : 'medium',
    bytes,
    stack: lead?.stack,
    frameIs: 'allocated at',
    claim: (where) =>
      `After ${step} of ${stepCount(sequence)} steps, a step's peak rose from ${formatBytes(beforeBytes)} to ${formatBytes(afterBytes)} and stayed there${lead === undefined ? '' : `: ${whatChanged(lead, where)}`}.${firstText(first.line, lead)} The levels before and after are flat, so it is neither a leak nor the start of the program.`,
    events: { first: first.event, last: bounds[bounds.length - 1] },
    sites: lead === undefined ? [] : [{ ...lead, bytes: lead.moreBytes }],
    note: '',
    pattern: 'stepped-up',
    parts: lines.map((line) => ({
      stack: line.stack,
      frame: context.input.stacks.topUserFrameView(line.stack),
      bytes: line.moreBytes,
      count: line.count,
      note: noteOf(line),
    })),
    ids: lead?.ids ?? [],
    facts: [
      { label: 'steps are', text: sequence.description },
      { label: 'at step', count: step },
      { label: 'at event', count: first.event },
      { label: 'peak of a step before', bytes: beforeBytes },
      { label: 'peak of a step after', bytes: afterBytes },
      { label: 'reserved before', bytes: reservedAt(bounds[step]) },
      { label: 'reserved after', bytes: reservedAt(bounds[bounds.length - 1]) },
      ...changes(context, sequence, shift, lines, first.line),
    ],
    series: series('step', 'peak of each step', bounds.subarray(1), peaks),
    advice: isNew ? NEW_ADVICE : adviceFor('activations', 'stepped-up'),
    disproof:
      'If a longer recording falls back to the level before, it was a phase of the program (an evaluation, a curriculum), and no lasting step.',
  });
}

/** If something other than the lead changed first, it may be the cause. */
function firstText(line: string | undefined, lead: ChangedLine | undefined): string {
  if (line === undefined || lead?.isNew === true) return '';
  return ` The first to change in that step was ${line}.`;
}

function whatChanged({ isNew, largest, moreBytes }: ChangedLine, where: string): string {
  if (isNew) return `${where} made its first tensors, ${formatBytes(moreBytes)} that stay`;
  const [before, after] = largest;
  if (after > 1.05 * before) {
    return `tensors of ${where} grew from ${formatBytes(before)} to ${formatBytes(after)}`;
  }
  return `${where} has ${formatBytes(moreBytes)} more at a time`;
}

/** What else changed there: the first line to differ, lines that ran for the first time, new annotations. */
function changes(
  context: AnalysisInput,
  { bounds }: StepSequence,
  { step }: Shift,
  lines: readonly ChangedLine[],
  first: string | undefined,
): Fact[] {
  const names = lines
    .filter(({ isNew, isNamed }) => isNew && isNamed)
    .map(({ stack }) => locationText(context.input.stacks.topUserFrameView(stack)));
  const annotations = annotationsSince(context, bounds, step);
  return [
    ...(first === undefined ? [] : [{ label: 'changed first', text: first }]),
    ...names.slice(0, MAX_LISTED).map((text) => ({ label: 'ran for the first time', text })),
    ...annotations
      .slice(0, MAX_LISTED)
      .map((text) => ({ label: 'annotation seen for the first time', text })),
  ];
}

const NEW_ADVICE = [
  'If it is meant to stay (an average of the weights, a reference model, a cache), keep it on the CPU or in bfloat16, and count it from the start.',
  'If it is not, delete what this line made when it is done.',
];

/** Highest allocated bytes in each step. */
function stepPeaks(
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

/** Steps after which all peaks are higher than all peaks before. */
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

/** Whether a level's second half is higher than its first by much of the allowance: it keeps rising. */
function goesOn(level: readonly number[], rise: number): boolean {
  const half = level.length >> 1;
  return middle(level.slice(half)) - middle(level.slice(0, half)) > (MAX_UNEVEN / 2) * rise;
}

/** Median. */
function middle(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1];
}
