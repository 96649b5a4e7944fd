/** For each OOM event: what was asked, what was there, and why it did not fit. */
import { upperBound } from '../../base/binary-search.ts';
import { formatBytes, formatCount, plural } from '../../base/format.ts';
import { liveAt } from '../../replay/live-at.ts';
import { findRetriedOoms } from '../../replay/retried-requests.ts';
import { type EventIndex, type FrameIndex, TraceAction } from '../../snapshot/tables.ts';
import type { AnalysisContext } from '../analysis-context.ts';
import {
  evidence,
  fingerprint,
  frameLocation,
  place,
  SiteSums,
  sitePart,
  sumBySite,
} from '../finding-parts.ts';
import { classesAt } from '../memory-classes.ts';
import { judgeOom } from '../oom-verdict.ts';
import { segmentsAt } from '../segment-state.ts';
import type { Detector, DetectorResult, Fact, FindingBy } from '../types.ts';
import { namedPin, pinHolder, pinningSites } from './fragmentation-causes.ts';

/** `kind` of requests that failed and were retried at once: the program saw no error. */
export const RETRIED = 'asked-again';

const TITLE = 'Out of memory';

export const oom = {
  id: 'oom',
  about: 'requests that failed, and whether they were too large or the memory fragmented',
  titles: {
    'too-large': TITLE,
    fragmented: TITLE,
    both: TITLE,
    'others-on-the-card': TITLE,
    'driver-refused': TITLE,
    [RETRIED]: TITLE,
  },
  band: { style: 'oom', label: 'out of memory' },
  evidenceSearch: 'none',
  isMendedBySettings: true,
  checklist: [{ order: 100, label: 'Out of memory' }],
} as const satisfies Detector;
type OomFinding = FindingBy<typeof oom>;

/** OOMs reported one by one; a program that catches and retries can have thousands. */
const MAX_OOMS = 20;
const TOP_SITES = 8;
const TOP_LINES = 3;

export function detectOom(context: AnalysisContext): DetectorResult<OomFinding> {
  const { replay } = context.input;
  if (!context.hasTrace) {
    return { status: 'cannot-tell', reason: 'The file has no trace, so no OOM could be recorded.' };
  }
  const ooms = context.eventsOf(TraceAction.Oom);
  if (ooms.length > 0) {
    const retried = findRetriedOoms(context.input.trace, replay);
    const failures = ooms.filter((event) => !retried.has(event));
    const reported = failures.slice(-MAX_OOMS);
    const findings = reported.map((event) => oomFinding(context, event, failures.length));
    if (retried.size > 0) findings.push(retriedOomsFinding(context, [...retried]));
    return { status: 'found', findings };
  }
  if (replay.recording === 'truncated') {
    return {
      status: 'cannot-tell',
      reason: `${replay.recordingReason} No OOM is among the events that are left.`,
    };
  }
  return { status: 'clear', checked: 'No OOM event in the trace.' };
}

function oomFinding(context: AnalysisContext, event: EventIndex, total: number): OomFinding {
  const { events } = context.input.trace;
  const state = context.stateAt(event);
  const segments = segmentsAt(context, event);
  const requestedBytes = events.sizeBytes[event];
  const verdict = judgeOom({
    requestedBytes,
    allocatedBytes: state.activeBytes,
    reservedBytes: state.reservedBytes,
    largestFreeBytes: segments.reduce((most, s) => Math.max(most, s.largestFreeBytes), 0),
    deviceFreeBytes: events.oomDeviceFreeBytes.get(event),
  });
  const where = place(context, events.stack[event]);
  const live = liveAt(context.input.replay.allocations, event);
  const sites = sumBySite(context, live).slice(0, TOP_SITES);
  const inBackward = context.classifier.isBackward(events.stack[event]);
  const who = inBackward
    ? 'Backward (autograd’s own thread, which has no Python stack)'
    : frameLocation(where.frame);
  const pin = namedPin(pinningSites(context, segments));
  const isPinned = verdict.cause === 'fragmented' && pin !== undefined;
  const holder = isPinned ? pinHolder(pin) : holdersText(context, live);
  const gaps = segments.flatMap((segment) => segment.gaps);
  gaps.sort((a, b) => b.sizeBytes - a.sizeBytes);
  return {
    detector: 'oom',
    kind: verdict.cause,
    severity: 'high',
    bytes: requestedBytes,
    headline: verdict.headline,
    holder,
    claim: `${who} asked for ${formatBytes(requestedBytes)} and got an OOM. ${verdict.claim} ${holder}`,
    ...where,
    perStep: undefined,
    events: { first: event, last: event },
    parts: sites.map((site) => sitePart(context, site, 'alive at the OOM')),
    facts: [
      ...verdict.arithmetic.map((text): Fact => ({ label: 'arithmetic', text })),
      { label: 'missing', bytes: verdict.missingBytes },
      ...classesAt(context, event).map(({ label, bytes }): Fact => ({ label, bytes })),
      ...(total > 1 ? [{ label: 'OOM events in all', count: total }] : []),
      ...(inBackward ? lastPythonLine(context, event) : []),
    ],
    evidence: evidence(
      context,
      live,
      sites.map(({ stack }) => stack),
      gaps.slice(0, 200),
    ),
    series: undefined,
    advice: verdict.advice,
    disproof:
      verdict.cause === 'fragmented'
        ? 'With expandable_segments:True the same run fails at the same place with hardly any gaps: then it was too large after all.'
        : 'The same run passes with expandable_segments:True: then gaps mattered more than this says.',
    fingerprint: fingerprint(context, 'oom', verdict.cause, events.stack[event]),
  };
}

