import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { allocatorProgram } from '../../testing/arbitrary-program.ts';
import { snapshotFromText } from '../../testing/snapshot-from-text.ts';
import { buildTimelineIndex } from '../raster/timeline-index.ts';
import { replayDevice } from '../replay/replay.ts';
import { type AllocationTable, NEVER } from '../replay/types.ts';
import { type FreeRange, gapBands } from './address-gaps.ts';
import { buildAddressIndex } from './address-index.ts';
import { segmentLives } from './segment-lives.ts';

const MI = 2 ** 20;

function indexOf(lines: string) {
  const [trace] = snapshotFromText(lines).snapshot.devices;
  const replay = replayDevice(trace, {});
  const timeline = buildTimelineIndex(replay, trace.events.length);
  const lives = segmentLives(replay.segmentSpans, trace.events);
  return { index: buildAddressIndex(timeline, lives), replay, events: trace.events.length };
}

/** What no block covers of the segments at a state, by marking pages. */
function plainGaps(allocations: AllocationTable, segments: AllocationTable, state: number) {
  const gaps: FreeRange[] = [];
  const isLive = (table: AllocationTable, row: number) =>
    table.start[row] <= state && table.end[row] > state;
  for (let row = 0; row < segments.length; row++) {
    if (!isLive(segments, row)) continue;
    const used = new Uint8Array(segments.sizeBytes[row] / 512);
    for (let id = 0; id < allocations.length; id++) {
      if (!isLive(allocations, id)) continue;
      const from = (allocations.address[id] - segments.address[row]) / 512;
      used.fill(1, Math.max(0, from), Math.max(0, from + allocations.sizeBytes[id] / 512));
    }
    for (let page = 0; page < used.length; ) {
      const from = page;
      while (page < used.length && used[page] === 0) page++;
      const address = segments.address[row] + from * 512;
      if (page > from) gaps.push({ address, sizeBytes: (page - from) * 512 });
      else page++;
    }
  }
  return gaps;
}

describe('gaps of a finding', () => {
  test('last from the free that made them to the next block in them', () => {
    const { index, events } = indexOf('+A 4Mi\n+B 4Mi\n-A\n+C 2Mi\n-C\n+D 4Mi');
    const { address, start, end } = index.timeline.allocations;
    const at = (state: number) =>
      gapBands(index, state, [{ address: address[0], sizeBytes: 4 * MI }]);
    const band = { offset: 0, bytes: 4 * MI, style: 'gap' };
    expect(at(end[0])).toEqual([{ ...band, from: end[0], to: start[2] }]);
    expect(at(end[2])).toEqual([{ ...band, from: end[2], to: start[3] }]);
    const tail = gapBands(index, events - 1, [{ address: address[0] + 8 * MI, sizeBytes: 512 }]);
    expect(tail).toMatchObject([{ offset: 8 * MI, to: NEVER }]);
  });

  test('outside of all that was ever reserved there are none', () => {
    const { index } = indexOf('+A 4Mi');
    expect(gapBands(index, 0, [{ address: 512, sizeBytes: 512 }])).toEqual([]);
    const far = index.timeline.allocations.address[0] + 2 ** 40;
    expect(gapBands(index, 0, [{ address: far, sizeBytes: 512 }])).toEqual([]);
  });

  test('are free at every state of the band, and not beyond it', () => {
    fc.assert(
      fc.property(allocatorProgram([]), fc.nat(200), (lines, chosen) => {
        const { index, replay, events } = indexOf(lines.join('\n'));
        const state = chosen % Math.max(1, events);
        const { allocations } = replay;
        const gaps = plainGaps(allocations, index.segments, state);
        const bands = gapBands(index, state, gaps);
        expect(bands.length).toBe(gaps.length);
        const isFree = (offset: number, bytes: number, at: number) => {
          const { layout, segments } = index;
          const hits = (table: AllocationTable, offsets: Float64Array) =>
            Array.from({ length: table.length }, (_, row) => row).some(
              (row) =>
                table.start[row] <= at &&
                table.end[row] > at &&
                offsets[row] < offset + bytes &&
                offsets[row] + table.sizeBytes[row] > offset,
            );
          return (
            hits(segments, layout.segmentOffset) && !hits(allocations, layout.allocationOffset)
          );
        };
        for (const { offset, bytes, from, to } of bands) {
          expect(from <= state && state < to).toBe(true);
          const last = Math.min(to, events) - 1;
          for (let at = Math.max(0, from); at <= last; at++) {
            expect(isFree(offset, bytes, at)).toBe(true);
          }
          if (from > 0) expect(isFree(offset, bytes, from - 1)).toBe(false);
          if (to < events) expect(isFree(offset, bytes, to)).toBe(false);
        }
      }),
      { numRuns: 30 },
    );
  });
});
