/**
 * Annotations grouped by name: how high memory stood in each group, what it left behind, how long it
 * took; and in which annotation an allocation was made. The page calls a group a phase.
 *
 * A loop writes names such as '## step 0 ##', '## step 1 ##', each once. Those are one group,
 * '## step * ##'. Names with numbers that come more than once ('layer 3') stay apart.
 */

import type { CounterName, Peak, Replay } from '../../allocator/replay/types.ts';
import { countOne, groupBy } from '../../base/grouping.ts';
import { memoized } from '../../base/memoized.ts';
import type { EventIndex } from '../../format/snapshot/tables.ts';
import type { AnnotationSpan } from './types.ts';

/** The counters whose peaks a group has. */
const ANNOTATION_COUNTERS = ['allocatedBytes', 'activeBytes', 'reservedBytes'] as const;
export type AnnotationCounter = (typeof ANNOTATION_COUNTERS)[number];

export type AnnotationGroup = ReturnType<typeof groupOf>;

/** Extremes over ranges of events: src/draw/timeline's CounterBlocks are one. */
export interface RangeMaximum {
  scan(first: EventIndex, last: EventIndex): { readonly max: number; readonly argmax: EventIndex };
}

/**
 * One row a group, the one with the highest allocated memory first. Annotations with only
 * one known moment are left out.
 */
export function groupAnnotations(
  spans: readonly AnnotationSpan[],
  replay: Pick<Replay, 'countersAt'>,
  maximum: (counter: CounterName) => RangeMaximum,
): AnnotationGroup[] {
  const key = annotationGroupKeys(spans);
  const ranges = spans.filter((span) => !isMoment(span));
  const groups = groupBy(ranges, ({ name }) => key(name));
  const rows = [...groups].map(([name, group]) => groupOf(name, group, replay, maximum));
  // Of a step and the backward pass in it, which share their peak, the part comes first.
  const peakOf = ({ peaks }: AnnotationGroup) => peaks.allocatedBytes.bytes;
  const timeOf = ({ totalUs, count, unclosed }: AnnotationGroup) =>
    count === unclosed ? 2 ** 53 : totalUs;
  return rows.sort((a, b) => peakOf(b) - peakOf(a) || timeOf(a) - timeOf(b));
}

/** Only its START or its END is in the file, and it was not under way at the recording's edge. */
export function isMoment({ complete, startUs, endUs }: AnnotationSpan): boolean {
  return !complete && startUs === endUs;
}

/** From an annotation's name to that of its group. */
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

function groupOf(
  name: string,
  spans: readonly AnnotationSpan[],
  replay: Pick<Replay, 'countersAt'>,
  maximum: (counter: CounterName) => RangeMaximum,
) {
  const peaks = { allocatedBytes: NO_PEAK, activeBytes: NO_PEAK, reservedBytes: NO_PEAK };
  let [highest] = spans;
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
    /** The annotation's name, or the pattern of several: '## step * ##'. */
    name,
    /** How many names that are, 1 for most. */
    names: new Set(spans.map((span) => span.name)).size,
    count: spans.length,
    /** Those of them that lack START or END, and reach to the edge of the recording. */
    unclosed,
    /** Highest in any of its ranges, their first moment included, and the first event at which. */
    peaks,
    /** Allocated bytes after less those before, over all ranges that have both START and END. */
    grownBytes,
    /** Time in all of those; their number is count - unclosed. */
    totalUs,
    /** The range in which allocated memory stood highest. */
    highest,
  };
}

const NO_PEAK: Peak = { bytes: -1, event: -1 };

/** The state in which a range begins, that after the event before it, belongs to it. */
function peakIn(
  { startEvent, endEvent }: AnnotationSpan,
  counter: AnnotationCounter,
  replay: Pick<Replay, 'countersAt'>,
  maximum: RangeMaximum,
): Peak {
  const atStart = { bytes: replay.countersAt(startEvent - 1)[counter], event: startEvent - 1 };
  if (endEvent <= startEvent) return atStart;
  const { max, argmax } = maximum.scan(startEvent, endEvent - 1);
  return max > atStart.bytes ? { bytes: max, event: argmax } : atStart;
}

/**
 * For each event the innermost range around it: `span[i]` (a row of the spans, -1 outside all) from
 * event `from[i]` to before `from[i + 1]`. Innermost is the one that began last.
 */
export interface InnermostSpans {
  readonly from: readonly EventIndex[];
  readonly span: readonly number[];
}

/** @param spans as `annotationSpans` orders them, outer before inner */
export function innermostSpans(spans: readonly AnnotationSpan[]): InnermostSpans {
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
