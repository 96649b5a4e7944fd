/** Lays annotation ranges out as boxes in tracks, with thin ones merged; and finds the next range for a key. */
import { lowerBound, upperBound } from '../../../base/binary-search.ts';
import { type AnnotationTracks, spanOfRow } from '../../../device/model/annotations.ts';
import { foldTime, NO_FOLDS, type TimeFolds } from '../../../device/model/events.ts';
import type { AnnotationSpan } from '../../../device/model/types.ts';
import type { PlotAxis } from '../../../draw/timeline/types.ts';

/** The spans of one nesting level, in order, without overlaps. */
export interface Track {
  readonly length: number;
  readonly starts: Float64Array | Int32Array;
  readonly ends: Float64Array | Int32Array;
  readonly span: (at: number) => AnnotationSpan;
}

/** A box in CSS pixels from the left edge. */
export interface TrackBox {
  readonly left: number;
  readonly right: number;
  /** The only span in it; undefined if several share less than a pixel each. */
  readonly span: AnnotationSpan | undefined;
  readonly count: number;
}

/** Thinner boxes are merged with their neighbors. */
const MIN_WIDTH = 1;

/** One track per level. Copies nothing unless gaps are folded. */
export function tracksOf(
  annotations: AnnotationTracks,
  axis: PlotAxis,
  folds: TimeFolds = NO_FOLDS,
): readonly Track[] {
  const { first } = annotations;
  const [start, end] =
    axis === 'event'
      ? [annotations.startEvent, annotations.endEvent]
      : [annotations.startUs, annotations.endUs].map((times) =>
          axis === 'time' ? times : times.map((timeUs) => foldTime(folds, timeUs)),
        );
  return Array.from(first.subarray(1), (to, level) => {
    const from = first[level] ?? to;
    return {
      length: to - from,
      starts: start.subarray(from, to),
      ends: end.subarray(from, to),
      span: (at) => spanOfRow(annotations, from + at),
    };
  });
}

/**
 * Boxes of a track for x0 to x1 on `width` pixels. Costs a binary search per box, not a look at each span: it skips a
 * run of spans within one pixel.
 */
export function trackBoxes(
  track: Track,
  x0: number,
  x1: number,
  width: number,
): readonly TrackBox[] {
  const { starts, ends } = track;
  const scale = width / (x1 - x0);
  const boxes: TrackBox[] = [];
  let at = firstEndingAfter(track, x0);
  while (at < track.length && (starts[at] ?? x1) < x1) {
    const left = Math.max(0, ((starts[at] ?? 0) - x0) * scale);
    // The end of the spans from here on that fit into a box of the least width; at least one.
    const next = Math.max(at + 1, upperBound(ends, x0 + (left + MIN_WIDTH) / scale, at));
    const right = Math.max(left + MIN_WIDTH, ((ends[next - 1] ?? 0) - x0) * scale);
    const count = next - at;
    const span = count === 1 ? track.span(at) : undefined;
    boxes.push({ left, right: Math.min(width, right), span, count });
    at = next;
  }
  return boxes;
}

function firstEndingAfter({ starts, ends }: Track, x0: number): number {
  const at = lowerBound(starts, x0);
  // The previous span may reach into view.
  return at > 0 && (ends[at - 1] ?? 0) > x0 ? at - 1 : at;
}

export function boxAt(boxes: readonly TrackBox[], x: number): TrackBox | undefined {
  return boxes.find(({ left, right }) => x >= left && x < Math.max(right, left + 2));
}

export interface TrackFocus {
  readonly track: number;
  readonly at: number;
}

export const focusedSpan = (
  tracks: readonly Track[],
  focus: TrackFocus | undefined,
): AnnotationSpan | undefined => focus && tracks[focus.track]?.span(focus.at);

/** In the outermost non-empty track, the first range that begins at or after `x`, else the last. */
export function firstFocus(tracks: readonly Track[], x: number): TrackFocus | undefined {
  const track = tracks.findIndex(({ length }) => length > 0);
  const found = tracks[track];
  if (found === undefined) return undefined;
  const at = found.starts.findIndex((start) => start >= x);
  return { track, at: at < 0 ? found.length - 1 : at };
}

/**
 * Left and right: the previous and next range in the track. Down: the first range that begins inside this one, or the
 * nearest before. Up: the range around this one. Home and End: the track's ends. Undefined for other keys; the same
 * focus if there is nowhere to go.
 */
export function nextFocus(
  tracks: readonly Track[],
  focus: TrackFocus,
  key: string,
): TrackFocus | undefined {
  const { track, at } = focus;
  const last = (tracks[track]?.length ?? 1) - 1;
  const start = tracks[track]?.starts[at] ?? 0;
  switch (key) {
    case 'ArrowLeft':
      return { track, at: Math.max(0, at - 1) };
    case 'ArrowRight':
      return { track, at: Math.min(last, at + 1) };
    case 'Home':
      return { track, at: 0 };
    case 'End':
      return { track, at: last };
    case 'ArrowUp':
      return nearestIn(tracks, track - 1, start, 'around') ?? focus;
    case 'ArrowDown':
      return nearestIn(tracks, track + 1, start, 'from') ?? focus;
    default:
      return undefined;
  }
}

function nearestIn(
  tracks: readonly Track[],
  track: number,
  x: number,
  where: 'around' | 'from',
): TrackFocus | undefined {
  const starts = tracks[track]?.starts;
  if (starts === undefined || starts.length === 0) return undefined;
  const before = upperBound(starts, x) - 1;
  const isWanted = where === 'around' || starts[before] === x;
  const at = isWanted ? before : before + 1;
  return { track, at: Math.max(0, Math.min(starts.length - 1, at)) };
}
