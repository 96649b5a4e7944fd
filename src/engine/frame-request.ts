import type { CounterName } from '../core/replay/types.ts';
import type { ColorBy, Palette, Viewport } from '../core/timeline/types.ts';

/** A picture of the timeline. */
export interface FrameRequest {
  /** Position in SessionInfo.devices. */
  readonly device: number;
  readonly viewport: Viewport;
  readonly colorBy: ColorBy;
  readonly palette: Palette;
  readonly lines: readonly CounterName[];
  /** Allocation to draw highlighted, -1 for none. */
  readonly selected: number;
}
