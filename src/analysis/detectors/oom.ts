/** For each OOM: what was requested, what was available, and why it did not fit. */

import { findRetriedOoms, liveAt } from '../../allocator/replay/trace-events.ts';
import { groupBy, sumBy } from '../../base/collections.ts';
import { formatBytes, formatCount, plural, sentenceCase } from '../../base/format.ts';
import { type EventIndex, TraceAction } from '../../format/snapshot/tables.ts';
import { largestGaps, segmentsAt } from '../account/free-space.ts';
import { isCaught, judgeOomAt } from '../account/moment.ts';
import type { AnalysisInput } from '../findings/analysis-input.ts';
import {
  cannotTell,
  classFacts,
  clear,
  findingOf,
  SiteSums,
  sumBySite,
} from '../findings/finding-parts.ts';
import type { Detector, DetectorResult, Fact, FindingBy } from '../findings/types.ts';
import { type RequestOrigin, requestOrigin, shapeFacts } from './oom-request.ts';

/** `kind` for requests that failed and were retried immediately: the program saw no error. */
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
  bytesAre: 'requested',
  band: { style: 'oom', label: 'out of memory' },
  evidenceSearch: 'none',
  isMendedBySettings: true,
} as const satisfies Detector;
type OomFinding = FindingBy<typeof oom>;

/** OOMs reported one by one. A program that catches and retries can have thousands. */
const MAX_OOMS = 20;

export function detectOom(context: AnalysisInput): DetectorResult<OomFinding> {
  const { replay } = context.input;
  const ooms = context.eventsOf(TraceAction.Oom);
  if (ooms.length === 0) {
    return replay.recording === 'truncated'
      ? cannotTell(`${replay.recordingReason} No OOM is among the events that are left.`)
      : clear('No OOM event in the trace.');
  }
  const retried = findRetriedOoms(context.input.trace, replay);
  const failures = ooms.filter((event) => !retried.has(event));
  // A request that was caught and repeated many times is one finding, placed at its last time.
  const { stack } = context.input.trace.events;
  const requests = groupBy(failures.slice(-MAX_OOMS), (event) =>
    isCaught(context, event) ? `stack ${stack[event]}` : `event ${event}`,
  );
  const findings = [...requests.values()].map((times) =>
    oomFinding(context, times, failures.length),
  );
  if (retried.size > 0) findings.push(retriedOomsFinding(context, [...retried]));
  return { status: 'found', findings };
}

/** @param times OOMs of one request, in order */
function oomFinding(
  context: AnalysisInput,
  times: readonly EventIndex[],
  total: number,
): OomFinding {
  const { events } = context.input.trace;
  const event = times[times.length - 1];
  const requestedBytes = events.sizeBytes[event];
  const verdict = judgeOomAt(context, event);
  const origin = requestOrigin(context, event);
  const live = liveAt(context.input.replay.allocations, event);
  const often = times.length > 1 ? `${formatCount(times.length)} times: ` : '';
  return findingOf(context, {
    detector: 'oom',
    kind: verdict.cause,
    severity: isCaught(context, event) ? 'medium' : 'high',
    bytes: requestedBytes,
    stack: origin.stack,
    frameIs: 'requested by',
    claim: (where) =>
      [
        `${often}${requesterText(origin, where, formatBytes(requestedBytes))}`,
        sentenceCase(verdict.text),
        ...(verdict.limit === undefined ? [] : [verdict.limit]),
      ].join(' '),
    events: { first: times[0], last: event },
    sites: sumBySite(context, live),
    note: 'live at the OOM',
    ids: live,
    gaps: largestGaps(segmentsAt(context, event)),
    facts: [
      ...verdict.arithmetic.map((text): Fact => ({ label: 'arithmetic', text })),
      { label: 'missing', bytes: verdict.missingBytes },
      ...shapeFacts(
        requestedBytes,
        sumBy(live, (id) => context.input.replay.allocations.sizeBytes[id]),
      ),
      ...classFacts(context, event),
      ...(total > 1 ? [{ label: 'OOM events in all', count: total }] : []),
    ],
    advice: verdict.advice,
    disproof:
      verdict.cause === 'fragmented'
        ? 'With expandable_segments:True the same run fails at the same place with hardly any gaps: then it was too large after all.'
        : 'The same run passes with expandable_segments:True: then gaps mattered more than this says.',
    origin: events.stack[event],
  });
}

function requesterText({ source }: RequestOrigin, line: string, bytes: string): string {
  if (source === 'own') return `${line} asked for ${bytes} and ran out of memory.`;
  if (source === 'none')
    return `Backward, which has no Python stack, asked for ${bytes} and ran out of memory.`;
  const near =
    source === 'same-size'
      ? `The line nearest to it is ${line}: in the forward pass it made a tensor of exactly that size.`
      : `The last line of Python before it is ${line}.`;
  return `Backward asked for ${bytes} and ran out of memory. ${near}`;
}

/** One finding for all of them. @param ooms in order, at least one */
function retriedOomsFinding(context: AnalysisInput, ooms: readonly EventIndex[]): OomFinding {
  const { sizeBytes, stack } = context.input.trace.events;
  const sums = new SiteSums();
  for (const event of ooms) sums.add(stack[event], sizeBytes[event]);
  const largest = ooms.reduce((a, b) => (sizeBytes[b] > sizeBytes[a] ? b : a));
  const bytes = sizeBytes[largest];
  const isBackward = context.classifier.isBackward(stack[largest]);
  return findingOf(context, {
    detector: 'oom',
    kind: RETRIED,
    severity: 'low',
    bytes,
    stack: stack[largest],
    claim: (where) =>
      `${plural(ooms.length, 'request')} failed and were retried at once, so your program saw no error. cuDNN does so when it tries which workspace fits. The largest, of ${formatBytes(bytes)}, was made by ${isBackward ? 'backward' : where}.`,
    events: { first: ooms[0], last: ooms[ooms.length - 1] },
    sites: sums.largestFirst(),
    note: 'requested without success, all attempts together',
    facts: [
      { label: 'attempts that failed', count: ooms.length },
      { label: 'the largest', bytes },
      { label: 'at event', text: formatCount(largest) },
    ],
    advice: [
      'Nothing has to be done: torch.cuda.memory_stats() counts these in num_ooms, but the program saw no error. With more memory free cuDNN may choose faster algorithms; torch.backends.cudnn.benchmark = False makes fewer attempts.',
    ],
    disproof: 'The program stops with an OutOfMemoryError at one of these events.',
  });
}