/** Lines that allocated most of what is alive, whatever the stacks they were reached by. */
function holdersText(context: AnalysisContext, live: Int32Array): string {
  const sums = new Map<FrameIndex | undefined, number>();
  for (const { stack, bytes } of sumBySite(context, live)) {
    const frame = context.input.stacks.topUserFrame(stack);
    sums.set(frame, (sums.get(frame) ?? 0) + bytes);
  }
  const largest = [...sums].sort(([, a], [, b]) => b - a).slice(0, TOP_LINES);
  const texts = largest.map(([frame, bytes]) => {
    const place = frameLocation(
      frame === undefined ? undefined : context.input.stacks.frame(frame),
    );
    return `${formatBytes(bytes)} from ${place}`;
  });
  return `Most of what was alive: ${texts.join(', ')}.`;
}

/** Backward has no line; the last one before says at least which pass it was. */
function lastPythonLine({ input, classifier }: AnalysisContext, event: EventIndex): Fact[] {
  const { start, stack: stacks, preexisting } = input.replay.allocations;
  for (let id = upperBound(start, event) - 1; id >= preexisting; id--) {
    const stack = stacks[id];
    if (!classifier.hasPython(stack) || classifier.isBackward(stack)) continue;
    return [
      {
        label: 'last line of Python before',
        text: frameLocation(input.stacks.topUserFrameView(stack)),
      },
    ];
  }
  return [];
}

const TOP_PARTS = 8;

/** One finding for all of them. @param ooms in order, at least one */
function retriedOomsFinding(context: AnalysisContext, ooms: readonly EventIndex[]): OomFinding {
  const { sizeBytes, stack } = context.input.trace.events;
  const sums = new SiteSums();
  for (const event of ooms) sums.add(stack[event], sizeBytes[event]);
  const sites = sums.largestFirst();
  const largest = ooms.reduce((a, b) => (sizeBytes[b] > sizeBytes[a] ? b : a));
  const bytes = sizeBytes[largest];
  const where = place(context, stack[largest]);
  const who = context.classifier.isBackward(stack[largest])
    ? 'backward'
    : frameLocation(where.frame);
  return {
    detector: 'oom',
    kind: RETRIED,
    severity: 'low',
    bytes,
    claim: `${plural(ooms.length, 'request')} failed, and the same place asked again at once: no error came of it. cuDNN does so when it tries which workspace fits. The largest, of ${formatBytes(bytes)}, was made by ${who}.`,
    ...where,
    perStep: undefined,
    events: { first: ooms[0], last: ooms[ooms.length - 1] },
    parts: sites
      .slice(0, TOP_PARTS)
      .map((site) => sitePart(context, site, 'asked for in vain, all attempts together')),
    facts: [
      { label: 'attempts that failed', count: ooms.length },
      { label: 'the largest', bytes },
      { label: 'at event', text: formatCount(largest) },
    ],
    evidence: evidence(
      context,
      [],
      sites.slice(0, TOP_PARTS).map((site) => site.stack),
    ),
    series: undefined,
    advice: [
      'Nothing has to be done: torch.cuda.memory_stats() counts these in num_ooms, but the program saw no error.',
      'With more memory free cuDNN may choose faster algorithms. torch.backends.cudnn.benchmark = False makes fewer attempts.',
    ],
    disproof: 'The program stops with an OutOfMemoryError at one of these events.',
    fingerprint: fingerprint(context, 'oom', RETRIED, stack[largest]),
  };
}
