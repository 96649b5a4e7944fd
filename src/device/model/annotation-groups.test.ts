import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { CounterName } from '../../allocator/replay/types.ts';
import { loadCapture } from '../../testing/captures.ts';
import { contextsOf } from '../../testing/contexts.ts';
import { snapshotFromText } from '../../testing/snapshot-from-text.ts';
import {
  type AnnotationGroup,
  annotationGroupKeys,
  groupAnnotations,
  innermostSpans,
  type RangeMaximum,
} from './annotation-groups.ts';
import { annotationSpans } from './annotations.ts';
import type { DeviceModel } from './device-model.ts';
import type { AnnotationSpan } from './types.ts';

/** The same by looking at every event. */
function plainMaximum({ replay, trace }: DeviceModel, counter: CounterName): RangeMaximum {
  const values = new Float64Array(trace.events.length);
  replay.fillCounter(counter, 0, values);
  return {
    scan(first, last) {
      const range = values.subarray(first, last + 1);
      const max = range.reduce((a, b) => Math.max(a, b), -Infinity);
      return { max, argmax: first + range.indexOf(max) };
    },
  };
}

function groupsOf(context: DeviceModel): AnnotationGroup[] {
  return groupAnnotations(annotationSpans(context), context.replay, (name) =>
    plainMaximum(context, name),
  );
}

const groupsOfText = (text: string) => groupsOf(contextsOf(snapshotFromText(text).snapshot)[0]);

describe('annotation groups', () => {
  test('say where memory was highest, what stayed, and how often they ran', () => {
    const [backward, forward] = groupsOfText(`
      begin forward
      +A 1Mi @a.py:1 f
      end forward
      snapshot  # an annotation is as late as the next event
      begin backward
      +B 2Mi @a.py:2 b
      -B
      -A
      end backward
      snapshot
      begin forward
      +C 1Mi @a.py:1 f
      end forward
      snapshot
      +D 1Mi @a.py:9 g
    `);
    expect(backward).toMatchObject({ name: 'backward', count: 1, unclosed: 0 });
    expect(backward.peaks.allocatedBytes.bytes).toBe(3 * 2 ** 20);
    expect(backward.grownBytes).toBe(-(2 ** 20));
    expect(forward).toMatchObject({ name: 'forward', count: 2, grownBytes: 2 * 2 ** 20 });
    expect(forward.peaks.allocatedBytes.bytes).toBe(2 ** 20);
  });

  test('that only free memory are highest when they begin', () => {
    const [group] = groupsOfText('+A 1Mi @a.py:1 f\nbegin free\n-A\nend free\nsnapshot');
    expect(group.peaks.allocatedBytes.bytes).toBe(2 ** 20);
    expect(group.peaks.allocatedBytes.event).toBe(group.highest.startEvent - 1);
  });

  test('that a ring dropped have no peak, and those in it are counted apart from those before', () => {
    const call = (name: string) => `begin ${name}\n+A 4Mi @a.py:1 f\n-A\nend ${name}\nsnapshot`;
    const text = `+B 1Mi @a.py:2 b\n${call('setup')}\n${call('step')}\nring\n${call('step')}`;
    const [step, setup] = groupsOfText(text);
    expect(step).toMatchObject({ name: 'step', count: 1, before: 1, grownBytes: 0 });
    expect(step.peaks.allocatedBytes.bytes).toBe(5 * 2 ** 20);
    expect(setup).toMatchObject({ name: 'setup', count: 0, before: 1 });
    expect(setup.peaks.allocatedBytes.bytes).toBe(-1);
  });

  test('still open at the end are measured up to it, and not timed', () => {
    const [group] = groupsOfText('begin backward\n+A 1Mi @a.py:1 f\n+B 3Mi @a.py:2 f\nsnapshot');
    expect(group).toMatchObject({ name: 'backward', unclosed: 1, totalUs: 0, grownBytes: 0 });
    expect(group.peaks.allocatedBytes.bytes).toBe(4 * 2 ** 20);
  });

  test('of a real training: backward peaks, and the steps are one group', () => {
    const [context] = contextsOf(loadCapture('train_annotated.pickle.gz'));
    const found = groupsOf(context);
    const { peaks } = context.replay;
    const byName = new Map(found.map((group) => [group.name, group]));
    const steps = byName.get('## step * ##');
    expect(steps).toMatchObject({ names: 4, count: 4, unclosed: 0 });
    expect(steps?.peaks.allocatedBytes).toEqual(peaks.allocatedBytes);
    const forward = byName.get('## forward ##');
    const backward = byName.get('## backward ##');
    expect(forward?.count).toBe(4);
    expect(forward?.grownBytes).toBeGreaterThan(0);
    expect(backward?.grownBytes).toBeLessThan(forward?.grownBytes ?? 0);
    expect(found.slice(0, 2).map(({ name }) => name)).toEqual(['## backward ##', '## step * ##']);
    expect(found[0].peaks.allocatedBytes.bytes).toBe(peaks.allocatedBytes.bytes);
  });
});

const span = (name: string, startEvent: number, endEvent: number): AnnotationSpan => ({
  name,
  depth: 0,
  startUs: startEvent * 10,
  endUs: endEvent * 10,
  startEvent,
  endEvent,
  complete: true,
});

test('names with numbers are one group only if none occurs twice', () => {
  const key = annotationGroupKeys([
    span('step 1', 0, 1),
    span('step 2', 1, 2),
    span('layer 1', 0, 1),
    span('layer 1', 1, 2),
    span('layer 2', 2, 3),
    span('only 7', 0, 1),
  ]);
  expect(['step 2', 'layer 1', 'only 7'].map(key)).toEqual(['step *', 'layer 1', 'only 7']);
});

test('the innermost range around an event is the one that began last, even if threads overlap', () => {
  const ranges = fc.array(fc.tuple(fc.nat(30), fc.nat(12)), { maxLength: 12 });
  fc.assert(
    fc.property(ranges, (pairs) => {
      const spans = pairs
        .map(([start, length], i) => span(`n${i}`, start, start + length))
        .sort((a, b) => a.startUs - b.startUs || b.endUs - a.endUs);
      const { from, span: rows } = innermostSpans(spans);
      for (let event = 0; event < 45; event++) {
        const at = from.findLastIndex((first) => first <= event);
        const expected = spans.findLastIndex(
          ({ startEvent, endEvent }) => startEvent <= event && event < endEvent,
        );
        expect(rows[at]).toBe(expected);
      }
    }),
  );
});
