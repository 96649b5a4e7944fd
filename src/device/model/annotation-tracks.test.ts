import { expect, test } from 'vitest';
import { loadCapture } from '../../testing/captures.ts';
import { contextsOf } from '../../testing/contexts.ts';
import { annotationSpans, annotationTracks, spanOfRow } from './annotations.ts';

test('tracks hold every range of a capture, each track’s own in a row and in time', () => {
  const [context] = contextsOf(loadCapture('train_annotated.pickle.gz'));
  const spans = annotationSpans(context);
  const tracks = annotationTracks(spans);
  const rows = spans.map((_, row) => spanOfRow(tracks, row));
  expect(rows).toEqual(spans.toSorted((a, b) => a.depth - b.depth));
  expect(tracks.first.length).toBeGreaterThan(2);
  expect(new Set(tracks.names).size).toBe(tracks.names.length);
});

test('no ranges are no tracks', () => {
  expect(annotationTracks([]).first).toEqual(Int32Array.of(0));
});
