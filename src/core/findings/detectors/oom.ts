/** For each OOM event: what was asked, what was there, and why it did not fit. */

import { upperBound } from '../../base/binary-search.ts';
import { formatBytes } from '../../base/format.ts';
import { liveAt } from '../../replay/live-at.ts';
import { findRetriedOoms } from '../../replay/retried-requests.ts';
import { type EventIndex, type FrameIndex, TraceAction } from '../../snapshot/tables.ts';
import { segmentsAt } from '../address-state.ts';
import type { AnalysisContext } from '../analysis-context.ts';
import { evidence, fingerprint, place } from '../finding-parts.ts';
import { frameLocation } from '../labels.ts';
import { sitePart, sumBySite } from '../live-sites.ts';
import { judgeOom } from '../oom-verdict.ts';
import { classesAt } from '../peak-classes.ts';
import { namedPin, pinHolder, pinningSites } from '../pins.ts';
import { retriedOomsFinding } from '../retried-ooms.ts';
import type { DetectorResult, Fact, Finding } from '../types.ts';

/** OOMs told one by one; a program that catches and retries can have thousands. */
const MAX_OOMS = 20;
const TOP_SITES = 8;
const TOP_LINES = 3;

export function detectOom(study: AnalysisContext): DetectorResult {
  const { replay } = study.input;
  if (!study.hasTrace) {
    return { status: 'cannot-tell', reason: 'The file has no trace, so no OOM could be recorded.' };
  }
  const ooms = study.eventsOf(TraceAction.Oom);
  if (ooms.length > 0) {
    const askedAgain = findRetriedOoms(study.input.trace, replay);
    const failures = ooms.filter((event) => !askedAgain.has(event));
    const told = failures.slice(-MAX_OOMS);
    const findings = told.map((event) => oomFinding(study, event, failures.length));
    if (askedAgain.size > 0) findings.push(retriedOomsFinding(study, [...askedAgain]));
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

function oomFinding(study: AnalysisContext, event: EventIndex, total: number): Finding {
  const { events } = study.input.trace;
  const state = study.stateAt(event);
  const segments = segmentsAt(study, event);
  const requestedBytes = events.sizeBytes[event];
  const verdict = judgeOom({
    requestedBytes,
    allocatedBytes: state.activeBytes,
    reservedBytes: state.reservedBytes,
    largestFreeBytes: segments.reduce((most, s) => Math.max(most, s.largestFreeBytes), 0),
    deviceFreeBytes: events.oomDeviceFreeBytes.get(event),
  });
  const where = place(study, events.stack[event]);
  const live = liveAt(study.input.replay.allocations, event);
  const sites = sumBySite(study, live).slice(0, TOP_SITES);
  const inBackward = study.traits.isBackward(events.stack[event]);
  const who = inBackward
    ? 'Backward (autograd’s own thread, which has no Python stack)'
    : frameLocation(where.frame);
  const pin = namedPin(pinningSites(study, segments));
  const isPinned = verdict.cause === 'fragmented' && pin !== undefined;
  const holder = isPinned ? pinHolder(pin) : holdersText(study, live);
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
    parts: sites.map((site) => sitePart(study, site, 'alive at the OOM')),
    facts: [
      ...verdict.arithmetic.map((text): Fact => ({ label: 'arithmetic', text })),
      { label: 'missing', bytes: verdict.missingBytes },
      ...classesAt(study, event).map(({ label, bytes }): Fact => ({ label, bytes })),
      ...(total > 1 ? [{ label: 'OOM events in all', count: total }] : []),
      ...(inBackward ? lastPythonLine(study, event) : []),
    ],
    evidence: evidence(
      study,
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
    fingerprint: fingerprint(study, 'oom', verdict.cause, events.stack[event]),
  };
}

/** Lines that allocated most of what is alive, whatever the stacks they were reached by. */
function holdersText(study: AnalysisContext, live: Int32Array): string {
  const sums = new Map<FrameIndex | undefined, number>();
  for (const { stack, bytes } of sumBySite(study, live)) {
    const frame = study.input.stacks.topUserFrame(stack);
    sums.set(frame, (sums.get(frame) ?? 0) + bytes);
  }
  const largest = [...sums].sort(([, a], [, b]) => b - a).slice(0, TOP_LINES);
  const texts = largest.map(([frame, bytes]) => {
    const place = frameLocation(frame === undefined ? undefined : study.input.stacks.frame(frame));
    return `${formatBytes(bytes)} from ${place}`;
  });
  return `Most of what was alive: ${texts.join(', ')}.`;
}

/** Backward has no line; the last one before says at least which pass it was. */
function lastPythonLine({ input, traits }: AnalysisContext, event: EventIndex): Fact[] {
  const { start, stack: stacks, preexisting } = input.replay.allocations;
  for (let id = upperBound(start, event) - 1; id >= preexisting; id--) {
    const stack = stacks[id];
    if (!traits.hasPython(stack) || traits.isBackward(stack)) continue;
    return [
      {
        label: 'last line of Python before',
        text: frameLocation(input.stacks.topUserFrameView(stack)),
      },
    ];
  }
  return [];
}
