import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { annotationTracks } from '../../../device/model/annotations.ts';
import type { AnnotationSpan } from '../../../device/model/types.ts';
import type { TimeAxis } from '../../../draw/timeline/types.ts';
import { boxAt, firstFocus, focusedSpan, nextFocus, trackBoxes, tracksOf } from './track-layout.ts';

function span(name: string, depth: number, start: number, end: number): AnnotationSpan {
  return {
    name,
    depth,
    startUs: start * 10,
    endUs: end * 10,
    startEvent: start,
    endEvent: end,
    complete: true,
  };
}

const tracksIn = (spans: readonly AnnotationSpan[], axis: TimeAxis) =>
  tracksOf(annotationTracks(spans), axis);

/** Disjoint spans of one level: gaps and lengths in turn. */
const level = fc
  .array(fc.tuple(fc.nat(20), fc.integer({ min: 1, max: 20 })), { maxLength: 60 })
  .map((steps) => {
    let at = 0;
    return steps.map(([gap, length], index) => {
      const start = at + gap;
      at = start + length;
      return span(`s${index}`, 0, start, at);
    });
  });

describe('annotation tracks', () => {
  it('has one track per level, ordered by the starts of its spans', () => {
    const spans = [span('a', 0, 0, 7), span('b', 1, 4, 6), span('late', 0, 8, 9)];
    const names = tracksIn(spans, 'event').map(({ length, span: at }) =>
      Array.from({ length }, (_, i) => at(i).name),
    );
    expect(names).toEqual([['a', 'late'], ['b']]);
  });

  it('clips to the view', () => {
    const [track] = tracksIn([span('a', 0, 0, 100)], 'event');
    const boxes = track === undefined ? [] : trackBoxes(track, 40, 60, 200);
    expect(boxes).toMatchObject([{ left: 0, right: 200, span: { name: 'a' } }]);
  });

  it('merges what is thinner than a pixel', () => {
    const spans = Array.from({ length: 1000 }, (_, i) => span(`s${i}`, 0, i, i + 1));
    const [track] = tracksIn(spans, 'time');
    const boxes = track === undefined ? [] : trackBoxes(track, 0, 10_000, 100);
    expect(boxes.length).toBeLessThanOrEqual(100);
    expect(boxes.reduce((sum, { count }) => sum + count, 0)).toBe(1000);
    expect(boxes[0]?.span).toBeUndefined();
  });

  it('counts each span in view once, in order, within the canvas', () => {
    fc.assert(
      fc.property(level, fc.nat(400), fc.integer({ min: 1, max: 500 }), (spans, x0, length) => {
        const [track] = tracksIn(spans, 'event');
        const boxes = track === undefined ? [] : trackBoxes(track, x0, x0 + length, 120);
        const inView = spans.filter((s) => s.endEvent > x0 && s.startEvent < x0 + length);
        expect(boxes.reduce((sum, { count }) => sum + count, 0)).toBe(inView.length);
        for (const { left, right } of boxes) {
          expect(left).toBeGreaterThanOrEqual(0);
          expect(right).toBeLessThanOrEqual(120);
        }
      }),
    );
  });

  it('finds the box under the pointer', () => {
    const [track] = tracksIn([span('a', 0, 0, 50), span('b', 0, 60, 100)], 'event');
    const boxes = track === undefined ? [] : trackBoxes(track, 0, 100, 100);
    expect(boxAt(boxes, 70)?.span?.name).toBe('b');
    expect(boxAt(boxes, 55)).toBeUndefined();
  });
});

const nested = tracksIn(
  [
    span('step 0', 0, 0, 100),
    span('forward 0', 1, 0, 40),
    span('backward 0', 1, 50, 90),
    span('step 1', 0, 100, 200),
    span('forward 1', 1, 110, 140),
  ],
  'event',
);

function walk(from: number, ...keys: readonly string[]): string | undefined {
  let focus = firstFocus(nested, from);
  for (const key of keys) focus = focus && nextFocus(nested, focus, key);
  return focusedSpan(nested, focus)?.name;
}

describe('keys in the tracks', () => {
  it('begin at the first range in view, or the last one there is', () => {
    expect(walk(0)).toBe('step 0');
    expect(walk(60)).toBe('step 1');
    expect(walk(1000)).toBe('step 1');
    expect(firstFocus([], 0)).toBeUndefined();
  });

  it('move along a track and stop at its ends', () => {
    expect(walk(0, 'ArrowRight')).toBe('step 1');
    expect(walk(0, 'ArrowRight', 'ArrowRight')).toBe('step 1');
    expect(walk(0, 'ArrowLeft')).toBe('step 0');
    expect(walk(0, 'ArrowDown', 'End')).toBe('forward 1');
    expect(walk(0, 'ArrowDown', 'End', 'Home')).toBe('forward 0');
  });

  it('move in to what begins inside, and out to what is around', () => {
    expect(walk(0, 'ArrowDown')).toBe('forward 0');
    expect(walk(0, 'ArrowRight', 'ArrowDown')).toBe('forward 1');
    expect(walk(0, 'ArrowDown', 'ArrowRight', 'ArrowUp')).toBe('step 0');
    expect(walk(0, 'ArrowUp')).toBe('step 0');
    expect(walk(0, 'ArrowDown', 'ArrowDown')).toBe('forward 0');
  });

  it('leave other keys to others', () => {
    expect(nextFocus(nested, { track: 0, at: 0 }, 'x')).toBeUndefined();
  });
});
