import { range } from 'd3';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { CounterName, Replay } from '../../allocator/replay/types.ts';
import { runToEnd } from '../../base/task.ts';
import { naiveColumn, pixelLabel, TEST_PALETTE } from '../../testing/naive-raster.ts';
import { type RandomTrace, randomTrace, syntheticReplay } from '../../testing/synthetic-replay.ts';
import { TimelineIndex } from './timeline-index.ts';
import { drawFrame, type Scene, TimelinePainter } from './timeline-painter.ts';
import type { TimelineFrame, Viewport } from './types.ts';

const LINES: readonly CounterName[] = ['activeBytes', 'allocatedBytes', 'reservedBytes'];
const WORDS = pixelLabel(TEST_PALETTE);

/** Rows of a power of two bytes: then the oracle's sums of halves are exact, and so is every tie. */
const randomView = fc
  .record({
    axis: fc.constantFrom<'event' | 'time'>('event', 'time'),
    width: fc.integer({ min: 1, max: 24 }),
    height: fc.integer({ min: 1, max: 40 }),
    firstColumn: fc.integer({ min: -6, max: 60 }),
    columnWidth: fc.constantFrom(0.125, 0.5, 1, 1.5, 3, 8, 64),
    rowBytes: fc.constantFrom(0.5, 4, 64, 1024),
    firstRow: fc.constantFrom(0, 0, 3, 10.5, -4),
  })
  .map(
    ({ axis, width, height, firstColumn, columnWidth, rowBytes, firstRow }): Viewport => ({
      axis,
      width,
      height,
      x0: firstColumn * columnWidth,
      x1: (firstColumn + width) * columnWidth,
      y0: firstRow * rowBytes,
      y1: (firstRow + height) * rowBytes,
    }),
  );

function sceneOf(viewport: Viewport, classOf: Uint8Array, selected = -1): Scene {
  return { viewport, classOf, palette: TEST_PALETTE, lines: LINES, selected };
}

/** States that hold somewhere in a column, by looking at each state's own interval. */
function coveredStates(trace: RandomTrace, view: Viewport, column: number): number[] {
  const columnWidth = (view.x1 - view.x0) / view.width;
  const left = view.x0 + column * columnWidth;
  const right = left + columnWidth;
  const { timeUs, eventCount } = trace;
  const origin = timeUs[0];
  const covered: number[] = [];
  for (let state = 0; state < eventCount; state++) {
    const isLast = state === eventCount - 1;
    const [from, to] =
      view.axis === 'event'
        ? [state, state + 1]
        : [
            timeUs[state] - origin,
            isLast ? timeUs[state] - origin + 1 : timeUs[state + 1] - origin,
          ];
    const begins = from >= left && from < right;
    if (begins || (from < right && to > left && to > from)) covered.push(state);
  }
  return covered;
}

function panned(view: Viewport, by: number): Viewport {
  const columnWidth = (view.x1 - view.x0) / view.width;
  return { ...view, x0: view.x0 + by * columnWidth, x1: view.x1 + by * columnWidth };
}

function withWidth(view: Viewport, width: number): Viewport {
  return { ...view, width, x1: view.x0 + ((view.x1 - view.x0) / view.width) * width };
}

/** The next scene of a session: panned by columns, and perhaps with one more change. */
function changed(scene: Scene, by: number, change: string, allocations: number): Scene {
  const view = panned(scene.viewport, by);
  if (change === 'selected') return { ...scene, viewport: view, selected: (by + 12) % allocations };
  if (change === 'width') return { ...scene, viewport: withWidth(view, view.width + 1) };
  const height = (view.y1 - view.y0) / 2;
  if (change === 'rows') return { ...scene, viewport: { ...view, y1: view.y0 + height } };
  if (change === 'zoom') return { ...scene, viewport: { ...view, x1: (view.x0 + view.x1) / 2 } };
  return { ...scene, viewport: view };
}

function wordAt(frame: TimelineFrame, column: number, row: number): string | undefined {
  const { width, height } = frame.viewport;
  return WORDS.get(frame.pixels[(height - 1 - row) * width + column]);
}

/** Differences from the oracle, in words; empty if every pixel, state and line is right. */
function mistakes(trace: RandomTrace, drawn: Replay, view: Viewport): string[] {
  const frame = drawFrame(
    new TimelineIndex(drawn, trace.eventCount, trace.timeUs),
    sceneOf(view, trace.classOf),
  );
  const wrong: string[] = [];
  for (let column = 0; column < view.width; column++) {
    const covered = coveredStates(trace, view, column);
    const expected = naiveColumn(trace.replay, view, trace.classOf, covered);
    if (frame.states[column] !== expected.state) {
      wrong.push(`column ${column}: state ${frame.states[column]}, not ${expected.state}`);
    }
    expected.pixels.forEach((pixel, row) => {
      const word = wordAt(frame, column, row);
      if (word !== pixel) wrong.push(`column ${column} row ${row}: ${word}, not ${pixel}`);
    });
    for (const name of LINES) {
      const values = covered.map((state) => trace.replay.countersAt(state)[name]);
      const highest = values.length === 0 ? NaN : Math.max(...values);
      if (!Object.is(frame.lines[name]?.[column], highest)) {
        wrong.push(`column ${column}: ${name} ${frame.lines[name]?.[column]}, not ${highest}`);
      }
    }
  }
  return wrong;
}

