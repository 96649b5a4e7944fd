/** Annotation ranges as boxes in lanes: only what is in view, and what is too thin is merged. */

import { lowerBound, upperBound } from '../../../base/binary-search.ts';
import { type AnnotationTracks, spanOfRow } from '../../../device/model/annotations.ts';
import { foldTime, NO_FOLDS, type TimeFolds } from '../../../device/model/events.ts';
import type { AnnotationSpan } from '../../../device/model/types.ts';
import type { PlotAxis } from '../../../draw/timeline/types.ts';

/** The spans of one nesting level, in order; none overlap. */
export interface Lane {
  readonly length: number;
  readonly starts: Float64Array | Int32Array;
  readonly ends: Float64Array | Int32Array;
  readonly span: (at: number) => AnnotationSpan;
}

/** A box in CSS pixels from the left edge. */
export interface LaneBox {
  readonly left: number;
  readonly right: number;
  /** The only span in it; undefined where several share less than a pixel each. */
  readonly span: AnnotationSpan | undefined;
  readonly count: number;
}

/** Thinner than this is merged with its neighbors. */
const MIN_WIDTH = 1;

/** One lane for each level, on any axis. Nothing is copied, unless gaps are folded. */
export function lanesOf(
  annotations: AnnotationTracks,
  axis: PlotAxis,
  folds: TimeFolds = NO_FOLDS,
): readonly Lane[] {
  const { first } = annotations;
  const [start, end] =
    axis === 'event'
      ? [annotations.startEvent, annotations.endEvent]
      : [annotations.startUs, annotations.endUs].map((times) =>
          axis === 'time' ? times : times.map((timeUs) => foldTime(folds, timeUs)),
        );
  return Array.from(first.subarray(1), (to, lane) => {
    const from = first[lane] ?? to;
    return {
      length: to - from,
      starts: start.subarray(from, to),
      ends: end.subarray(from, to),
      span: (at) => spanOfRow(annotations, from + at),
    };
  });
}

/**
 * Boxes of a lane for x0 to x1 on `width` pixels. Costs a binary search for each box, not a look
 * at each span: a run of spans within one pixel is leapt over.
 */
export function laneBoxes(lane: Lane, x0: number, x1: number, width: number): readonly LaneBox[] {
  const { starts, ends } = lane;
  const scale = width / (x1 - x0);
  const boxes: LaneBox[] = [];
  let at = firstEndingAfter(lane, x0);
  while (at < lane.length && (starts[at] ?? x1) < x1) {
    const left = Math.max(0, ((starts[at] ?? 0) - x0) * scale);
    const right = Math.min(width, ((ends[at] ?? 0) - x0) * scale);
    if (right - left >= MIN_WIDTH) {
      boxes.push({ left, right, span: lane.span(at), count: 1 });
      at++;
      continue;
    }
    const next = endOfThinRun(lane, at, x0 + (left + MIN_WIDTH) / scale);
    const lastRight = ((ends[next - 1] ?? 0) - x0) * scale;
    const count = next - at;
    boxes.push({
      left,
      right: Math.min(width, Math.max(left + MIN_WIDTH, lastRight)),
      span: count === 1 ? lane.span(at) : undefined,
      count,
    });
    at = next;
  }
  return boxes;
}

function firstEndingAfter({ starts, ends }: Lane, x0: number): number {
  const at = lowerBound(starts, x0);
  // The one before may reach in.
  return at > 0 && (ends[at - 1] ?? 0) > x0 ? at - 1 : at;
}

/** End of the spans from `from` on that end by `limit`; at least one. */
function endOfThinRun({ ends }: Lane, from: number, limit: number): number {
  return Math.max(from + 1, upperBound(ends, limit, from));
}

/** The box under a pixel. */
export function boxAt(boxes: readonly LaneBox[], x: number): LaneBox | undefined {
  return boxes.find(({ left, right }) => x >= left && x < Math.max(right, left + 2));
}
