/**
 * The codes of the last finished frame, so that a panned frame paints only what came into view.
 *
 * What a column shows depends on its state, the y range and the classes alone. So nothing is taken
 * for granted about the axis: a shift is tried, and taken only if all states of the overlap agree.
 */
import type { Viewport } from './types.ts';

/** Columns from `from` to `to`, excluded, hold their codes already. */
export interface ColumnSpan {
  readonly from: number;
  readonly to: number;
}

interface KeptFrame {
  readonly viewport: Viewport;
  readonly classOf: Uint8Array;
  readonly states: Int32Array;
}

const NOTHING: ColumnSpan = { from: 0, to: 0 };

export class KeptColumns {
  #kept: KeptFrame | undefined;

  /** All of the codes are those of this frame, from now until `take`. */
  keep(viewport: Viewport, classOf: Uint8Array, states: Int32Array): void {
    this.#kept = { viewport, classOf, states };
  }

  /**
   * Moves the codes that the next frame can use to their new columns, and says which those are.
   * From then on the codes are being painted: what was kept is forgotten.
   */
  take(
    codes: Uint16Array,
    viewport: Viewport,
    classOf: Uint8Array,
    states: Int32Array,
  ): ColumnSpan {
    const kept = this.#kept;
    this.#kept = undefined;
    if (kept === undefined || kept.classOf !== classOf) return NOTHING;
    if (!hasSameRows(kept.viewport, viewport)) return NOTHING;
    const { width, height, x0, x1 } = viewport;
    const shift = Math.round(((x0 - kept.viewport.x0) * width) / (x1 - x0));
    const from = Math.max(0, -shift);
    const to = Math.min(width, width - shift);
    for (let column = from; column < to; column++) {
      if (states[column] !== kept.states[column + shift]) return NOTHING;
    }
    if (to <= from) return NOTHING;
    codes.copyWithin(from * height, (from + shift) * height, (to + shift) * height);
    return { from, to };
  }
}

function hasSameRows(one: Viewport, other: Viewport): boolean {
  return (
    one.width === other.width &&
    one.height === other.height &&
    one.y0 === other.y0 &&
    one.y1 === other.y1
  );
}