describe('a frame', () => {
  test('has the pixels, states and lines of a naive replay', () => {
    fc.assert(
      fc.property(randomTrace, randomView, (trace, view) => {
        expect(mistakes(trace, trace.replay, view)).toEqual([]);
      }),
      { numRuns: 150, endOnFailure: true },
    );
  });

  test('fails the same check if one end in the index is wrong', () => {
    const lives = Array.from({ length: 150 }, (_, i) => ({
      start: i,
      freeRequested: 200 + i,
      end: 200 + i,
      sizeBytes: 100,
    }));
    const replay = syntheticReplay(lives, 400);
    const classOf = Uint8Array.from(lives, (_, i) => i % 12);
    const timeUs = Float64Array.from({ length: 400 }, (_, i) => i);
    const trace: RandomTrace = { replay, eventCount: 400, timeUs, classOf };
    const view: Viewport = {
      axis: 'event',
      x0: 0,
      x1: 400,
      y0: 0,
      y1: 16384,
      width: 50,
      height: 64,
    };
    expect(mistakes(trace, replay, view)).toEqual([]);
    const end = replay.allocations.end.slice();
    end[97] -= 40;
    const corrupted: Replay = { ...replay, allocations: { ...replay.allocations, end } };
    expect(mistakes(trace, corrupted, view).length).toBeGreaterThan(0);
  });

  test('paused after any slices equals the frame drawn at once', () => {
    fc.assert(
      fc.property(randomTrace, randomView, fc.nat({ max: 4 }), (trace, view, stops) => {
        const wide = { ...view, width: view.width * 16, x1: view.x0 + (view.x1 - view.x0) * 16 };
        const index = new TimelineIndex(trace.replay, trace.eventCount, trace.timeUs);
        const scene = sceneOf(wide, trace.classOf, 3 % trace.replay.allocations.length);
        const task = new TimelinePainter(index).begin(scene);
        const stopped = [...Array(stops)].map(() => task.next()).find(({ done }) => done)?.value;
        expect(stopped ?? runToEnd(task)).toEqual(drawFrame(index, scene));
      }),
      { numRuns: 40, endOnFailure: true },
    );
  });

  test('drawn after others by one painter equals the frame drawn alone', () => {
    const step = fc.record({
      by: fc.integer({ min: -12, max: 12 }),
      change: fc.constantFrom('none', 'none', 'none', 'rows', 'zoom', 'width', 'selected', 'stop'),
    });
    fc.assert(
      fc.property(
        randomTrace,
        randomView,
        fc.array(step, { maxLength: 8 }),
        (trace, view, steps) => {
          const index = new TimelineIndex(trace.replay, trace.eventCount, trace.timeUs);
          const painter = new TimelinePainter(index);
          let scene = sceneOf(withWidth(view, view.width + 16), trace.classOf);
          for (const { by, change } of steps) {
            scene = changed(scene, by, change, trace.replay.allocations.length);
            // An abandoned frame leaves the painter's buffers half painted.
            if (change === 'stop') painter.begin(scene).next();
            expect(painter.draw(scene)).toEqual(drawFrame(index, scene));
          }
        },
      ),
      { numRuns: 80, endOnFailure: true },
    );
  });

  test('panned by whole columns keeps the columns', () => {
    fc.assert(
      fc.property(randomTrace, randomView, fc.integer({ min: 1, max: 8 }), (trace, view, by) => {
        const index = new TimelineIndex(trace.replay, trace.eventCount, trace.timeUs);
        const before = drawFrame(index, sceneOf(view, trace.classOf));
        const after = drawFrame(index, sceneOf(panned(view, by), trace.classOf));
        const wordsOf = (frame: TimelineFrame, from: number) =>
          range(Math.max(0, view.width - by)).map((column) =>
            range(view.height).map((row) => wordAt(frame, from + column, row)),
          );
        expect(wordsOf(after, 0)).toEqual(wordsOf(before, by));
      }),
      { numRuns: 60, endOnFailure: true },
    );
  });

  test('has bands that add up to the active counter in every column', () => {
    fc.assert(
      fc.property(randomTrace, (trace) => {
        const index = new TimelineIndex(trace.replay, trace.eventCount);
        const view: Viewport = {
          axis: 'event',
          x0: 0,
          x1: trace.eventCount,
          y0: 0,
          y1: 4096,
          width: 16,
          height: 8,
        };
        const frame = drawFrame(index, sceneOf(view, trace.classOf));
        frame.states.forEach((state, column) => {
          const out = new Int32Array(trace.replay.allocations.length);
          const count = index.maxEnd.collect(state, 0, index.nextId(state), out);
          let sum = 0;
          for (const id of out.subarray(0, count)) sum += trace.replay.allocations.sizeBytes[id];
          expect(sum).toBe(frame.lines.activeBytes?.[column]);
        });
      }),
      { numRuns: 40, endOnFailure: true },
    );
  });

  test('of a trace without events is background', () => {
    const replay = syntheticReplay([{ start: -1, sizeBytes: 1000 }], 0);
    const view: Viewport = { axis: 'event', x0: 0, x1: 4, y0: 0, y1: 64, width: 4, height: 4 };
    const frame = drawFrame(new TimelineIndex(replay, 0), sceneOf(view, new Uint8Array(1)));
    expect(new Set(frame.pixels)).toEqual(new Set([TEST_PALETTE.background]));
    expect([...frame.states]).toEqual([-1, -1, -1, -1]);
  });

  test('refuses viewports that cannot be drawn', () => {
    const index = new TimelineIndex(syntheticReplay([], 5), 5);
    const view: Viewport = { axis: 'event', x0: 0, x1: 4, y0: 0, y1: 64, width: 4, height: 4 };
    const draw = (change: Partial<Viewport>): TimelineFrame =>
      drawFrame(index, sceneOf({ ...view, ...change }, new Uint8Array(0)));
    expect(() => draw({ width: 0 })).toThrow(RangeError);
    expect(() => draw({ height: 2.5 })).toThrow(RangeError);
    expect(() => draw({ x1: 0 })).toThrow(RangeError);
    expect(() => draw({ y1: Number.NaN })).toThrow(RangeError);
    expect(() => draw({ axis: 'time' })).toThrow(/no times/);
  });

  test('reuses the given pixels if they fit', () => {
    const index = new TimelineIndex(syntheticReplay([{ start: 0, sizeBytes: 32 }], 5), 5);
    const view: Viewport = { axis: 'event', x0: 0, x1: 4, y0: 0, y1: 64, width: 4, height: 4 };
    const fitting = new Uint32Array(16).fill(7);
    expect(drawFrame(index, sceneOf(view, new Uint8Array(1)), fitting).pixels).toBe(fitting);
    expect(fitting.includes(7)).toBe(false);
    const other = new Uint32Array(15);
    expect(drawFrame(index, sceneOf(view, new Uint8Array(1)), other).pixels).not.toBe(other);
  });
});

