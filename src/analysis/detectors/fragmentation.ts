/**
 * Reserved memory that no tensor ever needed: the highest reserved minus the highest active. A gap at one moment is
 * normal, because after a step the allocator keeps the memory that activations had. But a perfect allocator would never
 * have requested the part of the reserved peak that exceeds every moment's tensors.
 */

import { isReleasing, isReserving } from '../../allocator/replay/trace-events.ts';
import type { AllocationIndex, Replay } from '../../allocator/replay/types.ts';
import { upperBound } from '../../base/binary-search.ts';
import { memoized, sumBy } from '../../base/collections.ts';
import { highest } from '../../base/extremes.ts';
import { formatBytes, formatPercent, plural } from '../../base/format.ts';
import { reservedOverhead } from '../../device/model/main-device.ts';
import {
  EMPTY_STACK,
  type EventIndex,
  type StackIndex,
  TraceAction,
} from '../../format/snapshot/tables.ts';
import {
  asksAlike,
  largestGaps,
  overheadOf,
  type Pin,
  pinningSites,
  type SegmentState,
  segmentsAt,
  sizesText,
  takersOfEmpty,
  varyingSites,
} from '../account/free-space.ts';
import type { AnalysisInput } from '../findings/analysis-input.ts';
import {
  cannotTell,
  clear,
  found,
  placeText,
  type SiteSum,
  series,
  sitePart,
} from '../findings/finding-parts.ts';
import type { Detector, DetectorResult, Fact, FindingBy } from '../findings/types.ts';
import { stepCount } from '../steps/step-sequence.ts';
import { adviceFor } from '../verdict/remedy-ideas.ts';

export const fragmentation = {
  id: 'fragmentation',
  about: 'reserved memory that no tensor ever needed',
  titles: { 'reserved-unused': 'Fragmentation' },
  bytesAre: 'never needed',
  highlight: { style: 'gap', label: 'gaps' },
  evidenceSearch: 'blocks',
  isMendedBySettings: true,
} as const satisfies Detector;
type FragmentationFinding = FindingBy<typeof fragmentation>;

/** Share of the loss: blocks that pin less explain less than the changing sizes do. */
const MIN_PINNED_SHARE = 0.5;
const TOP_PINS = 8;
/** Of what was reserved: less is what sizes that vary cost many programs, and harmless until memory runs short. */
const HARMFUL_SHARE = 0.5;

/** Most programs' peaks are no further apart. */
const COMMON_SHARE = 0.1;

