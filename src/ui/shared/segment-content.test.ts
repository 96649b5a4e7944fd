import { describe, expect, test } from 'vitest';
import { NEVER } from '../../allocator/replay/types.ts';
import type { SegmentFacts } from '../../draw/address-map/segment-lives.ts';
import { lifeText, segmentContent, segmentKindText } from './segment-content.tsx';

const FACTS: SegmentFacts = {
  row: 0,
  label: 's7f0000000000_0',
  sizeBytes: 20 * 2 ** 20,
  pool: 'large',
  privatePool: undefined,
  isExpandable: false,
  stream: '0',
  startEvent: 12,
  endEvent: 3400,
  startUs: 0,
  endUs: 1_500_000,
  topFrame: undefined,
  stack: { kind: 'no-context', frames: [] },
  releaseStack: undefined,
};

describe('segments in words', () => {
  test('their lives, even beyond the trace', () => {
    expect(lifeText(FACTS)).toBe('from event 12 to event 3,400, 1.50 s');
    const old = { ...FACTS, startEvent: -1, startUs: Number.NaN, endEvent: NEVER };
    expect(lifeText(old)).toBe('since before the trace to the end');
  });

  test('what they are', () => {
    expect(segmentKindText(FACTS)).toBe('segment of the large pool');
    expect(segmentKindText({ ...FACTS, isExpandable: true })).toBe(
      'expandable piece of the large pool',
    );
    expect(segmentKindText({ ...FACTS, privatePool: '(1, 0)' })).toBe(
      'segment of private pool (1, 0)',
    );
  });

  test('one under the pointer, or several', () => {
    const hit = { main: FACTS, count: 1, totalBytes: FACTS.sizeBytes, bottomBytes: 0 };
    expect(segmentContent(hit)).toMatchObject({ title: '20.00 MiB', label: FACTS.label });
    const several = segmentContent({ ...hit, count: 3, totalBytes: 40 * 2 ** 20 });
    expect(several.title).toBe('3 segments, 40.00 MiB here');
    expect(several.lines[0]).toBe('largest: 20.00 MiB s7f0000000000_0');
  });
});
