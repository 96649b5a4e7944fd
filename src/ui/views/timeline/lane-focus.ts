/** Going from range to range in the annotation lanes by keys. */
import { upperBound } from '../../../base/binary-search.ts';
import type { AnnotationSpan } from '../../../device/model/types.ts';
import type { Lane } from './lane-layout.ts';

/** The range that has the focus. */
export interface LaneFocus {
  readonly lane: number;
  /** Position in the lane. */
  readonly at: number;
}

export function focusedSpan(
  lanes: readonly Lane[],
  focus: LaneFocus | undefined,
): AnnotationSpan | undefined {
  return focus && lanes[focus.lane]?.span(focus.at);
}

/** First of those that begin at or after `x`, else the last before it, in the outermost lane that has any. */
export function firstFocus(lanes: readonly Lane[], x: number): LaneFocus | undefined {
  const lane = lanes.findIndex(({ length }) => length > 0);
  const found = lanes[lane];
  if (found === undefined) return undefined;
  const at = found.starts.findIndex((start) => start >= x);
  return { lane, at: at < 0 ? found.length - 1 : at };
}

/**
 * Left and right: the range before and after in the lane. Down: the first range that begins inside of
 * it, or the nearest before. Up: the one around it. Home and End: the lane's ends. Undefined for
 * other keys; the same focus where there is nothing to go to.
 */
export function nextFocus(
  lanes: readonly Lane[],
  focus: LaneFocus,
  key: string,
): LaneFocus | undefined {
  const { lane, at } = focus;
  const last = (lanes[lane]?.length ?? 1) - 1;
  switch (key) {
    case 'ArrowLeft':
      return { lane, at: Math.max(0, at - 1) };
    case 'ArrowRight':
      return { lane, at: Math.min(last, at + 1) };
    case 'Home':
      return { lane, at: 0 };
    case 'End':
      return { lane, at: last };
    case 'ArrowUp':
      return nearestIn(lanes, lane - 1, lanes[lane]?.starts[at] ?? 0, 'around') ?? focus;
    case 'ArrowDown':
      return nearestIn(lanes, lane + 1, lanes[lane]?.starts[at] ?? 0, 'from') ?? focus;
    default:
      return undefined;
  }
}

function nearestIn(
  lanes: readonly Lane[],
  lane: number,
  x: number,
  where: 'around' | 'from',
): LaneFocus | undefined {
  const starts = lanes[lane]?.starts;
  if (starts === undefined || starts.length === 0) return undefined;
  const before = upperBound(starts, x) - 1;
  if (where === 'around') return { lane, at: Math.max(0, before) };
  const isExact = starts[before] === x;
  return { lane, at: Math.min(starts.length - 1, isExact ? before : before + 1) };
}
