/**
 * Annotation ranges lane by lane, as columns: a program that annotates each module has hundreds of
 * thousands, and as many objects would stop the page for seconds when they arrive.
 *
 *     lane 0  |---- step 0 ----|    |---- step 1 --     rows 0 and 1     first = [0, 2, 4]
 *     lane 1    |fwd|  |bwd|                            rows 2 and 3
 */
import { upperBound } from '../../base/binary-search.ts';
import type { AnnotationSpan } from './types.ts';

export interface AnnotationLanes {
  /** Rows of lane k are first[k] <= row < first[k + 1]; those of a lane follow each other in time. */
  readonly first: Int32Array;
  /** Each name once; `name` holds places in it. */
  readonly names: readonly string[];
  readonly name: Int32Array;
  readonly startUs: Float64Array;
  readonly endUs: Float64Array;
  readonly startEvent: Int32Array;
  readonly endEvent: Int32Array;
  readonly isComplete: Uint8Array;
}

/** @param spans by start, as `annotationSpans` gives them */
export function annotationLanes(spans: readonly AnnotationSpan[]): AnnotationLanes {
  const first = firstRows(spans);
  const next = first.slice();
  const names = new Map<string, number>();
  const lanes = {
    first,
    name: new Int32Array(spans.length),
    startUs: new Float64Array(spans.length),
    endUs: new Float64Array(spans.length),
    startEvent: new Int32Array(spans.length),
    endEvent: new Int32Array(spans.length),
    isComplete: new Uint8Array(spans.length),
  };
  for (const span of spans) {
    const row = next[span.depth]++;
    const name = names.get(span.name) ?? names.size;
    names.set(span.name, name);
    lanes.name[row] = name;
    lanes.startUs[row] = span.startUs;
    lanes.endUs[row] = span.endUs;
    lanes.startEvent[row] = span.startEvent;
    lanes.endEvent[row] = span.endEvent;
    lanes.isComplete[row] = Number(span.complete);
  }
  return { ...lanes, names: [...names.keys()] };
}

function firstRows(spans: readonly AnnotationSpan[]): Int32Array {
  const levels = spans.reduce((most, { depth }) => Math.max(most, depth + 1), 0);
  const first = new Int32Array(levels + 1);
  for (const { depth } of spans) first[depth + 1]++;
  for (let lane = 0; lane < levels; lane++) first[lane + 1] += first[lane];
  return first;
}

/** One range as it was. */
export function spanOfRow(lanes: AnnotationLanes, row: number): AnnotationSpan {
  return {
    name: lanes.names[lanes.name[row]],
    depth: upperBound(lanes.first, row) - 1,
    startUs: lanes.startUs[row],
    endUs: lanes.endUs[row],
    startEvent: lanes.startEvent[row],
    endEvent: lanes.endEvent[row],
    complete: lanes.isComplete[row] === 1,
  };
}