describe('the selected allocation', () => {
  const WHITE = TEST_PALETTE.background;
  const BLACK = 0xff000000;

  test('is outlined, and filled half way to the outline', () => {
    const replay = syntheticReplay([{ start: 0, sizeBytes: 64 }], 8);
    const view: Viewport = { axis: 'event', x0: -2, x1: 6, y0: 0, y1: 96, width: 8, height: 12 };
    const scene = {
      ...sceneOf(view, new Uint8Array(1), 0),
      palette: { ...TEST_PALETTE, background: WHITE },
    };
    const { pixels } = drawFrame(new TimelineIndex(replay, 8), scene);
    const at = (column: number, row: number): number => pixels[(11 - row) * 8 + column];
    expect(at(1, 3)).toBe(WHITE);
    expect(at(2, 3)).toBe(BLACK);
    expect(at(4, 0)).toBe(BLACK);
    expect(at(4, 7)).toBe(BLACK);
    expect(at(4, 8)).toBe(WHITE);
    expect(at(4, 4)).not.toBe(BLACK);
    expect(at(4, 4)).not.toBe(TEST_PALETTE.classes[0]);
  });

  test('is at least one pixel high in every column where it is live', () => {
    fc.assert(
      fc.property(randomTrace, fc.nat(), (trace, pick) => {
        const { length, start, end } = trace.replay.allocations;
        if (length === 0) return;
        const selected = pick % length;
        const index = new TimelineIndex(trace.replay, trace.eventCount);
        const view: Viewport = {
          axis: 'event',
          x0: 0,
          x1: trace.eventCount,
          y0: 0,
          y1: 2 ** 20,
          width: trace.eventCount,
          height: 16,
        };
        const frame = drawFrame(index, sceneOf(view, trace.classOf, selected));
        for (let state = 0; state < trace.eventCount; state++) {
          let black = 0;
          for (let row = 0; row < 16; row++) {
            if (frame.pixels[row * view.width + state] === BLACK) black++;
          }
          expect(black > 0).toBe(start[selected] <= state && end[selected] > state);
        }
      }),
      { numRuns: 40, endOnFailure: true },
    );
  });
});
