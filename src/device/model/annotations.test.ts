import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { snapshotFromValue } from '../../format/snapshot/from-value.ts';
import { loadCapture } from '../../testing/captures.ts';
import { contextOf, contextsOf } from '../../testing/contexts.ts';
import { annotationSpans, unpairedAnnotations } from './annotations.ts';

type Mark = readonly ['START' | 'END', string, number, number?];

/** Ten events, at 100, 110, … 190 us; marks are (stage, name, time, device). */
function snapshotWith(...marks: readonly Mark[]) {
  const events = Array.from({ length: 10 }, (_, i) => ({
    action: 'alloc',
    addr: 512 * (i + 1),
    size: 512,
    stream: 0,
    time_us: 100 + 10 * i,
  }));
  const external_annotations = marks.map(([stage, name, time_us, device = 0]) => ({
    stage,
    name,
    device,
    time_us,
  }));
  return { segments: [], device_traces: [events, events], external_annotations };
}

const spansOf = (...marks: readonly Mark[]) => annotationSpans(contextOf(snapshotWith(...marks)));

describe('ranges', () => {
  test('cover the events between their START and END', () => {
    expect(spansOf(['START', 'a', 115], ['END', 'a', 140])).toEqual([
      { name: 'a', depth: 0, startUs: 15, endUs: 40, startEvent: 2, endEvent: 5, complete: true },
    ]);
  });

  test('without events inside have no width', () => {
    const [span] = spansOf(['START', 'a', 111], ['END', 'a', 112]);
    expect(span).toMatchObject({ startEvent: 2, endEvent: 2 });
  });

  test('of one name nest: the last START ends first', () => {
    const spans = spansOf(
      ['START', 'f', 100],
      ['START', 'f', 110],
      ['END', 'f', 120],
      ['END', 'f', 130],
    );
    expect(spans).toMatchObject([
      { depth: 0, startUs: 0, endUs: 30 },
      { depth: 1, startUs: 10, endUs: 20 },
    ]);
  });

  test('of any program are in the lowest free track', () => {
    const range = fc.tuple(fc.integer({ min: 100, max: 180 }), fc.nat(40));
    fc.assert(
      fc.property(fc.array(range, { maxLength: 40 }), (ranges) => {
        const marks = ranges.flatMap(([start, length], i): Mark[] => [
          ['START', `r${i}`, start],
          ['END', `r${i}`, start + length],
        ]);
        const ends: number[] = [];
        for (const { depth, startUs, endUs } of spansOf(...marks)) {
          const free = ends.findIndex((end) => end <= startUs);
          expect(depth).toBe(free < 0 ? ends.length : free);
          ends[depth] = endUs;
        }
      }),
    );
  });

  test('that overlap, as those of two threads do, get separate tracks', () => {
    const spans = spansOf(
      ['START', 'a', 100],
      ['START', 'b', 110],
      ['END', 'a', 130],
      ['END', 'b', 150],
    );
    expect(spans.map(({ name, depth }) => [name, depth])).toEqual([
      ['a', 0],
      ['b', 1],
    ]);
  });

  test('without START or END reach to the edge and say so', () => {
    const spans = spansOf(['END', 'old', 120], ['START', 'cut', 150]);
    expect(spans).toMatchObject([
      { name: 'old', startUs: 0, endUs: 20, complete: false },
      { name: 'cut', startUs: 50, endUs: 90, endEvent: 10, complete: false },
    ]);
    const { annotations } = snapshotFromValue(snapshotWith(['END', 'old', 120], ['START', 'x', 1]));
    expect(unpairedAnnotations(annotations)).toBe(2);
  });

  test('that lost their START or END in a flood become moments, and add no levels', () => {
    const flood = Array.from({ length: 1000 }, (_, i): Mark => ['START', `s${i}`, 101 + i / 100]);
    const ends = Array.from({ length: 1000 }, (_, i): Mark => ['END', `e${i}`, 121 + i / 100]);
    const spans = spansOf(...flood, ...ends);
    expect(spans).toHaveLength(2000);
    expect(Math.max(...spans.map(({ depth }) => depth))).toBeLessThan(18);
    const wide = spans.filter(({ startUs, endUs }) => endUs > startUs);
    expect(wide.map(({ name }) => name).sort()).toEqual([
      ...['e0', 'e1', 'e2', 'e3', 'e4', 'e5', 'e6', 'e7'],
      ...['s992', 's993', 's994', 's995', 's996', 's997', 's998', 's999'],
    ]);
  });

  test('of the device, or of no device in the file, are shown', () => {
    const marks: Mark[] = [0, 1, -1, 7].flatMap((device): Mark[] => [
      ['START', `on ${device}`, 110, device],
      ['END', `on ${device}`, 120, device],
    ]);
    expect(spansOf(...marks).map(({ name }) => name)).toEqual(['on 0', 'on -1', 'on 7']);
  });

  test('cannot be placed without times', () => {
    const events = [{ action: 'alloc', addr: 512, size: 512, stream: 0 }];
    const marks = [{ stage: 'START', name: 'a', device: 0, time_us: 1 }];
    const context = contextOf({ device_traces: [events], external_annotations: marks });
    expect(annotationSpans(context)).toEqual([]);
  });

  test('nest at the level at which they were opened', () => {
    // true opens a range, false closes the innermost one.
    fc.assert(
      fc.property(fc.array(fc.boolean()), (moves) => {
        const marks: Mark[] = [];
        const depths: number[] = [];
        const open: string[] = [];
        const close = () => marks.push(['END', open.pop() ?? '', 100 + marks.length]);
        for (const opens of moves) {
          if (opens) {
            const name = `n${depths.length}`;
            marks.push(['START', name, 100 + marks.length]);
            depths.push(open.push(name) - 1);
          } else if (open.length > 0) close();
        }
        while (open.length > 0) close();
        expect(spansOf(...marks).map(({ depth }) => depth)).toEqual(depths);
      }),
    );
  });
});

test('a real training has its steps outside, forward and backward inside', () => {
  const [context] = contextsOf(loadCapture('train_annotated.pickle.gz'));
  const spans = annotationSpans(context);
  expect(spans).toHaveLength(24);
  expect(spans.every(({ complete }) => complete)).toBe(true);
  const steps = spans.filter(({ depth }) => depth === 0).map(({ name }) => name);
  expect(steps).toEqual(['## step 0 ##', '## step 1 ##', '## step 2 ##', '## step 3 ##']);
  const ofStep0 = spans.filter(({ depth, startUs }) => depth === 1 && startUs < spans[6].startUs);
  expect(ofStep0.map(({ name }) => name)).toEqual([
    '## forward ##',
    '## backward ##',
    '## optimizer ##',
  ]);
  for (const { startEvent, endEvent } of ofStep0) expect(endEvent).toBeGreaterThan(startEvent);
});
