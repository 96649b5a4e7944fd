/** Segments returned to the driver and allocated again: each cudaMalloc and cudaFree stalls the GPU. */

import { ReservedSteps } from '../../allocator/replay/counters.ts';
import { isReleasing, isReserving } from '../../allocator/replay/trace-events.ts';
import { isPrivatePool } from '../../allocator/replay/types.ts';
import { recordedSettings } from '../../allocator/simulator/alloc-conf.ts';
import { recordedRetries } from '../../allocator/simulator/recorded-run.ts';
import { type ReleaseRun, releaseRuns } from '../../allocator/simulator/requests.ts';
import { sumBy } from '../../base/collections.ts';
import { formatBytes, formatCount, formatDurationUs, plural } from '../../base/format.ts';
import { EMPTY_STACK, type EventIndex, TraceAction } from '../../format/snapshot/tables.ts';
import { isOfSearch, isWithinCall } from '../account/cudnn-trials.ts';
import { sizesText, varyingSites } from '../account/free-space.ts';
import { fatalOom } from '../account/moment.ts';
import type { AnalysisInput } from '../findings/analysis-input.ts';
import { cannotTell, clear, found, series, sumByStack } from '../findings/finding-parts.ts';
import type { Detector, DetectorResult, FindingBy } from '../findings/types.ts';
import { adviceFor } from '../verdict/remedy-ideas.ts';

export const segmentThrashing = {
  id: 'segment-thrashing',
  about: 'segments that go back to the driver and are allocated again',
  titles: { 'segment-thrashing': 'Segments allocated again' },
  bytesAre: 'allocated again in all',
  highlight: { style: 'other', label: 'segments allocated again' },
  evidenceSearch: 'none',
} as const satisfies Detector;
type ThrashingFinding = FindingBy<typeof segmentThrashing>;

/** Fewer come from startup and shutdown. */
const MIN_RETAKEN = 16;
/** Once is no habit: a program may give its cache back between two phases. */
const MIN_FLUSHES = 2;
/** Share of the recorded time. */
const SEVERE_SHARE = 0.05;

export function detectSegmentThrashing(context: AnalysisInput): DetectorResult<ThrashingFinding> {
  const { retaken, searched, freed, flushes, costUs } = measure(context);
  const retries = Math.min(flushes, context.once(retriesOf).length);
  const { recording, recordingReason } = context.input.replay;
  const given = `${plural(freed, 'segment')} went back to the driver${searchText(searched, freed)}`;
  if (retaken.length < MIN_RETAKEN || flushes < MIN_FLUSHES) {
    return recording === 'truncated'
      ? cannotTell(`${recordingReason} In what is left ${given}.`)
      : clear(
          freed === 0
            ? 'No segment went back to the driver.'
            : freed === searched
              ? `${given}.`
              : `${given}; ${plural(retaken.length, 'was', 'were')} allocated again in place of them.`,
        );
  }
  const severity = isSevere(context, retaken, costUs) ? 'medium' : 'low';
  // What PyTorch gave back while memory ran out is part of the OOM, which has its own advice.
  const oom = fatalOom(context);
  if (severity === 'low' && retries === flushes && oom !== undefined)
    return clear(
      `${given}${searched > 0 ? ', the others' : ''} for requests that did not fit${servedText(context, oom, freed - searched)}.`,
    );
  const { events } = context.input.trace;
  const sites = sumByStack(events, retaken);
  const sizes = retaken.map((event) => events.sizeBytes[event]);
  const bytes = sumBy(sizes, (size) => size);
  const named = sites.find((site) => site.stack > EMPTY_STACK) ?? sites[0];
  // Ever-changing sizes are the reason why cached segments must go.
  const varied = varyingSites(context).find((site) => site.stack === named?.stack);
  const cost = costUs === undefined ? [] : [formatDurationUs(costUs)];
  const isServed = context.eventsOf(TraceAction.Oom).length === 0;
  return found(context, {
    detector: 'segment-thrashing',
    kind: 'segment-thrashing',
    severity,
    bytes,
    stack: named?.stack,
    frameIs: 'requested by',
    claim: (where) =>
      [
        `${given}. ${searched > 0 ? 'Without those, ' : ''}${plural(retaken.length, 'was', 'were')} allocated in place of what was given back (${formatBytes(bytes)}), in ${flushesText(flushes, retries)}; the largest call site is ${where}.`,
        ...(varied === undefined ? [] : [`It ${sizesText(varied)}`]),
        ...cost.map((time) => `This took at most ${time}.`),
        ...(isServed ? ['Every request was served in the end.'] : []),
      ].join(' '),
    events: { first: retaken[0], last: retaken[retaken.length - 1] },
    sites,
    note: 'segments allocated again',
    pattern: 'segments-retaken',
    facts: [
      { label: 'segments given back', count: freed },
      { label: 'segments allocated in place of them', count: retaken.length },
      { label: 'flushes of the cache', count: flushes },
      { label: 'of them by PyTorch itself, for a request that did not fit', count: retries },
      ...cost.map((text) => ({ label: 'time, at most', text })),
    ],
    series: series('event', 'bytes allocated again', retaken, sizes),
    advice: flushes > retries ? adviceFor('cached', 'segments-retaken') : [REPEAT_SIZES],
    disproof: 'The run is no faster without them: then the GPU was not waiting for these calls.',
  });
}

const REPEAT_SIZES =
  'Make sizes repeat, so that cached segments can serve the next request: PyTorch itself gives them back when a request does not fit.';

/** '3 flushes of the cache, 2 of them by PyTorch itself for a request that did not fit' */
function flushesText(flushes: number, retries: number): string {
  const all = plural(flushes, 'flush of the cache', 'flushes of the cache');
  if (retries === 0) return all;
  const which = retries < flushes ? `, ${formatCount(retries)} of them` : '';
  return `${all}${which} by PyTorch itself for a request that did not fit`;
}

