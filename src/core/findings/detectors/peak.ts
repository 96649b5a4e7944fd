/** What the highest moment is made of, and what would lower it. */
import { formatBytes, formatPercent } from '../../base/format.ts';
import { sumByClass } from '../../classes/class-totals.ts';
import { type ClassTotal, MEMORY_CLASSES, MemoryClass } from '../../classes/types.ts';
import { liveAt } from '../../replay/live-at.ts';
import type { Peak } from '../../replay/types.ts';
import type { EventIndex } from '../../snapshot/tables.ts';
import type { AnalysisContext } from '../analysis-context.ts';
import {
  cannotTell,
  clear,
  evidence,
  fingerprint,
  locationOf,
  sitePart,
  sumBySite,
} from '../finding-parts.ts';
import { holdersOf, holdersText } from '../holders.ts';
import type {
  AnyFinding,
  ChecklistAnswer,
  Detector,
  DetectorResult,
  Fact,
  FindingBy,
  Remedy,
  RemedyId,
} from '../types.ts';

export const peak = {
  id: 'peak',
  about: 'what the highest moment is made of, and what would lower it',
  titles: { composition: 'What the peak is made of' },
  bytesAre: 'at the peak',
  band: { style: 'peak', label: 'peak' },
  evidenceSearch: 'none',
  checklist: [
    { order: 20, label: 'Batch size', answer: (own) => remedyAnswer(own, 'batch-size') },
    {
      order: 50,
      label: 'Mixed precision',
      answer: (own) => unsure(remedyAnswer(own, 'mixed-precision')),
    },
    {
      order: 60,
      label: 'Gradient accumulation',
      answer: (own) => accumulation(remedyAnswer(own, 'batch-size')),
    },
    { order: 70, label: 'Checkpointing', answer: (own) => remedyAnswer(own, 'checkpointing') },
    { order: 110, label: 'Composition of the peak' },
  ],
} as const satisfies Detector;
type PeakFinding = FindingBy<typeof peak>;

/** Lower peaks trouble no GPU. */
const MIN_BYTES = 64 * 2 ** 20;
const TOP_PARTS = 10;

/** What would lower the peak is no fault: it is listed as something to do, with its bytes. */
function remedyAnswer<F extends AnyFinding>(
  own: ChecklistAnswer<F>,
  id: RemedyId,
): ChecklistAnswer<F> {
  if (own.status !== 'found') return own;
  const found = own.findings.flatMap(({ remedies = [] }) => remedies).find((r) => r.id === id);
  if (found === undefined) {
    const text =
      'It would save little: few of the bytes at the peak are activations that a backward pass uses.';
    return { status: 'clear', text, findings: [] };
  }
  const { text, savedBytes } = found;
  return { status: 'found', text, savedBytes, findings: own.findings };
}

function accumulation<F extends AnyFinding>(batch: ChecklistAnswer<F>): ChecklistAnswer<F> {
  if (batch.status !== 'found') return batch;
  return {
    ...batch,
    text: 'Keeps the gradient of the whole batch while each pass holds a part of it: what a smaller batch saves.',
  };
}

/** A recording has bytes, no types: an estimate is all there is. */
function unsure<F extends AnyFinding>(answer: ChecklistAnswer<F>): ChecklistAnswer<F> {
  return answer.status === 'found' ? { ...answer, status: 'cannot-tell' } : answer;
}

export function detectPeak(context: AnalysisContext): DetectorResult<PeakFinding> {
  const { replay } = context.input;
  const { allocatedBytes } = replay.peaks;
  if (!context.hasTrace) {
    return cannotTell(
      `The file has no trace: ${formatBytes(replay.end.allocatedBytes)} at the end is all that is known, and the peak was that or more.`,
    );
  }
  if (allocatedBytes.bytes < MIN_BYTES) {
    return clear(`At most ${formatBytes(allocatedBytes.bytes)} was allocated.`);
  }
  return { status: 'found', findings: [toFinding(context, allocatedBytes)] };
}

