/** Segments given back to the driver and taken again: each cudaMalloc and cudaFree stops the GPU's work. */
import { formatBytes, formatDurationUs, plural } from '../../base/format.ts';
import { EMPTY_STACK, type EventIndex, TraceAction } from '../../format/snapshot/tables.ts';
import type { AnalysisInput } from '../findings/analysis-input.ts';
import {
  cannotTell,
  clear,
  evidence,
  fingerprint,
  locationOf,
  locationText,
  type SiteSum,
  SiteSums,
  series,
  sitePart,
} from '../findings/finding-parts.ts';
import type { Detector, DetectorResult, Fact, FindingBy } from '../findings/types.ts';
import { sizesText, varyingSites } from './fragmentation-causes.ts';

export const segmentThrashing = {
  id: 'segment-thrashing',
  about: 'segments that go back to the driver and are taken again',
  titles: { 'segment-thrashing': 'Segments taken again' },
  bytesAre: 'taken in all',
  band: { style: 'other', label: 'segments taken again' },
  evidenceSearch: 'line',
} as const satisfies Detector;
type ThrashingFinding = FindingBy<typeof segmentThrashing>;

/** Fewer are start and end. */
const MIN_RETAKEN = 16;
const TOP_PARTS = 6;
/** Of the recorded time. */
const SEVERE_SHARE = 0.05;

interface Thrashing {
  /** Segments taken from the driver after some had been given back. */
  readonly retaken: readonly EventIndex[];
  readonly retakenBytes: number;
  /** Who had them taken, the most bytes first. */
  readonly sites: readonly SiteSum[];
  readonly freed: number;
  /** Runs of frees that a request for memory, or an OOM, follows at once: the allocator's own retries. */
  readonly retries: number;
  /** Upper bound: the time between each such cudaMalloc and the event before it; undefined without times. */
  readonly costUs: number | undefined;
}

export function detectSegmentThrashing(context: AnalysisInput): DetectorResult<ThrashingFinding> {
  if (!context.hasTrace) {
    return cannotTell('The file has no trace, so calls of the driver are not recorded.');
  }
  const thrashing = measure(context);
  if (thrashing.retaken.length >= MIN_RETAKEN) {
    return { status: 'found', findings: [toFinding(context, thrashing)] };
  }
  const { recording, recordingReason } = context.input.replay;
  const freed = plural(thrashing.freed, 'segment');
  if (recording === 'truncated') {
    return cannotTell(`${recordingReason} In what is left ${freed} went back to the driver.`);
  }
  return clear(
    `${freed} went back to the driver, and ${thrashing.retaken.length} were taken after that.`,
  );
}

function toFinding(context: AnalysisInput, thrashing: Thrashing): ThrashingFinding {
  const { events } = context.input.trace;
  const { retaken, retakenBytes, freed, retries, costUs, sites } = thrashing;
  const top = sites.slice(0, TOP_PARTS);
  const named = top.find(({ stack }) => stack > EMPTY_STACK) ?? top[0];
  const where = locationOf(context, named?.stack, 'requested by');
  // Sizes that keep changing are why what is cached must go.
  const varied = varyingSites(context).find((site) => site.stack === named?.stack);
  const cost = costUs === undefined ? '' : ` They took at most ${formatDurationUs(costUs)}.`;
  return {
    detector: 'segment-thrashing',
    kind: 'segment-thrashing',
    severity: isSevere(context, thrashing) ? 'medium' : 'low',
    bytes: retakenBytes,
    claim: `${plural(freed, 'segment')} went back to the driver and ${plural(retaken.length, 'was', 'were')} taken after that (${formatBytes(retakenBytes)}), in ${plural(retries, 'flush', 'flushes')} of the cache; most for ${locationText(where.frame)}.${varied === undefined ? '' : ` It ${sizesText(varied)}`}${cost}${servedText(context)}`,
    ...where,
    events: { first: retaken[0], last: retaken[retaken.length - 1] },
    parts: top.map((site) => sitePart(context, site, 'segments taken again')),
    facts: factsOf(thrashing),
    evidence: evidence(context, [], top),
    series: series(
      'event',
      'bytes taken again',
      retaken,
      retaken.map((event) => events.sizeBytes[event]),
    ),
    advice: [
      'Flushes come when memory is nearly full and sizes vary: see fragmentation; expandable_segments:True avoids most of them.',
      'Take torch.cuda.empty_cache() out of the loop: what it gives back is taken again at once.',
    ],
    disproof: 'The run is no faster without them: then the GPU was not waiting for these calls.',
    fingerprint: fingerprint(context, 'segment-thrashing', 'segment-thrashing', named?.stack),
  };
}

function servedText(context: AnalysisInput): string {
  return context.eventsOf(TraceAction.Oom).length === 0
    ? ' Every request was served in the end.'
    : '';
}

/** Of ten parts of the recording: cuDNN's search for algorithms gives segments back and takes them in the first steps alone. */
const PARTS = 10;
const SEVERE_PARTS = 5;

function isSevere({ input }: AnalysisInput, { costUs, retaken }: Thrashing): boolean {
  const { timeUs } = input.trace.events;
  if (timeUs === undefined || costUs === undefined) return false;
  const parts = new Set(retaken.map((event) => Math.floor((PARTS * event) / timeUs.length)));
  if (parts.size < SEVERE_PARTS) return false;
  return costUs >= SEVERE_SHARE * (timeUs[timeUs.length - 1] - timeUs[0]);
}

function factsOf({ retaken, freed, retries, costUs }: Thrashing): Fact[] {
  const facts: Fact[] = [
    { label: 'segments given back', count: freed },
    { label: 'segments taken after that', count: retaken.length },
    { label: 'flushes of the cache', count: retries },
  ];
  if (costUs !== undefined) facts.push({ label: 'time, at most', text: formatDurationUs(costUs) });
  return facts;
}

function measure(context: AnalysisInput): Thrashing {
  const { action, sizeBytes, stack, timeUs } = context.input.trace.events;
  const retaken: EventIndex[] = [];
  const sites = new SiteSums();
  let [retakenBytes, freed, retries, costUs] = [0, 0, 0, 0];
  const isFree = (t: number): boolean =>
    action[t] === TraceAction.SegmentFree || action[t] === TraceAction.SegmentUnmap;
  for (let t = 0; t < action.length; t++) {
    if (isFree(t)) {
      freed++;
      const isLast = t + 1 < action.length && !isFree(t + 1);
      if (isLast) retries++;
    }
    const takes = action[t] === TraceAction.SegmentAlloc || action[t] === TraceAction.SegmentMap;
    if (!takes || freed === 0) continue;
    retaken.push(t);
    retakenBytes += sizeBytes[t];
    sites.add(stack[t], sizeBytes[t]);
    if (timeUs !== undefined && t > 0) costUs += timeUs[t] - timeUs[t - 1];
  }
  const hasTimes = timeUs !== undefined;
  return {
    retaken,
    retakenBytes,
    sites: sites.largestFirst(),
    freed,
    retries,
    costUs: hasTimes ? costUs : undefined,
  };
}
