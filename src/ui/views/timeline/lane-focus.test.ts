import { describe, expect, it } from 'vitest';
import { annotationTracks } from '../../../device/model/annotations.ts';
import type { AnnotationSpan } from '../../../device/model/types.ts';
import { firstFocus, focusedSpan, nextFocus } from './lane-focus.ts';
import { lanesOf } from './lane-layout.ts';

const span = (name: string, depth: number, startEvent: number, endEvent: number) =>
  ({
    name,
    depth,
    startEvent,
    endEvent,
    startUs: startEvent,
    endUs: endEvent,
    complete: true,
  }) satisfies AnnotationSpan;

const lanes = lanesOf(
  annotationTracks([
    span('step 0', 0, 0, 100),
    span('forward 0', 1, 0, 40),
    span('backward 0', 1, 50, 90),
    span('step 1', 0, 100, 200),
    span('forward 1', 1, 110, 140),
  ]),
  'event',
);

function walk(from: number, ...keys: readonly string[]): string | undefined {
  let focus = firstFocus(lanes, from);
  for (const key of keys) focus = focus && nextFocus(lanes, focus, key);
  return focusedSpan(lanes, focus)?.name;
}

describe('keys in the lanes', () => {
  it('begin at the first range in view, or the last one there is', () => {
    expect(walk(0)).toBe('step 0');
    expect(walk(60)).toBe('step 1');
    expect(walk(1000)).toBe('step 1');
    expect(firstFocus([], 0)).toBeUndefined();
  });

  it('go along a lane and stop at its ends', () => {
    expect(walk(0, 'ArrowRight')).toBe('step 1');
    expect(walk(0, 'ArrowRight', 'ArrowRight')).toBe('step 1');
    expect(walk(0, 'ArrowLeft')).toBe('step 0');
    expect(walk(0, 'ArrowDown', 'End')).toBe('forward 1');
    expect(walk(0, 'ArrowDown', 'End', 'Home')).toBe('forward 0');
  });

  it('go in to what begins inside, and out to what is around', () => {
    expect(walk(0, 'ArrowDown')).toBe('forward 0');
    expect(walk(0, 'ArrowRight', 'ArrowDown')).toBe('forward 1');
    expect(walk(0, 'ArrowDown', 'ArrowRight', 'ArrowUp')).toBe('step 0');
    expect(walk(0, 'ArrowUp')).toBe('step 0');
    expect(walk(0, 'ArrowDown', 'ArrowDown')).toBe('forward 0');
  });

  it('leave other keys to others', () => {
    expect(nextFocus(lanes, { lane: 0, at: 0 }, 'x')).toBeUndefined();
  });
});
