/**
 * For each OOM: what was requested, what was available, why it did not fit, and the user line that it belongs to.
 *
 * Backward threads run no Python, so their requests have no line. A tensor's gradient is as large as the tensor, so the
 * line that last made a tensor of exactly that size in the forward pass is the one to look at:
 *
 *   train.py:600   logits = logits.float()                   2.00 GiB
 *   train.py:601   loss = F.cross_entropy(logits, y)         2.00 GiB    ← named
 *   backward       requests 2.00 GiB, and there is no room
 */
import { liveAt } from '../../allocator/replay/trace-events.ts';
import type { AllocationIndex } from '../../allocator/replay/types.ts';
import { upperBound } from '../../base/binary-search.ts';
import { groupBy, sumBy } from '../../base/collections.ts';
import { highest, lowest } from '../../base/extremes.ts';
import { formatBytes, formatCount, formatPercent, sentenceCase } from '../../base/format.ts';
import type { FrameView } from '../../device/model/types.ts';
import { type EventIndex, type StackIndex, TraceAction } from '../../format/snapshot/tables.ts';
import { largestGaps, segmentsAt } from '../account/free-space.ts';
import { isCaught, judgeOomAt, seenOoms } from '../account/moment.ts';
import type { AnalysisInput } from '../findings/analysis-input.ts';
import {
  cannotTell,
  classFacts,
  clear,
  findingOf,
  sumBySite,
  sumByStack,
} from '../findings/finding-parts.ts';
import type { OomVerdict } from '../findings/oom-verdict.ts';
import { simulatedSetting } from '../findings/simulated-setting.ts';
import type { Detector, DetectorResult, Fact, FindingBy } from '../findings/types.ts';
import { innermostOwn } from '../findings/user-lines.ts';

/** `kind` for requests that failed and were retried immediately: the program saw no error. */
export const RETRIED_KIND = 'retried';

const TITLE = 'Out of memory';

export const oom = {
  id: 'oom',
  about: 'requests that failed, and whether they were too large or the memory fragmented',
  titles: {
    'too-large': TITLE,
    fragmented: TITLE,
    both: TITLE,
    'other-processes': TITLE,
    'outside-pytorch': TITLE,
    'driver-refused': TITLE,
    [RETRIED_KIND]: TITLE,
  },
  bytesAre: 'requested',
  highlight: { style: 'oom', label: 'out of memory' },
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
  const failures = seenOoms(context);
  const seen = new Set(failures);
  const retried = ooms.filter((event) => !seen.has(event));
  // A request that was caught and repeated many times is one finding, placed at its last time.
  const { stack } = context.input.trace.events;
  const requests = groupBy(failures.slice(-MAX_OOMS), (event) =>
    isCaught(context, event) ? `stack ${stack[event]}` : `event ${event}`,
  );
  const findings = [...requests.values()].map((times) =>
    oomFinding(context, times, failures.length),
  );
  if (retried.length > 0) findings.push(retriedOomsFinding(context, retried));
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
  // What the last line called before did not ask for this.
  const isLastLine = origin.source === 'last-line';
  const stack = isLastLine ? innermostOwn(context, origin.stack, () => true) : origin.stack;
  const live = liveAt(context.input.replay.allocations, event);
  const often = times.length > 1 ? `${formatCount(times.length)} times: ` : '';
  return findingOf(context, {
    detector: 'oom',
    kind: verdict.cause,
    severity: isCaught(context, event) ? 'medium' : 'high',
    bytes: requestedBytes,
    stack: stack ?? origin.stack,
    frameIs: 'requested by',
    claim: (where) =>
      [
        `${often}${requesterText(origin, where, rangeText(times.map((one) => events.sizeBytes[one])))}`,
        sentenceCase(verdict.text),
        ...(verdict.limit === undefined ? [] : [verdict.limit]),
      ].join(' '),
    events: { first: times[0], last: event },
    sites: sumBySite(context, live),
    note: 'live at the OOM',
    ids: live,
    gaps: largestGaps(segmentsAt(context, event)),
    facts: [
      ...verdict.arithmetic.map((text): Fact => ({ label: 'how the bytes add up', text })),
      {
        // A simulated run says how much higher its limit would have to be, with its gaps where they are.
        label: `missing${verdict.isMissingAtMost ? ', at most' : ''}, with all gaps counted as one piece`,
        bytes: verdict.missingBytes,
      },
      ...shapeFacts(
        requestedBytes,
        sumBy(live, (id) => context.input.replay.allocations.sizeBytes[id]),
      ),
      ...classFacts(context, event),
      ...(total > 1 ? [{ label: 'OOM events in all', count: total }] : []),
    ],
    advice: verdict.advice,
    disproof: disproofOf(context, verdict.cause),
    origin: events.stack[event],
  });
}

