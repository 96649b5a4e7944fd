/** What holds for every detector, including any added later. */
import { describe, expect, it } from 'vitest';
import {
  bytesAreOf,
  DETECTOR_IDS,
  DETECTORS,
  detectorIdOf,
  RUN_DETECTOR,
  titleOf,
} from './detectors.ts';
import { findingIdOfLink } from './ranked-findings.ts';
import type { Detector } from './types.ts';

const asDetector = (detector: Detector): Detector => detector;

describe('the detectors', () => {
  it('have unique names, and each can be run', () => {
    expect(new Set(DETECTOR_IDS).size).toBe(DETECTORS.length);
    expect(Object.keys(RUN_DETECTOR)).toEqual(DETECTOR_IDS);
  });

  it('declare unique kinds, each with a title', () => {
    const kinds = DETECTORS.flatMap(({ titles }) => Object.keys(titles));
    expect(new Set(kinds).size).toBe(kinds.length);
    expect(titleOf({ detector: 'growth', kind: 'kept-hook' })).toBe('Growth: kept by a hook');
    expect(titleOf({ detector: 'oom', kind: 'fragmented' })).toBe('Out of memory');
  });

  it('say of which moment the bytes of a finding are, for each kind', () => {
    for (const { bytesAre, bytesOfKind = {}, titles } of DETECTORS.map(asDetector)) {
      expect(bytesAre).not.toBe('');
      expect(Object.keys(titles)).toEqual(expect.arrayContaining(Object.keys(bytesOfKind)));
    }
    expect(bytesAreOf({ detector: 'growth', kind: 'kept-hook' })).toBe('kept in all');
    expect(bytesAreOf({ detector: 'growth', kind: 'freed-in-bursts' })).toBe('at its highest');
  });
});

describe('former names', () => {
  it('are still known to scripts and links', () => {
    expect(detectorIdOf('churn')).toBe('segment-thrashing');
    expect(detectorIdOf('growth')).toBe('growth');
    expect(detectorIdOf('leaks')).toBeUndefined();
    expect(findingIdOfLink('churn|segments-retaken|train.py:step#2')).toBe(
      'segment-thrashing|segment-thrashing|train.py:step#2',
    );
    expect(findingIdOfLink('oom|both')).toBe('oom|both');
  });
});
