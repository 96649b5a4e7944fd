import type { ColorBy, Palette, Viewport } from '../core/raster/types.ts';
import type { CounterName } from '../core/replay/types.ts';
import type { EventIndex } from '../core/snapshot/tables.ts';

/** Which allocations are meant. */
export interface MatchingRequest {
  /** The view's search; '' and one with a problem mean all. */
  readonly search: string;
  /** The matches alone are stacked; else the others are dimmed in their place. */
  readonly onlyMatches: boolean;
  /** The cursor, at which states and ages are taken; undefined: the end. */
  readonly at: EventIndex | undefined;
}

/** For those who look at all allocations. */
export const ALL_ALLOCATIONS: MatchingRequest = { search: '', onlyMatches: false, at: undefined };

/** A picture of the timeline. */
export interface FrameRequest extends MatchingRequest {
  /** Position in SessionInfo.devices. */
  readonly deviceIndex: number;
  readonly viewport: Viewport;
  readonly colorBy: ColorBy;
  readonly palette: Palette;
  readonly lines: readonly CounterName[];
  /** Allocation to draw highlighted, -1 for none. */
  readonly selected: number;
}
