/**
 * Annotations grouped by name, with peak memory, net growth and time; and the annotation around each allocation. The
 * page calls a group a phase. A loop writes '## step 0 ##', '## step 1 ##', each once: those form one group, '## step *
 * ##'. Numbered names that occur more than once ('layer 3') stay separate.
 */

import type { CounterName, Peak, Replay } from '../../allocator/replay/types.ts';
import { countOne, groupBy, memoized } from '../../base/collections.ts';
import type { EventIndex } from '../../format/snapshot/tables.ts';
import type { AnnotationSpan } from './types.ts';

const ANNOTATION_COUNTERS = ['allocatedBytes', 'activeBytes', 'reservedBytes'] as const;
export type AnnotationCounter = (typeof ANNOTATION_COUNTERS)[number];

type RecordedCounters = Pick<Replay, 'countersAt' | 'recording'>;

export type AnnotationGroup = ReturnType<typeof groupOf>;

/** Extremes over ranges of events, as in src/draw/timeline's CounterBlocks. */
export interface RangeMaximum {
  scan(first: EventIndex, last: EventIndex): { readonly max: number; readonly argmax: EventIndex };
}

/** One row per group, highest allocated memory first. Ignores annotations with only one known moment. */
export function groupAnnotations(
  spans: readonly AnnotationSpan[],
  replay: RecordedCounters,
  maximum: (counter: CounterName) => RangeMaximum,
): AnnotationGroup[] {
  const key = annotationGroupKeys(spans);
  const ranges = spans.filter((span) => !isMoment(span));
  const groups = groupBy(ranges, ({ name }) => key(name));
  const rows = [...groups].map(([name, group]) => groupOf(name, group, replay, maximum));
  // A step and its backward pass share their peak; the part (the shorter one) comes first.
  const peakOf = ({ peaks }: AnnotationGroup) => peaks.allocatedBytes.bytes;
  const timeOf = ({ totalUs, count, unclosed }: AnnotationGroup) =>
    count === unclosed ? 2 ** 53 : totalUs;
  return rows.sort((a, b) => peakOf(b) - peakOf(a) || timeOf(a) - timeOf(b));
}

/** Only START or END is in the file, and it was not open at the recording's edge. */
export function isMoment({ complete, startUs, endUs }: AnnotationSpan): boolean {
  return !complete && startUs === endUs;
}

export const isRecorded = ({ count }: Pick<AnnotationGroup, 'count'>): boolean => count > 0;

/** Annotation name → group name. */
export function annotationGroupKeys(spans: readonly AnnotationSpan[]): (name: string) => string {
  const counts = new Map<string, number>();
  for (const { name } of spans) countOne(counts, name);
  const patterns = groupBy(counts.keys(), patternOf);
  const isOnce = memoized((pattern: string) =>
    (patterns.get(pattern) ?? []).every((name) => counts.get(name) === 1),
  );
  return (name) => {
    const names = patterns.get(patternOf(name)) ?? [];
    return names.length > 1 && isOnce(patternOf(name)) ? patternOf(name) : name;
  };
}

const patternOf = (name: string): string => name.replace(/\d+/g, '*');

/** A ring that dropped its oldest events still has their annotations: all that memory did in these is not recorded. */
const isBefore = ({ startUs }: AnnotationSpan, { recording }: RecordedCounters): boolean =>
  recording === 'truncated' && startUs < 0;

function groupOf(
  name: string,
  all: readonly AnnotationSpan[],
  replay: RecordedCounters,
  maximum: (counter: CounterName) => RangeMaximum,
) {
  const spans = all.filter((span) => !isBefore(span, replay));
  const peaks = { allocatedBytes: NO_PEAK, activeBytes: NO_PEAK, reservedBytes: NO_PEAK };
  let [highest = all[0]] = spans;
  let grownBytes = 0;
  let totalUs = 0;
  let unclosed = 0;
  for (const span of spans) {
    for (const counter of ANNOTATION_COUNTERS) {
      const peak = peakIn(span, counter, replay, maximum(counter));
      if (peak.bytes <= peaks[counter].bytes) continue;
      peaks[counter] = peak;
      if (counter === 'allocatedBytes') highest = span;
    }
    if (!span.complete) {
      unclosed++;
      continue;
    }
    totalUs += span.endUs - span.startUs;
    const before = replay.countersAt(span.startEvent - 1).allocatedBytes;
    grownBytes += replay.countersAt(span.endEvent - 1).allocatedBytes - before;
  }
  return {
    /** The annotation's name, or a pattern for several: '## step * ##'. */
    name,
    /** The number of names in the group, usually 1. */
    names: new Set(all.map((span) => span.name)).size,
    /** Ranges inside the recording; without any, peaks are unknown (-1 bytes). */
    count: spans.length,
    /** Ranges that began before a truncated recording does; nothing else counts them. */
    before: all.length - spans.length,
    /** Ranges without START or END, which extend to the edge of the recording. */
    unclosed,
    /** Highest value in any range, including its first moment, and the first event with it. */
    peaks,
    /** Allocated bytes at the end minus at the start, summed over all ranges with both START and END. */
    grownBytes,
    /** Total time of those ranges; there are count - unclosed. */
    totalUs,
    /** The range with the highest allocated memory. */
    highest,
  };
}

const NO_PEAK: Peak = { bytes: -1, event: -1 };

/** The state at a range's start, left by the event before it, belongs to the range. */
function peakIn(
  { startEvent, endEvent }: AnnotationSpan,
  counter: AnnotationCounter,
  replay: RecordedCounters,
  maximum: RangeMaximum,
): Peak {
  const atStart = { bytes: replay.countersAt(startEvent - 1)[counter], event: startEvent - 1 };
  if (endEvent <= startEvent) return atStart;
  const { max, argmax } = maximum.scan(startEvent, endEvent - 1);
  return max > atStart.bytes ? { bytes: max, event: argmax } : atStart;
}

/**
 * The innermost range around each event: `span[i]` (an index into the spans, -1 outside all) from event `from[i]` to
 * before `from[i + 1]`. Innermost means started last.
 * @param spans in `annotationSpans` order, outer before inner
 */
export function innermostSpans(spans: readonly AnnotationSpan[]) {
  const used = [...spans.keys()].filter(
    (row) => spans[row].endEvent > spans[row].startEvent && !isMoment(spans[row]),
  );
  const ends = used.toSorted((a, b) => spans[a].endEvent - spans[b].endEvent);
  const from: EventIndex[] = [0];
  const span = [-1];
  const open: number[] = [];
  let nextEnd = 0;
  const enter = (event: EventIndex) => {
    const innermost = open.at(-1) ?? -1;
    if (from.at(-1) === event) span[span.length - 1] = innermost;
    else if (span.at(-1) !== innermost) {
      from.push(event);
      span.push(innermost);
    }
  };
  const closeUpTo = (event: EventIndex) => {
    for (; nextEnd < ends.length && spans[ends[nextEnd]].endEvent <= event; nextEnd++) {
      open.splice(open.lastIndexOf(ends[nextEnd]), 1);
      enter(spans[ends[nextEnd]].endEvent);
    }
  };
  for (const row of used) {
    closeUpTo(spans[row].startEvent);
    open.push(row);
    enter(spans[row].startEvent);
  }
  closeUpTo(Infinity);
  return { from, span };
}
