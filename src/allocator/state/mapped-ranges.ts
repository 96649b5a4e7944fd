/** Which memory is reserved after an event, in the pieces in which the file would write it. */
import { addTo } from '../../base/grouping.ts';
import { type EventIndex, type EventTable, TraceAction } from '../../format/snapshot/tables.ts';
import { isContinued } from '../replay/segment-tracker.ts';
import type { SegmentSpanTable } from '../replay/types.ts';

/** Row of {@link SegmentSpanTable}. */
type SpanIndex = number;

/** A segment, or an unbroken range of mapped pages. */
export interface MappedRange {
  readonly address: number;
  readonly sizeBytes: number;
  /** By address; more than one only where pages were mapped one after the other. */
  readonly spans: readonly SpanIndex[];
}

/**
 * Ranges that are reserved in the state after `event`, by address. PyTorch writes each unbroken
 * range of an expandable segment as one segment; a segment has one stream and one pool.
 * Example: 20 MiB mapped at 0 and 20 MiB at 20 MiB are one range of 40 MiB with two spans.
 */
export function mappedRangesAt(spans: SegmentSpanTable, event: EventIndex): MappedRange[] {
  const ranges: { address: number; sizeBytes: number; spans: SpanIndex[] }[] = [];
  for (const row of spansAt(spans, event)) {
    const last = ranges.at(-1);
    const before = last?.spans.at(-1);
    if (last !== undefined && before !== undefined && isContinued(spans, before, row)) {
      last.sizeBytes += spans.sizeBytes[row];
      last.spans.push(row);
    } else {
      ranges.push({
        address: spans.address[row],
        sizeBytes: spans.sizeBytes[row],
        spans: [row],
      });
    }
  }
  return ranges;
}

function spansAt({ length, start, end, address }: SegmentSpanTable, event: EventIndex) {
  const rows: SpanIndex[] = [];
  for (let row = 0; row < length; row++) {
    if (start[row] <= event && end[row] > event) rows.push(row);
  }
  return rows.sort((a, b) => address[a] - address[b]);
}

/**
 * Event that mapped each span's memory. An unmap cuts a mapped piece, and the rests are spans of
 * their own that begin at the unmap; their memory is as old as the piece that was cut.
 */
export function mappedSince(spans: SegmentSpanTable, events: EventTable): Int32Array {
  const since = spans.start.slice();
  const cutAt = new Map<EventIndex, SpanIndex[]>();
  for (let row = 0; row < spans.length; row++) {
    const end = spans.end[row];
    if (spans.isExpandable[row] === 0 || events.action[end] !== TraceAction.SegmentUnmap) continue;
    addTo(cutAt, end, row);
  }
  // A rest is a later row than what it was cut from, so that one is done already.
  for (let row = 0; row < spans.length; row++) {
    const address = spans.address[row];
    const whole = cutAt
      .get(spans.start[row])
      ?.find((cut) => spans.address[cut] <= address && address < endOf(spans, cut));
    if (whole !== undefined) since[row] = since[whole];
  }
  return since;
}

function endOf({ address, sizeBytes }: SegmentSpanTable, row: SpanIndex): number {
  return address[row] + sizeBytes[row];
}
