// @vitest-environment jsdom
import { expect, it } from 'vitest';
import type { AnnotationSpan } from '../../../device/model/types.ts';
import { placeOf } from './annotations-section.tsx';

it.each([
  // The memory that it began with is its highest.
  [99, 100],
  [120, 120],
])('puts the cursor inside the annotation, with its peak at event %d', (event, cursor) => {
  const span: AnnotationSpan = {
    ...{ name: 'step', depth: 0, complete: true },
    ...{ startUs: 10, endUs: 20, startEvent: 100, endEvent: 150 },
  };
  const peak = { bytes: 512, event };
  const peaks = { allocatedBytes: peak, activeBytes: peak, reservedBytes: peak };
  expect(placeOf({ highest: span, peaks }, 'event')).toEqual({ cursor, x: { from: 100, to: 150 } });
});
