/** Real captures: the picture's top equals the allocator's own figure, its pixels the oracle's. */
import { describe, expect, test } from 'vitest';
import { loadCapture } from '../../testing/captures.ts';
import { replaysOf } from '../../testing/contexts.ts';
import { naiveBands, naivePixels, pixelLabel, TEST_PALETTE } from '../../testing/naive-raster.ts';
import { classesByStack } from '../coloring/first-colorings.ts';
import { counterOverview } from './columns.ts';
import { TimelineIndex } from './timeline-index.ts';
import { drawFrame } from './timeline-painter.ts';
import type { Viewport } from './types.ts';

const WORDS = pixelLabel(TEST_PALETTE);

/** The whole, 1% in the middle, and deep in the stack; rows of a power of two bytes keep the oracle exact. */
function viewsOf(eventCount: number, peakBytes: number): Viewport[] {
  const rowBytes = 2 ** Math.ceil(Math.log2(peakBytes / 100));
  const whole: Viewport = {
    axis: 'event',
    x0: 0,
    x1: eventCount,
    y0: 0,
    y1: 128 * rowBytes,
    width: 24,
    height: 128,
  };
  const x0 = Math.floor(eventCount / 2);
  const near = { ...whole, x0, x1: x0 + Math.ceil(eventCount / 100) };
  return [whole, near, { ...near, y0: 8 * rowBytes, y1: 10 * rowBytes }];
}

describe.each([
  'train_recorded_late.pickle.gz',
  'streams_record_stream.pickle.gz',
  'frag_gpt_varlen.pickle.gz',
  'leak_loss_graph.pickle.gz',
])('%s', (name) => {
  const snapshot = loadCapture(name);
  const [device] = snapshot.devices;
  const eventCount = device.events.length;
  const replay = replaysOf(snapshot)[0];
  const index = new TimelineIndex(replay, eventCount, device.events.timeUs);
  const classOf = classesByStack(replay.allocations, snapshot, TEST_PALETTE.classes.length);
  const active = new Float64Array(eventCount);
  replay.fillCounter('activeBytes', 0, active);

  test('has the peaks of the replay in its overview', () => {
    for (const counter of ['activeBytes', 'reservedBytes', 'allocatedBytes'] as const) {
      const { bytes, event } = replay.peaks[counter];
      if (event < 0) continue;
      expect(Math.max(...counterOverview(index, counter, 'event', 97))).toBe(bytes);
      expect(Math.max(...counterOverview(index, counter, 'time', 97))).toBe(bytes);
    }
  });

  test("equals the oracle's drawing", () => {
    for (const viewport of viewsOf(eventCount, replay.peaks.activeBytes.bytes)) {
      const { width, height, x0, x1 } = viewport;
      const scene = { viewport, classOf, palette: TEST_PALETTE, lines: [], selected: -1 };
      const { pixels, states } = drawFrame(index, scene);
      for (let column = 0; column < width; column++) {
        const from = Math.floor(x0 + (column * (x1 - x0)) / width);
        const to = Math.ceil(x0 + ((column + 1) * (x1 - x0)) / width);
        const covered = active.subarray(from, to);
        const max = covered.reduce((a, b) => Math.max(a, b), 0);
        const min = covered.reduce((a, b) => Math.min(a, b), Infinity);
        expect(states[column]).toBe(from + covered.indexOf(max));
        expect(naiveBands(replay, states[column], classOf).at(-1)?.top ?? 0).toBe(max);
        const fadeFrom = min < max ? min : Infinity;
        const expected = naivePixels(replay, viewport, classOf, states[column], fadeFrom);
        const drawn = expected.map((_, row) =>
          WORDS.get(pixels[(height - 1 - row) * width + column]),
        );
        expect(drawn).toEqual(expected);
      }
    }
  });
});
