/** Segments given back to the driver and taken again: each cudaMalloc and cudaFree stops the GPU's work. */
import { formatBytes, formatDurationUs, plural } from '../base/format.ts';
import { type EventIndex, TraceAction } from '../snapshot/tables.ts';
import { evidence, fingerprint, place, thinned } from './finding-parts.ts';
import type { Study } from './study.ts';
import type { DetectorResult, Fact, FindingPart } from './types.ts';
import { placeOf } from './words.ts';

/** Fewer are start and end. */
const MIN_RETAKEN = 16;
const TOP_PARTS = 6;
/** Of the recorded time. */
const GRAVE_SHARE = 0.05;

interface Churn {
  /** Segments taken from the driver after some had been given back. */
  retaken: EventIndex[];
  retakenBytes: number;
  freed: number;
  /** Runs of frees that a request for memory, or an OOM, follows at once: the allocator's own retries. */
  retries: number;
  /** Upper bound: the time between each such cudaMalloc and the event before it. */
  costUs: number;
}

export function detectChurn(study: Study): DetectorResult {
  if (!study.hasTrace)
    return {
      status: 'cannot-tell',
      reason: 'The file has no trace, so calls of the driver are not recorded.',
    };
  const { trace, replay } = study.input;
  const churn = measure(study);
  if (churn.retaken.length < MIN_RETAKEN) {
    if (replay.recording === 'truncated') {
      return {
        status: 'cannot-tell',
        reason: `${replay.recordingReason} In what is left ${plural(churn.freed, 'segment')} went back to the driver.`,
      };
    }
    return {
      status: 'clear',
      checked: `${plural(churn.freed, 'segment')} went back to the driver, and ${churn.retaken.length} were taken after that.`,
    };
  }
  const sites = new Map<number, { bytes: number; count: number }>();
  for (const event of churn.retaken) {
    const stack = trace.events.stack[event];
    const sum = sites.get(stack) ?? { bytes: 0, count: 0 };
    sites.set(stack, sum);
    sum.bytes += trace.events.sizeBytes[event];
    sum.count++;
  }
  const parts = [...sites]
    .map(
      ([stack, { bytes, count }]): FindingPart => ({
        stack,
        frame: study.input.stacks.topUserFrameView(stack),
        bytes,
        count,
        note: 'segments taken again',
      }),
    )
    .sort((a, b) => b.bytes - a.bytes);
  const where = place(study, parts[0]?.stack);
  const { timeUs } = trace.events;
  const durationUs = timeUs === undefined ? Number.NaN : timeUs[timeUs.length - 1] - timeUs[0];
  const isGrave = churn.costUs >= GRAVE_SHARE * durationUs;
  const cost = timeUs === undefined ? '' : ` They took at most ${formatDurationUs(churn.costUs)}.`;
  return {
    status: 'found',
    findings: [
      {
        detector: 'churn',
        kind: 'segments-retaken',
        severity: isGrave ? 'medium' : 'low',
        bytes: churn.retakenBytes,
        claim: `${plural(churn.freed, 'segment')} went back to the driver and ${plural(churn.retaken.length, 'was', 'were')} taken after that (${formatBytes(churn.retakenBytes)}), in ${plural(churn.retries, 'flush', 'flushes')} of the cache; most for ${placeOf(where.frame)}.${cost}`,
        ...where,
        perStep: undefined,
        events: { first: churn.retaken[0], last: churn.retaken[churn.retaken.length - 1] },
        parts: parts.slice(0, TOP_PARTS),
        facts: factsOf(churn, timeUs !== undefined),
        evidence: evidence(
          study,
          [],
          parts.slice(0, TOP_PARTS).map(({ stack }) => stack),
        ),
        series: {
          unit: 'event',
          label: 'bytes taken again',
          events: thinned(churn.retaken),
          bytes: thinned(churn.retaken.map((event) => trace.events.sizeBytes[event])),
        },
        advice: [
          'Flushes come when memory is nearly full and sizes vary: see fragmentation; expandable_segments:True avoids most of them.',
          'Take torch.cuda.empty_cache() out of the loop: what it gives back is taken again at once.',
        ],
        disproof:
          'The run is no faster without them: then the GPU was not waiting for these calls.',
        fingerprint: fingerprint(study, 'churn', 'segments-retaken', parts[0]?.stack),
      },
    ],
  };
}

function factsOf(churn: Churn, hasTimes: boolean): Fact[] {
  const facts: Fact[] = [
    { label: 'segments given back', count: churn.freed },
    { label: 'segments taken after that', count: churn.retaken.length },
    { label: 'flushes of the cache', count: churn.retries },
  ];
  if (hasTimes) facts.push({ label: 'time, at most', text: formatDurationUs(churn.costUs) });
  return facts;
}

function measure(study: Study): Churn {
  const { action, sizeBytes, timeUs } = study.input.trace.events;
  const churn: Churn = { retaken: [], retakenBytes: 0, freed: 0, retries: 0, costUs: 0 };
  for (let t = 0; t < action.length; t++) {
    const takes = action[t] === TraceAction.SegmentAlloc || action[t] === TraceAction.SegmentMap;
    const isFree = (at: number): boolean =>
      action[at] === TraceAction.SegmentFree || action[at] === TraceAction.SegmentUnmap;
    if (isFree(t)) {
      churn.freed++;
      const isLast = t + 1 < action.length && !isFree(t + 1);
      if (isLast) churn.retries++;
    }
    if (!takes || churn.freed === 0) continue;
    churn.retaken.push(t);
    churn.retakenBytes += sizeBytes[t];
    if (timeUs !== undefined && t > 0) churn.costUs += timeUs[t] - timeUs[t - 1];
  }
  return churn;
}