/** Where PyTorch gave its cache back to serve a request, as the simulator sees it; other flushes are calls of empty_cache(). */
function retriesOf({ input: { trace, replay, snapshot } }: AnalysisInput): ReleaseRun[] {
  const { settings } = recordedSettings(snapshot.settings);
  const reserved = new ReservedSteps(replay.segmentSpans);
  const runs = releaseRuns(trace, reserved, replay.peaks.reservedBytes.bytes, settings);
  return recordedRetries(trace, runs, settings);
}

/** ': 140 for earlier ones, 76 for the one that ran out of memory' */
function servedText({ input }: AnalysisInput, oom: EventIndex, freed: number): string {
  const { action } = input.trace.events;
  const before = action.subarray(0, oom);
  const last = action
    .subarray(before.lastIndexOf(TraceAction.Alloc) + 1, oom)
    .filter(isReleasing).length;
  if (last === 0) return ', but none for the one that ran out of memory';
  return freed > last
    ? `: ${formatCount(freed - last)} for earlier ones, ${formatCount(last)} for the one that ran out of memory`
    : ', before memory ran out: that belongs to the OOM';
}

/** ', 536 of them after cuDNN had tried its algorithms' */
function searchText(searched: number, freed: number): string {
  if (searched === 0) return '';
  const which = searched === freed ? 'all' : formatCount(searched);
  return `, ${which} of them after cuDNN had tried its algorithms`;
}

/** The recording in ten parts: cuDNN's algorithm search returns and reallocates segments in the first steps only. */
const PARTS = 10;
const SEVERE_PARTS = 5;

function isSevere({ input }: AnalysisInput, retaken: readonly EventIndex[], costUs?: number) {
  const { timeUs } = input.trace.events;
  if (timeUs === undefined || costUs === undefined) return false;
  const parts = new Set(retaken.map((event) => Math.floor((PARTS * event) / timeUs.length)));
  const spanUs = timeUs[timeUs.length - 1] - timeUs[0];
  return parts.size >= SEVERE_PARTS && costUs >= SEVERE_SHARE * spanUs;
}

function measure(context: AnalysisInput) {
  const { action, timeUs, sizeBytes } = context.input.trace.events;
  const isOwnPool = privateSegments(context);
  const retried = new Set(context.once(retriesOf).map(({ event }) => event));
  const taken: { readonly event: EventIndex; readonly flush: number }[] = [];
  const searches = new Set<number>();
  /** What each flush gave back; a flush is a run of frees, and one that ends the recording isn't counted. */
  const given: { bytes: number; segments: number }[] = [];
  let freed = 0;
  let flushes = 0;
  let wasFree = false;
  let isFlushed = false;
  let isKnown = false;
  let [before, flushAt]: EventIndex[] = [-1, -1];
  /** Whether C++ frames, or a retry, say who flushed the cache; a flush's number is that after its end. */
  const judgeFlush = (event: EventIndex, flush: number): boolean => {
    const isSearch = isOfSearch(context, event);
    if (isSearch) searches.add(flush);
    return isSearch !== undefined || retried.has(event);
  };
  action.forEach((own, t) => {
    const isFree = isReleasing(own);
    if (!isFree && wasFree) flushes++;
    if (isFree && !wasFree) {
      flushAt = t;
      isKnown = judgeFlush(t, flushes + 1);
    }
    if (isFree) {
      freed++;
      given[flushes] ??= { bytes: 0, segments: 0 };
      given[flushes].bytes += sizeBytes[t];
      given[flushes].segments++;
    }
    wasFree = isFree;
    isFlushed ||= isFree;
    if (isReserving(own) && freed > 0 && !isOwnPool.has(t))
      taken.push({ event: t, flush: flushes });
    if (own !== TraceAction.Alloc) return;
    if (isFlushed && !isKnown && isWithinCall(context, before, flushAt, t)) searches.add(flushes);
    isFlushed = false;
    before = t;
  });
  // The flush before the n-th one's end is given[n - 1].
  const isSearch = (flush: number) => searches.has(flush + 1);
  const bytesGiven = given.map(({ bytes }, flush) => (isSearch(flush) ? 0 : bytes));
  const retaken = withinGiven(taken, bytesGiven, sizeBytes);
  /** Upper bound: the time from the previous event to each such cudaMalloc; undefined without times. */
  const costUs = timeUs && sumBy(retaken, (t) => timeUs[t] - timeUs[t - 1]);
  const searched = sumBy(
    given.filter((_, flush) => isSearch(flush)),
    ({ segments }) => segments,
  );
  return { retaken, searched, freed, flushes: flushes - searches.size, costUs };
}

/** Only as many bytes are allocated again as were given back by then: what is beyond them is growth. */
function withinGiven(
  taken: readonly { readonly event: EventIndex; readonly flush: number }[],
  given: readonly number[],
  sizeBytes: ArrayLike<number>,
): EventIndex[] {
  let [left, flush] = [0, 0];
  return taken.flatMap((one) => {
    for (; flush < one.flush; flush++) left += given[flush] ?? 0;
    if (sizeBytes[one.event] > left) return [];
    left -= sizeBytes[one.event];
    return one.event;
  });
}

/** Events that reserve memory for a private pool: what other pools gave back could not have served it. */
function privateSegments({ input: { replay, trace } }: AnalysisInput): ReadonlySet<EventIndex> {
  const { start, pool } = replay.segmentSpans;
  return new Set(start.filter((_, span) => isPrivatePool(trace.pools[pool[span]])));
}