/** What would show that gaps mattered more, or less, depends on what the simulation says of a run with hardly any. */
function disproofOf({ input }: AnalysisInput, cause: OomVerdict['cause']): string {
  const simulated = simulatedSetting(input);
  const fails = simulated !== undefined && simulated.result.ooms.length > 0;
  if (cause === 'fragmented')
    return fails
      ? 'A real run with expandable_segments:True fails at the same place with hardly any gaps, as the simulated one does: then it was too large after all.'
      : 'With expandable_segments:True the same run fails at the same place with hardly any gaps: then it was too large after all.';
  if (fails) return 'With more memory the same request fails again.';
  return simulated === undefined
    ? 'The same run passes with expandable_segments:True: then gaps mattered more than this says.'
    : 'A real run with expandable_segments:True goes on well past this request, which the simulated one serves: then gaps mattered more than this says.';
}

/** '1.21 GiB'; '1.09 GiB to 1.21 GiB' if the requests differ. */
function rangeText(sizes: readonly number[]): string {
  const [least, most] = [lowest(sizes), highest(sizes)];
  return least === most ? formatBytes(most) : `${formatBytes(least)} to ${formatBytes(most)}`;
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

const retriedText = (failed: number): string =>
  failed === 1
    ? '1 request failed, and a smaller one after it was served'
    : `${formatCount(failed)} requests failed, each in a row of requests that ended with a smaller one, which was served`;

/** One finding for all of them. @param ooms in order, at least one */
function retriedOomsFinding(context: AnalysisInput, ooms: readonly EventIndex[]): OomFinding {
  const { events } = context.input.trace;
  const { sizeBytes, stack } = events;
  const largest = ooms.reduce((a, b) => (sizeBytes[b] > sizeBytes[a] ? b : a));
  const bytes = sizeBytes[largest];
  const isBackward = context.classifier.isBackward(stack[largest]);
  return findingOf(context, {
    detector: 'oom',
    kind: RETRIED_KIND,
    severity: 'low',
    bytes,
    stack: stack[largest],
    claim: (where) =>
      `${retriedText(ooms.length)}: your program saw no error. cuDNN does so when it tries which workspace fits. The largest, of ${formatBytes(bytes)}, was made by ${isBackward ? 'backward' : where}.`,
    events: { first: ooms[0], last: ooms[ooms.length - 1] },
    sites: sumByStack(events, ooms),
    note: 'requested without success, all attempts together',
    facts: [
      { label: 'attempts that failed', count: ooms.length },
      { label: 'the largest', bytes },
      { label: 'at event', text: formatCount(largest) },
    ],
    advice: [
      'There is nothing to do: torch.cuda.memory_stats() counts these in num_ooms, but the program saw no error. With more memory free cuDNN may choose faster algorithms; torch.backends.cudnn.benchmark = False, if it is True now, makes fewer attempts.',
    ],
    disproof: 'The program stops with an OutOfMemoryError at one of these events.',
  });
}

export interface RequestOrigin {
  /** The request's own stack, or that of the line that represents it if a backward thread made it. */
  readonly stack: StackIndex;
  /** 'same-size': a forward line made a tensor of that size. 'last-line': the last Python line before it. */
  readonly source: 'own' | 'same-size' | 'last-line' | 'none';
}

/** Further back is another step. */
const MAX_LOOK_BACK = 4096;
/** Many lines share small sizes. */
const MIN_SAME_SIZE_BYTES = 2 ** 20;

export function requestOrigin(context: AnalysisInput, event: EventIndex): RequestOrigin {
  const { classifier, input } = context;
  const { events } = input.trace;
  const own = events.stack[event];
  if (!classifier.isBackward(own)) return { stack: own, source: 'own' };
  const { start, stack, requestedBytes, preexisting } = input.replay.allocations;
  const bytes = events.sizeBytes[event];
  const newest = upperBound(start, event) - 1;
  let last: StackIndex | undefined;
  for (let id = newest; id >= Math.max(preexisting, newest - MAX_LOOK_BACK); id--) {
    const site = stack[id];
    if (!classifier.hasPython(site) || classifier.isBackward(site)) continue;
    last ??= site;
    if (classifier.isOptimizer(site)) break;
    const isSame = requestedBytes[id] === bytes && bytes >= MIN_SAME_SIZE_BYTES;
    if (isSame && !classifier.isBuilding(site)) return { stack: site, source: 'same-size' };
  }
  return last === undefined ? { stack: own, source: 'none' } : { stack: last, source: 'last-line' };
}

/** Fewer earlier requests don't show what is usual. */
const MIN_EARLIER = 2;
/** More than any allocator's rounding explains. */
const LARGER = 1.5;

/** A request larger than any before from its line: the batch or the sequence has grown. */
export interface LargerRequest {
  /** Times the largest before: 24.0. */
  readonly times: number;
  readonly mostBytes: number;
  /** The user line that passes the batch to the model, if any. */
  readonly caller: FrameView | undefined;
}

/**
 * @param stack the line that represents the request
 * @returns undefined if the line is new or requested about as much before
 */
export function largerRequest(
  context: AnalysisInput,
  stack: StackIndex,
  event: EventIndex,
  requestedBytes: number,
): LargerRequest | undefined {
  const { stack: stacks, requestedBytes: bytes } = context.input.replay.allocations;
  const earlier = bytes
    .subarray(0, beginOfPass(context, event))
    .filter((_, id) => stacks[id] === stack);
  const mostBytes = highest(earlier);
  if (earlier.length < MIN_EARLIER || requestedBytes < LARGER * mostBytes) return undefined;
  const { classifier, input } = context;
  const call = classifier.moduleCall(stack);
  // The caller of the outermost module that contains the line; otherwise the line itself.
  const caller = call === 0 ? stack : input.snapshot.stacks.parent[call];
  return {
    times: requestedBytes / mostBytes,
    mostBytes,
    caller: input.stacks.topUserFrameView(caller),
  };
}

/**
 * The first allocation of the forward pass that an event is in, or that its backward pass follows; 0 if none came
 * before. One line may make tensors of several sizes in a pass, so only whole passes are compared. Without any backward
 * pass, the program's own code between two calls of the model divides them.
 */
function beginOfPass({ classifier, input }: AnalysisInput, event: EventIndex): AllocationIndex {
  const { start, stack } = input.replay.allocations;
  let id = upperBound(start, event) - 1;
  while (id >= 0 && classifier.isBackward(stack[id])) id--;
  const last = id;
  while (id >= 0 && !classifier.isBackward(stack[id])) id--;
  if (id >= 0) return id + 1;
  const call = classifier.moduleCall(stack[last]);
  if (call === 0) return 0;
  for (id = last; id >= 0 && classifier.moduleCall(stack[id]) === call; ) id--;
  return id + 1;
}

/** Share of what would have been in use. Smaller requests are one of many. */
const LARGE_SHARE = 0.25;

/** For a large request: its share of the total, and which shapes have that size. */
function shapeFacts(bytes: number, inUseBytes: number): Fact[] {
  const share = bytes / (bytes + inUseBytes);
  if (share < LARGE_SHARE) return [];
  const of = (type: string, width: number): string => {
    const count = bytes / width;
    const side = Math.sqrt(count);
    const square = Number.isInteger(side) ? ` (a square of ${formatCount(side)})` : '';
    return `${formatCount(count)} elements of ${type}${square}`;
  };
  const odd = bytes % 2 === 0 ? of('bfloat16', 2) : of('int8', 1);
  const text = bytes % 4 === 0 ? `${of('float32', 4)}, or ${of('bfloat16', 2)}` : odd;
  return [
    { label: 'share of all that would have been in use', text: formatPercent(share) },
    { label: 'likely shape (a guess: types and shapes are not recorded)', text },
  ];
}