function toFinding(context: AnalysisContext, { event, bytes }: Peak): PeakFinding {
  const { allocations } = context.input.replay;
  const classes = sumByClass(allocations, context.classification, event, true);
  const live = liveAt(allocations, event);
  const sites = sumBySite(context, live).slice(0, TOP_PARTS);
  const holders = holdersOf(context, live);
  // What backward holds has no line: the heaviest line that there is is more use.
  const stack = (holders.find(({ frame }) => frame !== undefined) ?? holders[0])?.stack;
  const where = locationOf(context, stack, 'held by');
  const remedies = peakRemedies(classes, bytes);
  return {
    detector: 'peak',
    kind: 'composition',
    severity: 'low',
    bytes,
    claim: `At its highest ${formatBytes(bytes)} was allocated: ${mixText(classes, bytes)}. Most of it: ${holdersText(holders)}.${beforeTrace(context, event)}`,
    ...where,
    events: { first: event, last: event },
    parts: sites.map((site) => sitePart(context, site, 'live at the peak')),
    facts: classes.flatMap(({ class: of, bytes: own }): Fact[] => {
      const { label, about } = MEMORY_CLASSES[of];
      return [
        { label, bytes: own },
        { label: `${label}: what`, text: about },
      ];
    }),
    evidence: evidence(context, live, sites),
    advice: remedies.map(({ text }) => text),
    remedies,
    disproof:
      'Classes are inferred from stacks and lifetimes unless the program recorded them; the search class: shows which allocations each has.',
    fingerprint: fingerprint(context, 'peak', 'composition', stack),
  };
}

/** 'activations 3.20 GiB (61%), parameters 1.10 GiB (21%)': those of a hundredth and more. */
function mixText(classes: readonly ClassTotal[], peakBytes: number): string {
  return classes
    .filter(({ bytes }) => bytes >= peakBytes / 100)
    .map(
      ({ class: of, bytes }) =>
        `${MEMORY_CLASSES[of].label} ${formatBytes(bytes)} (${formatPercent(bytes / peakBytes)})`,
    )
    .join(', ');
}

function beforeTrace({ input }: AnalysisContext, event: EventIndex): string {
  return event < 0 ? ` It was so before the first event: ${input.replay.recordingReason}` : '';
}

interface Idea {
  readonly id: RemedyId;
  readonly savedBytes: number;
  readonly text: (saved: string) => string;
}

/** Ordered by the bytes they save; those under a hundredth of the peak are left out. */
function peakRemedies(classes: readonly ClassTotal[], peakBytes: number): Remedy[] {
  const of = (name: MemoryClass): number =>
    classes.find((total) => total.class === name)?.bytes ?? 0;
  const activations = of(MemoryClass.Activations);
  const optimizer = of(MemoryClass.OptimizerState);
  const model = of(MemoryClass.Parameters) + of(MemoryClass.Gradients) + optimizer;
  const isTraining = of(MemoryClass.Gradients) > 0 || optimizer > 0;
  const ideas: Idea[] = [
    {
      id: 'batch-size',
      savedBytes: activations * 0.5,
      text: (saved) =>
        `Half the batch size, with gradient accumulation over two: saves about ${saved} (assumes that activations grow with the batch).`,
    },
    {
      id: 'checkpointing',
      savedBytes: isTraining ? activations * 0.6 : 0,
      text: (saved) =>
        `Activation checkpointing of each block: saves about ${saved} for a third more compute (assumes that block inputs are 40% of what is kept).`,
    },
    {
      id: 'mixed-precision',
      savedBytes: activations * 0.4,
      text: (saved) =>
        `bf16 autocast: saves about ${saved} (assumes float32 now and that four fifths of the activations follow; nothing if it is on already, which a recording cannot tell).`,
    },
    {
      id: 'optimizer-8bit',
      savedBytes: optimizer * 0.75,
      text: (saved) => `An 8-bit optimizer: saves about ${saved} (assumes 32-bit state now).`,
    },
    {
      id: 'offload',
      savedBytes: optimizer,
      text: (saved) =>
        `Optimizer state on the CPU (offload): saves ${saved}, and costs transfers every step.`,
    },
    {
      id: 'sharding',
      savedBytes: isTraining ? model * 0.75 : 0,
      text: (saved) =>
        `FSDP or ZeRO-3 over four GPUs: saves about ${saved} on each (three quarters of parameters, gradients and optimizer state).`,
    },
  ];
  return ideas
    .filter(({ savedBytes }) => savedBytes >= peakBytes / 100)
    .sort((a, b) => b.savedBytes - a.savedBytes)
    .map(({ id, savedBytes, text }) => ({ id, savedBytes, text: text(formatBytes(savedBytes)) }));
}
