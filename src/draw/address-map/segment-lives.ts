/**
 * The lives of reserved memory: a native segment from cudaMalloc to cudaFree, a mapped piece of an expandable segment
 * from segment_map to segment_unmap.
 *
 * When part of a piece is unmapped, the replay ends the piece and opens new rows for the rest. Here the rest keeps the
 * time at which its piece was mapped: the piece is split from its start, so the rest does not jump to the top of the
 * stack:
 *
 *   replay   [0, 100) 5 to 9, [0, 40) from 9 on      here   [0, 40) from 5 on, [40, 100) 5 to 9
 *
 * Both have the same bytes at every event.
 */

import {
  type AllocationTable,
  NEVER,
  SEGMENT_SPAN_COLUMNS,
  type SegmentSpanTable,
} from '../../allocator/replay/types.ts';
import { addTo } from '../../base/collections.ts';
import { gather } from '../../base/table.ts';
import { type EventIndex, type EventTable, TraceAction } from '../../format/snapshot/tables.ts';

/** Row of {@link SegmentLives}: reserved before the trace first, then in order of start. */
export type SegmentLife = number;

/** Shaped like allocations, so the same code can draw both. */
export interface SegmentLives extends AllocationTable {
  readonly isExpandable: Uint8Array;
}

export function segmentLives(
  spans: SegmentSpanTable,
  events: Pick<EventTable, 'action'>,
): SegmentLives {
  const cut = new CutSpans(spans, events);
  const { start, address, sizeBytes } = cut;
  const order = cut.inOrderOfStart();
  const lives = gather(SEGMENT_SPAN_COLUMNS, { ...spans, start, address, sizeBytes }, order);
  const preexisting = lives.start.findIndex((event) => event >= 0);
  return {
    ...lives,
    preexisting: preexisting < 0 ? order.length : preexisting,
    freeRequested: lives.end,
    requestedBytes: lives.sizeBytes,
  };
}

/** The spans, with each rest traced back to its original piece. */
class CutSpans {
  readonly start: Int32Array;
  readonly address: Float64Array;
  readonly sizeBytes: Float64Array;
  readonly #spans: SegmentSpanTable;

  constructor(spans: SegmentSpanTable, events: Pick<EventTable, 'action'>) {
    this.#spans = spans;
    this.start = spans.start.slice();
    this.address = spans.address.slice();
    this.sizeBytes = spans.sizeBytes.slice();
    const endedAt = this.#endedPieces();
    // A rest comes after its piece, so the piece's start is already known.
    for (let row = 0; row < spans.length; row++) {
      const event = spans.start[row];
      if (event < 0 || events.action[event] !== TraceAction.SegmentUnmap) continue;
      const piece = endedAt.get(event)?.find((of) => this.#holds(of, row));
      if (piece !== undefined) this.#cut(piece, row);
    }
  }

  /** Rows unmapped as a whole, and the remainders of the others, by start; the sort is stable. */
  inOrderOfStart(): Int32Array {
    const { start, sizeBytes } = this;
    const rows: number[] = [];
    for (let row = 0; row < start.length; row++) if (sizeBytes[row] > 0) rows.push(row);
    return Int32Array.from(rows.sort((a, b) => start[a] - start[b] || a - b));
  }

  #endedPieces(): Map<EventIndex, number[]> {
    const { length, end, isExpandable } = this.#spans;
    const endedAt = new Map<EventIndex, number[]>();
    for (let row = 0; row < length; row++) {
      if (isExpandable[row] === 0 || end[row] === NEVER) continue;
      addTo(endedAt, end[row], row);
    }
    return endedAt;
  }

  #holds(piece: number, rest: number): boolean {
    const { address, sizeBytes } = this.#spans;
    return (
      address[rest] >= address[piece] &&
      address[rest] + sizeBytes[rest] <= address[piece] + sizeBytes[piece]
    );
  }

  /** Removes a rest, which lies at one end of a piece, from that piece. */
  #cut(piece: number, rest: number): void {
    const { address, sizeBytes } = this.#spans;
    this.start[rest] = this.start[piece];
    if (address[rest] === this.address[piece]) this.address[piece] += sizeBytes[rest];
    this.sizeBytes[piece] -= sizeBytes[rest];
  }
}