export function detectFragmentation(context: AnalysisInput): DetectorResult<FragmentationFinding> {
  const { replay } = context.input;
  const { reservedBytes, activeBytes } = replay.peaks;
  const ooms = context.eventsOf(TraceAction.Oom);
  const overhead = overheadOf(context, ooms.length);
  const { bytes, share } = overhead;
  if (overhead.severity === 'none') {
    const between = reservedOverhead(replay.peaks, 0);
    const meaning =
      ooms.length > 0
        ? '. What was free when memory ran out is judged with the OOM'
        : between.share < COMMON_SHARE
          ? ', as they are in most programs'
          : ', which costs nothing while memory does not run short';
    return clear(
      `${replay.recording === 'truncated' ? 'In what is left, reserved' : 'reserved'} at most ${formatBytes(reservedBytes.bytes)}, in use at most ${formatBytes(activeBytes.bytes)}: the peaks are ${formatBytes(between.bytes)} (${formatPercent(between.share)}) apart${meaning}.`,
    );
  }
  const before = replay.start.reservedBytes;
  if (replay.recording !== 'complete' && ooms.length === 0 && mayHaveBeenNeeded(before, replay)) {
    return cannotTell(
      `${replay.recordingReason} ${formatBytes(before)} was already reserved by then, and what needed it is not recorded.`,
    );
  }
  const event = ooms[ooms.length - 1] ?? reservedBytes.event;
  const curve = gapCurve(context);
  const segments = segmentsAt(context, event);
  const pins = pinningSites(context, segments);
  const varying = varyingSites(context).slice(0, 3);
  const varied = varying.find(({ stack }) => stack > EMPTY_STACK);
  const isMostlyPinned = sumBy(pins, ({ part }) => part.bytes) >= MIN_PINNED_SHARE * bytes;
  const takers = isMostlyPinned || !asksAlike(context) ? [] : takersOfEmpty(context, segments);
  // Not if its own sizes vary within a step.
  const taker = takers.find(
    (one) => one.bytes >= MIN_PINNED_SHARE * bytes && one.stack !== varied?.stack,
  );
  const isPinned = taker === undefined && (varied === undefined || isMostlyPinned);
  // Backward has no line to show: the first pin that has one is more useful.
  const named = isPinned
    ? (pins.find(({ part }) => part.stack > EMPTY_STACK) ?? pins[0])
    : undefined;
  const cause = named?.part.stack ?? taker?.stack ?? varied?.stack;
  const pinParts = pins.slice(0, TOP_PINS).map(({ part }) => part);
  // Not their sum over the run: it exceeds any GPU and can't be compared with the other parts.
  const sizeNote = 'different sizes requested, the largest shown';
  const sizeParts = [...new Set(taker === undefined ? [varied ?? [], varying].flat() : [])].map(
    (one) =>
      sitePart(context, { stack: one.stack, bytes: one.largestBytes, count: one.sizes }, sizeNote),
  );
  const takenParts = (taker === undefined ? [] : takers.slice(0, TOP_PINS)).map((one) =>
    sitePart(context, one, 'segments taken for it that were empty then'),
  );
  // Segments go back when memory runs short.
  const isUsual = share < HARMFUL_SHARE && context.eventsOf(TraceAction.SegmentFree).length === 0;
  const isHarmless =
    ooms.length === 0 && (isUsual || (!isMostlyPinned && cameAtOnce(context, curve)));
  return found(context, {
    detector: 'fragmentation',
    kind: 'reserved-unused',
    severity: isHarmless ? 'low' : overhead.severity,
    bytes,
    stack: cause,
    frameIs: named === undefined ? 'requested by' : 'pinned by',
    claim: (where) =>
      [
        `${formatBytes(bytes)} (${formatPercent(share)}) of what PyTorch reserved was never needed: ${formatBytes(reservedBytes.bytes)} was reserved, and tensors never needed more than ${formatBytes(activeBytes.bytes)}.`,
        ...(overhead.stranded > 0
          ? [`${formatBytes(overhead.stranded)} more was free in private pools.`]
          : []),
        ...(named === undefined ? [] : [pinText(where, named, pins)]),
        ...(varied === undefined || taker !== undefined
          ? []
          : [`${placeText(context, varied.stack)} ${sizesText(varied)}`]),
        ...(taker === undefined ? [] : [takenText(where, taker)]),
      ].join(' '),
    events: { first: halfway(curve), last: event },
    sites: [
      ...pins.map(({ part }) => part),
      ...varying.map((one) => ({ ...one, count: one.sizes })),
    ],
    note: '',
    parts:
      named === undefined
        ? [...takenParts, ...sizeParts, ...pinParts]
        : [...pinParts, ...sizeParts],
    ids: named?.allocations ?? allocationsOfLine(context, cause),
    gaps: largestGaps(segments),
    facts: gapFacts(context, event, segments),
    series: curve.length < 2 ? undefined : gapSeries(curve),
    advice: adviceFor('fragmentation', undefined, { repeats: taker !== undefined }),
    disproof:
      'With expandable_segments:True the reserved peak stays where it is: then something needs the memory that this recording does not show.',
  });
}

/** Whether too little was reserved during the recording to judge it: the rest may have been needed earlier. */
function mayHaveBeenNeeded(before: number, { peaks }: Pick<Replay, 'peaks'>): boolean {
  const bytes = Math.max(before, peaks.activeBytes.bytes);
  const activeBytes = { ...peaks.activeBytes, bytes };
  return reservedOverhead({ ...peaks, activeBytes }, 0).severity === 'none';
}

function pinText(where: string, { part }: Pin, pins: readonly Pin[]): string {
  const most = part === pins[0]?.part ? 'the most' : 'the most of the lines that are known';
  return `${where} pins ${most}: ${plural(part.count, 'block')} of it ${part.count === 1 ? 'keeps' : 'keep'} ${formatBytes(part.bytes)} of free memory from being given back.`;
}

/** 'Most of what was empty then was taken for attention.py:48 (forward): 3 segments, 272.00 MiB. …' */
function takenText(where: string, { stack, bytes, count }: SiteSum): string {
  const who = stack > EMPTY_STACK ? where : "calls without a Python stack, as backward's are";
  return `Most of what was empty then was taken for ${who}: ${plural(count, 'segment')}, ${formatBytes(bytes)}. Steps ask for the same sizes each time, so padding would change nothing.`;
}

