/**
 * Memory that is reserved and that no tensor uses.
 *
 * A gap at one moment is normal: after a step the allocator holds on to what activations had. What is
 * lost to fragmentation is the part of the reserved peak that no moment's tensors needed: the highest
 * reserved minus the highest active. A perfect allocator would never have asked the driver for it.
 */
import { highest } from '../../base/extremes.ts';
import { formatBytes, plural } from '../../base/format.ts';
import { EMPTY_STACK, type EventIndex, TraceAction } from '../../snapshot/tables.ts';
import { type SegmentState, segmentsAt } from '../address-state.ts';
import type { AnalysisContext } from '../analysis-context.ts';
import { type Concatenation, findConcatenations } from '../concatenation.ts';
import { evidence, fingerprint, place } from '../finding-parts.ts';
import { gapCurve, gapSeries, growthOfGap } from '../gap-curve.ts';
import { frameLocation, percent } from '../labels.ts';
import { sitePart } from '../live-sites.ts';
import { namedPin, type Pin, pinHolder, pinningSites } from '../pins.ts';
import { churningSites, type SizeChurn } from '../size-churn.ts';
import type { DetectorResult, Fact, Finding, Severity } from '../types.ts';

const MIN_SHARE = 1 / 3;
const MIN_BYTES = 128 * 2 ** 20;
const SEVERE_SHARE = 0.45;
const SEVERE_BYTES = 2 ** 30;
/** Of what was lost. */
const MIN_PINNED_SHARE = 0.05;
const TOP_PARTS = 8;
const MAX_GAPS = 200;

export function detectFragmentation(study: AnalysisContext): DetectorResult {
  const { replay, trace } = study.input;
  if (!study.hasTrace) {
    return {
      status: 'cannot-tell',
      reason: `The file has no trace. At the end ${formatBytes(replay.end.reservedBytes)} is reserved and ${formatBytes(replay.end.activeBytes)} in use; whether more was needed before is not recorded.`,
    };
  }
  const { reservedBytes, activeBytes } = replay.peaks;
  const excessBytes = reservedBytes.bytes - activeBytes.bytes;
  const share = reservedBytes.bytes > 0 ? excessBytes / reservedBytes.bytes : 0;
  const concatenations = findConcatenations(study);
  const figures = `reserved at most ${formatBytes(reservedBytes.bytes)}, in use at most ${formatBytes(activeBytes.bytes)}`;
  if (share < MIN_SHARE || excessBytes < MIN_BYTES) {
    const worth = concatenations.filter((c) => c.largestBytes >= 0.1 * activeBytes.bytes);
    if (worth.length > 0)
      return { status: 'found', findings: [concatenationFinding(study, worth[0])] };
    return {
      status: 'clear',
      checked: `${figures}: ${percent(share)} in gaps or waiting in the cache.`,
    };
  }
  if (reservedBytes.event < 0 && replay.recording !== 'complete') {
    return {
      status: 'cannot-tell',
      reason: `${replay.recordingReason} ${formatBytes(reservedBytes.bytes)} was reserved already then, and what needed it is not recorded.`,
    };
  }
  const events = trace.events.length;
  if (events === 0) return { status: 'clear', checked: figures };
  const [largest] = concatenations;
  const findings = [fragmentationFinding(study, excessBytes, share, largest)];
  if (largest !== undefined) findings.push(concatenationFinding(study, largest));
  return { status: 'found', findings };
}

