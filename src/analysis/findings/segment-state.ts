/** Segments and the free ranges in them, in the state after one event. */

import { liveAt } from '../../allocator/replay/trace-events.ts';
import type { AllocationIndex } from '../../allocator/replay/types.ts';
import { mappedRangesAt } from '../../allocator/state/allocator-state.ts';
import type { EventIndex } from '../../format/snapshot/tables.ts';
import type { AnalysisInput } from './analysis-input.ts';
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

/** Segments after `event`, with their live blocks and the gaps between them; all by address. */
export function segmentsAt(context: AnalysisInput, event: EventIndex): SegmentState[] {
  const { allocations: table, segmentSpans } = context.input.replay;
  const live = liveAt(table, event).sort((a, b) => table.address[a] - table.address[b]);
  let next = 0;
  return mappedRangesAt(segmentSpans, event).map(({ address, sizeBytes, spans: [row] }) => {
    const end = address + sizeBytes;
    while (next < live.length && table.address[live[next]] < address) next++;
    const inside: AllocationIndex[] = [];
    const gaps: AddressGap[] = [];
    let at = address;
    for (; next < live.length && table.address[live[next]] < end; next++) {
      const id = live[next];
      inside.push(id);
      if (table.address[id] > at) gaps.push({ address: at, sizeBytes: table.address[id] - at });
      at = Math.max(at, table.address[id] + table.sizeBytes[id]);
    }
    if (end > at) gaps.push({ address: at, sizeBytes: end - at });
    return {
      address,
      sizeBytes,
      isSmall: segmentSpans.isSmall[row] === 1,
      isExpandable: segmentSpans.isExpandable[row] === 1,
      live: inside,
      gaps,
      freeBytes: gaps.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
      largestFreeBytes: gaps.reduce((most, { sizeBytes }) => Math.max(most, sizeBytes), 0),
    };
  });
}

const MAX_GAPS = 200;

/** The gaps of all segments, the largest first, as many as a finding shows. */
export function largestGaps(segments: readonly SegmentState[]): AddressGap[] {
  const gaps = segments.flatMap((segment) => segment.gaps);
  return gaps.sort((a, b) => b.sizeBytes - a.sizeBytes).slice(0, MAX_GAPS);
}
