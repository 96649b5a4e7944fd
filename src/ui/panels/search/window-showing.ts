import { NEVER } from '../../../allocator/replay/types.ts';
import type { TimeAxis } from '../../../draw/timeline/types.ts';
import type { Range } from '../../../state/view-store.ts';

/** When an allocation lived; see MatchStep. */
export interface Life {
  readonly startEvent: number;
  readonly endEvent: number;
  readonly startUs: number;
  readonly endUs: number;
}

/** What the axes span. */
export interface Extents {
  readonly events: number;
  readonly durationUs: number;
}

/**
 * The window in which an allocation can be seen: the one there is where it does, else one as wide
 * whose middle is where it begins.
 */
export function windowShowing(
  x: Range | 'all',
  axis: TimeAxis,
  life: Life,
  { events, durationUs }: Extents,
): Range | 'all' {
  if (x === 'all') return x;
  const extent = axis === 'event' ? events : durationUs;
  // From before the trace it begins at 0; what is not freed reaches to the end.
  const start = axis === 'event' ? Math.max(0, life.startEvent) : life.startUs || 0;
  const isOpen = life.endEvent === NEVER;
  const end = isOpen ? extent : axis === 'event' ? life.endEvent : life.endUs;
  if (start < x.to && end > x.from) return x;
  const width = x.to - x.from;
  const from = Math.max(0, Math.min(start - width / 2, extent - width));
  return { from, to: from + width };
}