function fragmentationFinding(
  study: AnalysisContext,
  excessBytes: number,
  share: number,
  concatenation: Concatenation | undefined,
): Finding {
  const { peaks } = study.input.replay;
  const ooms = study.eventsOf(TraceAction.Oom);
  const event = ooms[ooms.length - 1] ?? worstEvent(study);
  const segments = segmentsAt(study, event);
  const pins = pinningSites(study, segments);
  const churn = churningSites(study).slice(0, 3);
  const churning = churn.find(({ stack }) => stack > EMPTY_STACK);
  const named = churning === undefined || isPinned(pins, excessBytes) ? namedPin(pins) : undefined;
  const cause = named?.part.stack ?? churning?.stack;
  const where = place(study, cause);
  const churned = churning === undefined ? undefined : churnText(study, churning);
  const holder = named === undefined ? churned : pinHolder(named);
  const curve = gapCurve(study);
  const gaps = segments
    .flatMap((segment) => segment.gaps)
    .sort((a, b) => b.sizeBytes - a.sizeBytes);
  const pinned = pins.flatMap(({ allocations }) => allocations);
  const headline = `${formatBytes(peaks.reservedBytes.bytes)} was reserved for tensors that at no time needed more than ${formatBytes(peaks.activeBytes.bytes)}: ${formatBytes(excessBytes)} (${percent(share)}) was lost to gaps and to cached blocks that no request fitted.`;
  return {
    detector: 'fragmentation',
    kind: 'reserved-unused',
    severity: severityOf(excessBytes, share, ooms.length > 0),
    bytes: excessBytes,
    headline,
    ...(holder === undefined ? {} : { holder }),
    claim: `${headline}${pinText(where.frame, named, pins)}${churned === undefined ? '' : ` Sizes churn: ${churned}`}`,
    ...where,
    perStep: undefined,
    events: { first: growthOfGap(curve), last: event },
    parts: [
      ...pins.slice(0, TOP_PARTS).map(({ part }) => part),
      ...churn.map(({ stack, sizes, bytes }) =>
        sitePart(study, { stack, bytes, count: sizes }, 'different sizes asked for'),
      ),
    ],
    facts: gapFacts(study, event, segments),
    evidence: evidence(
      study,
      pinned,
      [...pins.map(({ part }) => part.stack), ...churn.map(({ stack }) => stack)],
      gaps.slice(0, MAX_GAPS),
    ),
    series: gapSeries(study, curve),
    advice: [
      ...(churning !== undefined && churning.stack === concatenation?.stack
        ? CONCATENATION_ADVICE
        : []),
      'Set PYTORCH_ALLOC_CONF=expandable_segments:True (PYTORCH_CUDA_ALLOC_CONF in older versions) before the program starts: a segment then grows in place, and its free pages are given back.',
      'Make sizes repeat: pad to a few lengths (buckets), drop the last smaller batch, run the largest batch first.',
      'Allocate what lives long before the loop, not between big temporaries, or move it to the CPU.',
      'Where neither is possible, garbage_collection_threshold:0.8 with a memory fraction set lets the allocator give cached blocks back earlier.',
    ],
    disproof:
      'With expandable_segments:True the reserved peak stays where it is: then something needs the memory that this recording does not show.',
    fingerprint: fingerprint(study, 'fragmentation', 'reserved-unused', cause),
  };
}

function severityOf(excessBytes: number, share: number, hasOom: boolean): Severity {
  if (hasOom || (share >= SEVERE_SHARE && excessBytes >= SEVERE_BYTES)) return 'high';
  return excessBytes >= SEVERE_BYTES / 2 ? 'medium' : 'low';
}

function pinText(frame: Finding['frame'], named: Pin | undefined, pins: readonly Pin[]): string {
  if (named === undefined) return '';
  const most = named === pins[0] ? 'the most' : 'the most of the lines that are known';
  return ` ${frameLocation(frame)} pins ${most}: ${plural(named.part.count, 'block')} of it ${named.part.count === 1 ? 'keeps' : 'keep'} ${formatBytes(named.part.bytes)} of gaps from being given back.`;
}

/**
 * Whether who pins segments is to blame, not whose sizes churn. Example: a tensor that grows by
 * concatenation leaves 52 GiB in empty segments, of sizes that are not asked for again; the weights in
 * a segment with 12 MiB of gaps are not it.
 */