/** What the named line allocated, so that the views show the line that the claim names. */
function allocationsOfLine({ input }: AnalysisInput, cause = EMPTY_STACK): AllocationIndex[] {
  const frame = input.stacks.topUserFrame(cause);
  const isOfLine = memoized(
    (site: StackIndex) => site > EMPTY_STACK && input.stacks.topUserFrame(site) === frame,
  );
  const { stack } = input.replay.allocations;
  return cause === EMPTY_STACK ? [] : [...stack.keys()].filter((id) => isOfLine(stack[id]));
}

function gapFacts(
  { input }: AnalysisInput,
  event: EventIndex,
  segments: readonly SegmentState[],
): Fact[] {
  const { requestedBytes, start } = input.replay.allocations;
  const free = sumBy(segments, ({ freeBytes }) => freeBytes);
  const cached = sumBy(segments, ({ live, sizeBytes }) => (live.length === 0 ? sizeBytes : 0));
  const gaps = segments.flatMap((segment) => segment.gaps.map(({ sizeBytes }) => sizeBytes));
  let largestRequest = 0;
  for (const bytes of requestedBytes.subarray(0, upperBound(start, event)))
    if (bytes > largestRequest) largestRequest = bytes;
  const tooSmall = sumBy(gaps, (bytes) => (bytes < largestRequest ? bytes : 0));
  return [
    { label: 'seen at event', count: event },
    { label: 'reserved then', bytes: sumBy(segments, ({ sizeBytes }) => sizeBytes) },
    { label: 'free then', bytes: free },
    { label: 'of it in empty segments', bytes: cached },
    { label: 'of it in gaps between blocks', bytes: free - cached },
    { label: 'largest contiguous free range', bytes: highest([0, ...gaps]) },
    { label: 'largest request so far', bytes: largestRequest },
    {
      label: 'free, but in ranges too small for it',
      text: formatPercent(free > 0 ? tooSmall / free : 0),
    },
  ];
}

/** Share of the memory that was never needed. */
const FIRST_SHARE = 0.8;
const FIRST_STEPS = 2;
const FIRST_EVENTS_SHARE = 0.1;

/**
 * cuDNN tries algorithms with large workspaces in the first iteration, and PyTorch caches that memory. Segments that
 * came then and sufficed for the rest are not fragmentation: nothing grows, and unless live blocks pin them, they are
 * released when memory runs short.
 */
function cameAtOnce(context: AnalysisInput, curve: readonly GapPoint[]): boolean {
  const [primary] = context.stepSequences;
  const start =
    primary !== undefined && stepCount(primary) > 2 * FIRST_STEPS
      ? primary.bounds[FIRST_STEPS]
      : context.input.trace.events.length * FIRST_EVENTS_SHARE;
  const last = curve[curve.length - 1];
  const first = curve.findLast(({ event }) => event <= start);
  return first !== undefined && last !== undefined && first.gap >= FIRST_SHARE * last.gap;
}

const gapSeries = (curve: readonly GapPoint[]) =>
  series(
    'event',
    'reserved, beyond the most needed by then',
    curve.map((point) => point.event),
    curve.map(({ gap }) => Math.max(0, gap)),
  );

interface GapPoint {
  readonly event: EventIndex;
  /** Highest reserved so far minus highest active so far. */
  readonly gap: number;
}

/** One point per new reserved maximum: between these, the gap can only shrink. */
function gapCurve(context: AnalysisInput): GapPoint[] {
  const { trace, replay } = context.input;
  const { action, sizeBytes } = trace.events;
  const { allocations: table, allocationOfEvent, start } = replay;
  const points: GapPoint[] = [];
  let [active, reserved] = [start.activeBytes, start.reservedBytes];
  let [mostActive, mostReserved] = [active, reserved];
  action.forEach((own, event) => {
    const bytes = table.sizeBytes[allocationOfEvent[event]] ?? 0;
    if (own === TraceAction.Alloc) active += bytes;
    else if (own === TraceAction.FreeCompleted) active -= bytes;
    else if (isReserving(own)) reserved += sizeBytes[event];
    else if (isReleasing(own)) reserved -= sizeBytes[event];
    mostActive = Math.max(mostActive, active);
    if (reserved <= mostReserved) return;
    mostReserved = reserved;
    points.push({ event, gap: mostReserved - mostActive });
  });
  return points;
}

/** The first event at which the gap between the two peaks was half its final size. */
function halfway(points: readonly GapPoint[]): EventIndex {
  const last = points[points.length - 1];
  return points.find(({ gap }) => gap >= (last?.gap ?? 0) / 2)?.event ?? 0;
}
