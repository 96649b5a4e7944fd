import { describe, expect, test } from 'vitest';
import { NEVER, type SegmentSpanTable } from '../../allocator/replay/types.ts';
import { TraceAction } from '../../format/snapshot/tables.ts';
import { captureNames, loadCapture } from '../../testing/captures.ts';
import { replaysOf } from '../../testing/contexts.ts';
import { segmentLives } from './segment-lives.ts';

type Row = readonly [start: number, end: number, address: number, sizeBytes: number];

function spansOf(...rows: readonly Row[]): SegmentSpanTable {
  return {
    length: rows.length,
    start: Int32Array.from(rows, ([start]) => start),
    end: Int32Array.from(rows, ([, end]) => end),
    address: Float64Array.from(rows, ([, , address]) => address),
    sizeBytes: Float64Array.from(rows, ([, , , sizeBytes]) => sizeBytes),
    stream: new Uint16Array(rows.length),
    pool: new Uint16Array(rows.length),
    isSmall: new Uint8Array(rows.length),
    isExpandable: new Uint8Array(rows.length).fill(1),
    stack: Int32Array.from(rows, (_, row) => row),
  };
}

/** Events 0 to 9: maps, except for unmaps at the given events. */
function eventsOf(...unmaps: readonly number[]) {
  const action = new Uint8Array(10).fill(TraceAction.SegmentMap);
  for (const event of unmaps) action[event] = TraceAction.SegmentUnmap;
  return { action };
}

const rowsOf = ({ length, start, end, address, sizeBytes }: ReturnType<typeof segmentLives>) =>
  Array.from({ length }, (_, i) => [start[i], end[i], address[i], sizeBytes[i]]);

describe('lives of segments', () => {
  test('remainders of a piece count as mapped since the piece was', () => {
    const spans = spansOf([-1, NEVER, 900, 50], [2, 5, 0, 100], [5, 8, 0, 30], [5, NEVER, 70, 30]);
    expect(rowsOf(segmentLives(spans, eventsOf(5, 8)))).toEqual([
      [-1, NEVER, 900, 50],
      [2, 5, 30, 40],
      [2, 8, 0, 30],
      [2, NEVER, 70, 30],
    ]);
  });

  test('a remainder that is cut again leaves no row of its own', () => {
    const spans = spansOf([2, 5, 0, 100], [5, 7, 40, 60], [7, NEVER, 40, 20]);
    expect(rowsOf(segmentLives(spans, eventsOf(5, 7)))).toEqual([
      [2, 5, 0, 40],
      [2, 7, 60, 40],
      [2, NEVER, 40, 20],
    ]);
  });

  test('memory mapped where another piece was is new', () => {
    const spans = spansOf([2, 5, 0, 100], [6, NEVER, 0, 100]);
    expect(rowsOf(segmentLives(spans, eventsOf(5)))).toEqual([
      [2, 5, 0, 100],
      [6, NEVER, 0, 100],
    ]);
  });

  test.each(captureNames().filter((name) => /expandable|oom|graph|streams/.test(name)))(
    '%s: they add up to the reserved counter at every event',
    (name) => {
      const snapshot = loadCapture(name);
      for (const [device, trace] of snapshot.devices.entries()) {
        const replay = replaysOf(snapshot)[device];
        const { length, start, end, sizeBytes } = segmentLives(replay.segmentSpans, trace.events);
        const reserved = new Float64Array(trace.events.length + 1);
        expect(start.subarray(0, length)).toEqual(start.slice(0, length).sort());
        for (let row = 0; row < length; row++) {
          reserved[start[row] + 1] += sizeBytes[row];
          if (end[row] !== NEVER) reserved[end[row] + 1] -= sizeBytes[row];
        }
        for (let i = 1; i < reserved.length; i++) reserved[i] += reserved[i - 1];
        const expected = new Float64Array(trace.events.length);
        replay.fillCounter('reservedBytes', 0, expected);
        expect(reserved[0]).toBe(replay.start.reservedBytes);
        expect(reserved.subarray(1)).toEqual(expected);
      }
    },
  );
});
