/**
 * Memory that steps up at one step of the program and stays up: a batch that becomes larger, an expert that gets
 * more tokens, a copy of the weights that is made once.
 *
 *     level shift   ▃▅▅▅▅▅████████   flat before, flat after
 *     warm-up       ▃▅██████████     only the first steps are lower
 *     one step      ▃▅▅▅▅▅█▅▅▅▅▅▅    falls back
 *     leak          ▁▂▃▄▅▆▇█         not flat
 */
import { formatBytes, formatPercent } from '../../base/format.ts';
import { Evidence } from '../../device/classes/types.ts';
import type { AnalysisInput } from '../findings/analysis-input.ts';
import {
  cannotTell,
  clear,
  evidence,
  fingerprint,
  locationOf,
  locationText,
  series,
} from '../findings/finding-parts.ts';
import type { Detector, DetectorResult, Fact, FindingBy } from '../findings/types.ts';
import { type StepSequence, stepCount } from '../steps/step-sequence.ts';
import {
  annotationsSince,
  type ChangedLine,
  changedLines,
  firstChange,
  noteOf,
} from './level-shift-lines.ts';
import { findShift, type Shift, stepPeaks } from './level-shift-steps.ts';

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

/** Of less nothing is seen between the first steps and the last. */
const MIN_STEPS = 8;
/** Of the level after it: less is no finding. */
const MIN_SHARE = 0.05;
const MIN_BYTES = 8 * 2 ** 20;
const SEVERE_SHARE = 0.25;
const SEVERE_BYTES = 2 ** 30;
/** What changed is listed so far. */
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

/** A copy of the weights that is made once, for an average of them or as a reference, is meant to stay. */
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
  const where = locationOf(context, lead?.stack, 'allocated at');
  const isNew = lead?.isNew ?? false;
  const kind = isNew ? 'new-tensors' : 'larger-tensors';
  const isSevere = bytes >= SEVERE_SHARE * afterBytes && bytes >= SEVERE_BYTES;
  const headline = `After ${step} of ${stepCount(sequence)} steps, a step's peak rose from ${formatBytes(beforeBytes)} to ${formatBytes(afterBytes)} and stayed there${lead === undefined ? '' : `: ${whatChanged(lead, locationText(where.frame))}`}.`;
  return {
    detector: 'level-shift',
    kind,
    severity: isSevere ? 'high' : 'medium',
    bytes,
    claim: `${headline}${firstText(first.line, lead)} The levels before and after are flat, so it is neither a leak nor the start of the program.`,
    ...where,
    events: { first: first.event, last: bounds[bounds.length - 1] },
    parts: lines.map((line) => ({
      stack: line.stack,
      frame: context.input.stacks.topUserFrameView(line.stack),
      bytes: line.moreBytes,
      count: line.count,
      note: noteOf(line),
    })),
    facts: [
      { label: 'steps are', text: sequence.description },
      { label: 'at step', count: step },
      { label: 'at event', count: first.event },
      { label: 'peak of a step before', bytes: beforeBytes },
      { label: 'peak of a step after', bytes: afterBytes },
      { label: 'reserved before', bytes: context.stateAt(bounds[step]).reservedBytes },
      {
        label: 'reserved after',
        bytes: context.stateAt(bounds[bounds.length - 1]).reservedBytes,
      },
      ...changes(context, sequence, shift, lines, first.line),
    ],
    evidence: evidence(context, lead?.ids ?? [], lead === undefined ? [] : [lead]),
    series: series('step', 'peak of each step', bounds.subarray(1), peaks),
    advice: isNew ? NEW_ADVICE : LARGER_ADVICE,
    disproof:
      'If a longer recording falls back to the level before, it was a phase of the program (an evaluation, a curriculum), and no lasting step.',
    fingerprint: fingerprint(context, 'level-shift', kind, lead?.stack),
  };
}

/** Where something other than the lead changed first: it may be the cause. */
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

/** What else changed there: which line first, which lines ran for the first time, which annotations came. */
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

const LARGER_ADVICE = [
  'Print the shapes that reach this line in the step before and in this one: a larger batch, a longer sequence, more tokens for one expert.',
  'Bound what sets the size: the batch, max_length, or the capacity of an expert (capacity_factor).',
  'If the larger size is meant to be, plan for it: the first steps do not show what the run needs.',
];
const NEW_ADVICE = [
  'If it is meant to stay (an average of the weights, a reference model, a cache), keep it on the CPU or in bfloat16, and count it from the start.',
  'If it is not, delete what this line made when it is done.',
];
