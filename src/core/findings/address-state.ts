/** Segments and the free ranges in them, in the state after one event. */
import type { AllocationIndex } from '../replay/types.ts';
import type { EventIndex } from '../snapshot/tables.ts';
import type { Study } from './study.ts';
import type { AddressGap } from './types.ts';

/** A segment, or expandable memory that hangs together: what is freed as a whole. */
export interface SegmentState {
  readonly address: number;
  readonly sizeBytes: number;
  readonly isSmall: boolean;
  readonly isExpandable: boolean;
  readonly freeBytes: number;
  readonly largestFreeBytes: number;
  /** Blocks in it, active or pending; empty = the allocator could give it back. */
  readonly live: readonly AllocationIndex[];
  readonly gaps: readonly AddressGap[];
}

export function segmentsAt(study: Study, event: EventIndex): SegmentState[] {
  const spans = spansAt(study, event);
  const { allocations: table } = study.input.replay;
  const live: AllocationIndex[] = [];
  for (let id = 0; id < table.length && table.start[id] <= event; id++) {
    if (table.end[id] > event) live.push(id);
  }
  live.sort((a, b) => table.address[a] - table.address[b]);
  let next = 0;
  return spans.map((span) => {
    const end = span.address + span.sizeBytes;
    while (next < live.length && table.address[live[next]] < span.address) next++;
    const inside: AllocationIndex[] = [];
    const gaps: AddressGap[] = [];
    let at = span.address;
    for (; next < live.length && table.address[live[next]] < end; next++) {
      const id = live[next];
      inside.push(id);
      if (table.address[id] > at) gaps.push({ address: at, sizeBytes: table.address[id] - at });
      at = Math.max(at, table.address[id] + table.sizeBytes[id]);
    }
    if (end > at) gaps.push({ address: at, sizeBytes: end - at });
    return {
      ...span,
      live: inside,
      gaps,
      freeBytes: gaps.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
      largestFreeBytes: gaps.reduce((most, { sizeBytes }) => Math.max(most, sizeBytes), 0),
    };
  });
}

interface Span {
  address: number;
  sizeBytes: number;
  readonly isSmall: boolean;
  readonly isExpandable: boolean;
}

/** By address. Mapped pieces of an expandable segment that touch, of one stream and pool, are one. */
function spansAt(study: Study, event: EventIndex): Span[] {
  const { segmentSpans: spans } = study.input.replay;
  const rows: number[] = [];
  for (let s = 0; s < spans.length; s++) {
    if (spans.start[s] <= event && spans.end[s] > event) rows.push(s);
  }
  rows.sort((a, b) => spans.address[a] - spans.address[b]);
  const merged: Span[] = [];
  let previous = -1;
  for (const row of rows) {
    const last = merged[merged.length - 1];
    const joins =
      last?.isExpandable === true &&
      spans.isExpandable[row] === 1 &&
      last.address + last.sizeBytes === spans.address[row] &&
      spans.stream[row] === spans.stream[previous] &&
      spans.isSmall[row] === spans.isSmall[previous];
    if (joins && last !== undefined) last.sizeBytes += spans.sizeBytes[row];
    else {
      merged.push({
        address: spans.address[row],
        sizeBytes: spans.sizeBytes[row],
        isSmall: spans.isSmall[row] === 1,
        isExpandable: spans.isExpandable[row] === 1,
      });
    }
    previous = row;
  }
  return merged;
}