function isPinned(pins: readonly Pin[], excessBytes: number): boolean {
  return pins.reduce((sum, { part }) => sum + part.bytes, 0) >= MIN_PINNED_SHARE * excessBytes;
}

function churnText({ input }: AnalysisContext, churning: SizeChurn): string {
  const { stack, sizes, smallestBytes, largestBytes } = churning;
  return `${frameLocation(input.stacks.topUserFrameView(stack))} asked for ${plural(sizes, 'different size')} from ${formatBytes(smallestBytes)} to ${formatBytes(largestBytes)}, and blocks cached for one do not fit the next.`;
}

/** When most free memory lay in segments that were in use: there the pins can be seen. */
function worstEvent(study: AnalysisContext): EventIndex {
  const { inactiveSplitBytes, reservedBytes } = study.input.replay.peaks;
  return inactiveSplitBytes.bytes > 0 ? inactiveSplitBytes.event : reservedBytes.event;
}

function gapFacts(
  study: AnalysisContext,
  event: EventIndex,
  segments: readonly SegmentState[],
): Fact[] {
  const { requestedBytes, length, start } = study.input.replay.allocations;
  const total = segments.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  const free = segments.reduce((sum, { freeBytes }) => sum + freeBytes, 0);
  const empty = segments.filter(({ live }) => live.length === 0);
  const cached = empty.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  let largestRequest = 0;
  for (let id = 0; id < length && start[id] <= event; id++) {
    largestRequest = Math.max(largestRequest, requestedBytes[id] || 0);
  }
  const usable = segments
    .flatMap(({ gaps }) => gaps)
    .filter(({ sizeBytes }) => sizeBytes >= largestRequest)
    .reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  return [
    { label: 'seen at event', count: event },
    { label: 'reserved then', bytes: total },
    { label: 'free then', bytes: free },
    { label: 'of it in empty, cached segments', bytes: cached },
    { label: 'of it in gaps between blocks', bytes: free - cached },
    {
      label: 'largest contiguous free range',
      bytes: Math.max(0, highest(segments.map((s) => s.largestFreeBytes))),
    },
    { label: 'largest request so far', bytes: largestRequest },
    {
      label: 'free, but in ranges too small for it',
      text: percent(free > 0 ? (free - usable) / free : 0),
    },
  ];
}

const CONCATENATION_ADVICE = [
  'Allocate the full size once and fill it by slices, or keep the pieces in a list and concatenate once at the end.',
  'For evaluation with transformers: set eval_accumulation_steps so that logits move to the CPU, or preprocess_logits_for_metrics so that they are small.',
];

function concatenationFinding(study: AnalysisContext, concatenation: Concatenation): Finding {
  const { stack, copies, smallestBytes, largestBytes, copiedBytes } = concatenation;
  const where = place(study, stack);
  return {
    detector: 'fragmentation',
    kind: 'growing-concatenation',
    severity: 'low',
    bytes: largestBytes,
    claim: `${frameLocation(where.frame)} grows a tensor by copying it into a slightly larger one, ${plural(copies, 'time')}: from ${formatBytes(smallestBytes)} to ${formatBytes(largestBytes)}, ${formatBytes(copiedBytes)} allocated in all. Old and new are alive at once, and each size leaves a hole that the next does not fit.`,
    ...where,
    perStep: undefined,
    events: { first: concatenation.firstEvent, last: concatenation.lastEvent },
    parts: [{ stack, frame: where.frame, bytes: largestBytes, count: copies, note: 'copies' }],
    facts: [
      { label: 'copies', count: copies },
      { label: 'allocated for copies', bytes: copiedBytes },
    ],
    evidence: evidence(study, [], [stack]),
    series: undefined,
    advice: CONCATENATION_ADVICE,
    disproof:
      'The sizes grow because the inputs do, and the old tensor is not copied: then it is a curriculum, not a concatenation.',
    fingerprint: fingerprint(study, 'fragmentation', 'growing-concatenation', stack),
  };
}
