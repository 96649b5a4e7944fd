import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { liveBytesAt, matchAllocations } from '../../device/search/match-search.ts';
import { loadCapture } from '../../testing/captures.ts';
import { contextsOf } from '../../testing/contexts.ts';
import { naiveBands, pixelLabel, TEST_PALETTE } from '../../testing/naive-raster.ts';
import { randomTrace, syntheticReplay } from '../../testing/synthetic-replay.ts';
import { BACKGROUND_CODE, colorTable } from './colors.ts';
import { stackHits, TimelineIndex } from './timeline-index.ts';
import { drawFrame } from './timeline-painter.ts';
import { matchingTimeline, rowIn, withDimmedClass } from './timeline-renderer.ts';
import type { Viewport } from './types.ts';

/** Every n-th allocation, or random ones. */
const maskOf = (length: number, seed: number): Uint8Array =>
  Uint8Array.from({ length }, (_, id) => (Math.imul(id + 1, seed | 1) >>> 7) & 1);

describe('some of the allocations', () => {
  test('have the sum of their live blocks at every event, and a stack in order', () => {
    fc.assert(
      fc.property(randomTrace, fc.nat(), ({ replay, eventCount, timeUs }, seed) => {
        const { allocations } = replay;
        const mask = maskOf(allocations.length, seed);
        const timeline = matchingTimeline(allocations, mask, eventCount, timeUs);
        const values = new Float64Array(eventCount);
        timeline.index.counter('activeBytes');
        let highest = 0;
        for (let event = 0; event < eventCount; event++) {
          const live = [...mask.keys()].filter(
            (id) => mask[id] === 1 && allocations.start[id] <= event && allocations.end[id] > event,
          );
          const bytes = live.reduce((sum, id) => sum + allocations.sizeBytes[id], 0);
          values[event] = bytes;
          highest = Math.max(highest, bytes);
          expect(timeline.index.counter('activeBytes').highest(event, event)).toBe(bytes);
          const hits = stackHits(timeline.index, event, 0, Infinity);
          expect(hits.ids.map((row) => timeline.ids[row])).toEqual(live);
        }
        expect(timeline.index.peakBytes).toBe(highest);
      }),
      { numRuns: 12 },
    );
  });

  test('know their rows', () => {
    const { allocations } = syntheticReplay(
      [0, 1, 2, 3].map((start) => ({ start, sizeBytes: 10 })),
      5,
    );
    const timeline = matchingTimeline(allocations, Uint8Array.of(0, 1, 0, 1), 5, undefined);
    expect([0, 1, 2, 3].map((id) => rowIn(timeline.ids, id))).toEqual([-1, 0, -1, 1]);
    expect(timeline.index.peakBytes).toBe(20);
  });

  test('can be none', () => {
    const { allocations } = syntheticReplay([{ start: 0, sizeBytes: 10 }], 5);
    const timeline = matchingTimeline(allocations, Uint8Array.of(0), 5, undefined);
    expect(timeline.index.peakBytes).toBe(0);
    expect(stackHits(timeline.index, 3, 0, 100).ids).toEqual([]);
  });

  test('of a real capture are as high as the search says', () => {
    const [context] = contextsOf(loadCapture('train_gpt_small.pickle.gz'));
    const { replay, trace } = context;
    const { mask } = matchAllocations(context, 'size>=1MiB', undefined);
    if (mask === undefined) throw new Error('The search filters nothing');
    const timeline = matchingTimeline(
      replay.allocations,
      mask,
      trace.events.length,
      trace.events.timeUs,
    );
    for (let event = 0; event < trace.events.length; event += 97) {
      const bytes = liveBytesAt(context, mask, event);
      expect(timeline.index.counter('activeBytes').highest(event, event)).toBe(bytes);
    }
  });
});

test('non-matching blocks are dimmed in place, even while their free is pending', () => {
  fc.assert(
    fc.property(randomTrace, fc.nat(), ({ replay, eventCount, classOf }, seed) => {
      const mask = maskOf(classOf.length, seed);
      const dimmedClass = TEST_PALETTE.classes.length;
      const palette = withDimmedClass(TEST_PALETTE);
      const dimmed = classOf.map((found, id) => (mask[id] === 1 ? found : dimmedClass));
      const y1 = Math.max(64, ...naiveBands(replay, eventCount - 1, dimmed).map(({ top }) => top));
      const viewport: Viewport = {
        axis: 'event',
        x0: 0,
        x1: eventCount,
        y0: 0,
        y1,
        width: Math.min(40, eventCount),
        height: 64,
      };
      const scene = { viewport, palette, lines: [], selected: -1 };
      const index = new TimelineIndex(replay, eventCount);
      const { pixels, states } = drawFrame(index, { ...scene, classOf: dimmed, dimmedClass });
      const words = pixelLabel(palette);
      const background = colorTable(palette)[BACKGROUND_CODE];
      const wrong: string[] = [];
      states.forEach((state, column) => {
        const bands = naiveBands(replay, state, dimmed).map((band, i) => ({ ...band, i }));
        const live = [...classOf.keys()].filter(
          (id) => replay.allocations.start[id] <= state && replay.allocations.end[id] > state,
        );
        for (let row = 0; row < viewport.height; row++) {
          const low = (row * y1) / viewport.height;
          const high = ((row + 1) * y1) / viewport.height;
          const owner = bands.find(({ bottom, top }) => bottom <= low && high <= top);
          if (owner === undefined) continue;
          const color = pixels[(viewport.height - 1 - row) * viewport.width + column];
          if (color === background) wrong.push(`column ${column} row ${row}: background`);
          const isDimmed = words.get(color)?.startsWith(`${dimmedClass}`) === true;
          if (isDimmed !== (mask[live[owner.i]] === 0))
            wrong.push(`column ${column} row ${row}: ${isDimmed ? '' : 'not '}dimmed`);
        }
      });
      expect(wrong).toEqual([]);
    }),
    { numRuns: 12 },
  );
});
