import { expect, test } from 'vitest';
import { NEVER } from '../../../allocator/replay/types.ts';
import { windowShowing } from './use-search.ts';

const EXTENTS = { events: 1000, durationUs: 50_000 };
const life = (startEvent: number, endEvent: number, startUs = Number.NaN, endUs = Number.NaN) => ({
  startEvent,
  endEvent,
  startUs,
  endUs,
});

test('a window that shows a part of the life stays', () => {
  const x = { from: 100, to: 200 };
  for (const seen of [life(150, 160), life(50, 101), life(199, 900), life(-1, NEVER)]) {
    expect(windowShowing(x, 'event', seen, EXTENTS)).toBe(x);
  }
  expect(windowShowing('all', 'event', life(1, 2), EXTENTS)).toBe('all');
});

test('else it moves to where the life begins, as wide as before and inside the trace', () => {
  const x = { from: 100, to: 200 };
  expect(windowShowing(x, 'event', life(500, 600), EXTENTS)).toEqual({ from: 450, to: 550 });
  expect(windowShowing(x, 'event', life(10, 90), EXTENTS)).toEqual({ from: 0, to: 100 });
  expect(windowShowing(x, 'event', life(990, NEVER), EXTENTS)).toEqual({ from: 900, to: 1000 });
  expect(windowShowing(x, 'event', life(-1, 90), EXTENTS)).toEqual({ from: 0, to: 100 });
});

test('in time', () => {
  const x = { from: 100, to: 200 };
  const seen = life(3, 9, 30_000, 31_000);
  expect(windowShowing(x, 'time', seen, EXTENTS)).toEqual({ from: 29_950, to: 30_050 });
  // From before the trace: its start is unknown, but it is there from the first event on.
  expect(windowShowing(x, 'time', life(-1, 9, Number.NaN, 50), EXTENTS)).toEqual({
    from: 0,
    to: 100,
  });
  expect(windowShowing(x, 'time', life(3, NEVER, 150), EXTENTS)).toBe(x);
});
