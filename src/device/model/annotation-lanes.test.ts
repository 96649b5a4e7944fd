import { expect, test } from 'vitest';
import { loadCapture } from '../../testing/captures.ts';
import { contextsOf } from '../../testing/contexts.ts';
import { annotationLanes, spanOfRow } from './annotation-lanes.ts';
import { annotationSpans } from './annotations.ts';

test('lanes hold every range of a capture, each lane’s own in a row and in time', () => {
  const [context] = contextsOf(loadCapture('train_annotated.pickle.gz'));
  const spans = annotationSpans(context);
  const lanes = annotationLanes(spans);
  const rows = spans.map((_, row) => spanOfRow(lanes, row));
  expect(rows).toEqual(spans.toSorted((a, b) => a.depth - b.depth));
  expect(lanes.first.length).toBeGreaterThan(2);
  expect(new Set(lanes.names).size).toBe(lanes.names.length);
});

test('no ranges are no lanes', () => {
  expect(annotationLanes([]).first).toEqual(Int32Array.of(0));
});
