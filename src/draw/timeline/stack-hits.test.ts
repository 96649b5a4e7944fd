import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { waitsFrom } from '../../device/model/waits.ts';
import { pixelLabel, TEST_PALETTE } from '../../testing/naive-raster.ts';
import { randomTrace, syntheticReplay } from '../../testing/synthetic-replay.ts';
import { stackHits, TimelineIndex } from './timeline-index.ts';
import { drawFrame } from './timeline-painter.ts';
import type { Viewport } from './types.ts';

describe('stackHits', () => {
  test('finds exactly the blocks that a range of bytes overlaps', () => {
    fc.assert(
      fc.property(randomTrace, fc.nat(), fc.nat(20_000), fc.nat(600), (trace, pick, from, span) => {
        const state = pick % trace.eventCount;
        const { start, end, sizeBytes, length } = trace.replay.allocations;
        const expected: number[] = [];
        let bottom = 0;
        for (let id = 0; id < length; id++) {
          if (start[id] > state || end[id] <= state) continue;
          if (bottom < from + span && bottom + sizeBytes[id] > from) expected.push(id);
          bottom += sizeBytes[id];
        }
        const index = new TimelineIndex(trace.replay, trace.eventCount);
        const found = stackHits(index, state, from, from + span);
        expect(found.ids).toEqual(span === 0 ? [] : expected);
      }),
      { numRuns: 200, endOnFailure: true },
    );
  });

  test('names the block whose color the pixel has, and its position', () => {
    const words = pixelLabel(TEST_PALETTE);
    fc.assert(
      fc.property(randomTrace, fc.constantFrom(1, 16, 256), (trace, rowBytes) => {
        const index = new TimelineIndex(trace.replay, trace.eventCount);
        const height = 48;
        const view: Viewport = {
          axis: 'event',
          x0: 0,
          x1: trace.eventCount,
          y0: 0,
          y1: height * rowBytes,
          width: trace.eventCount,
          height,
        };
        const { classOf } = trace;
        const scene = { viewport: view, classOf, palette: TEST_PALETTE, lines: [], selected: -1 };
        const { pixels, states } = drawFrame(index, scene);
        const column = trace.eventCount >> 1;
        for (let row = 0; row < height; row++) {
          const from = row * rowBytes;
          const hits = stackHits(index, states[column], from, from + rowBytes);
          const word = words.get(pixels[(height - 1 - row) * view.width + column]) ?? 'no word';
          // A background pixel can still hold the top of the stack, below its center.
          if (hits.main < 0) expect(word).toBe('background');
          const { freeRequested, end } = trace.replay.allocations;
          const isPending = waitsFrom(freeRequested[hits.main], end[hits.main]) <= states[column];
          const label = isPending ? 'pending' : `${classOf[hits.main]}`;
          if (hits.ids.length === 1 && word !== 'background')
            expect(word.split(' ')[0]).toBe(label);
          if (hits.main >= 0) expect(hits.mainBottomBytes).toBeLessThan(from + rowBytes);
        }
      }),
      { numRuns: 60, endOnFailure: true },
    );
  });

  test('takes the block that covers most as main, and adds up whole blocks', () => {
    const replay = syntheticReplay(
      [
        { start: -1, sizeBytes: 100 },
        { start: 0, sizeBytes: 30 },
        { start: 1, end: 2, sizeBytes: 50 },
        { start: 3, sizeBytes: 60 },
      ],
      5,
    );
    const index = new TimelineIndex(replay, 5);
    const hits = { ids: [0, 1, 3], totalBytes: 190, main: 1, mainBottomBytes: 100 };
    expect(stackHits(index, 4, 90, 140)).toEqual(hits);
    expect(stackHits(index, 1, 130, 140).ids).toEqual([2]);
  });

  test('finds nothing above the stack, and nothing outside the trace', () => {
    const index = new TimelineIndex(syntheticReplay([{ start: 0, sizeBytes: 100 }], 5), 5);
    const nothing = { ids: [], totalBytes: 0, main: -1, mainBottomBytes: 0 };
    expect(stackHits(index, 4, 100, 200)).toEqual(nothing);
    expect(stackHits(index, -1, 0, 200)).toEqual(nothing);
  });
});
