import { describe, expect, it } from 'vitest';
import { absenceText } from '../../device/model/stacks.ts';
import type { FrameView } from '../../device/model/types.ts';
import { absenceExplanation, frameTitle } from './code-place.tsx';
import { frameRuns } from './stack-list.tsx';

const USER: FrameView = {
  name: 'step',
  filename: '/home/me/run/train.py',
  line: 7,
  kind: 'user',
  isPlumbing: false,
  extras: undefined,
};
const PYTORCH: FrameView = { ...USER, kind: 'pytorch' };
const PLUMBING: FrameView = {
  ...USER,
  name: 'c10::impl::wrap<int>(int)',
  filename: '??',
  line: 0,
  kind: 'cpp',
  isPlumbing: true,
};

describe('folding', () => {
  it('folds neighboring plumbing and keeps the order', () => {
    const runs = frameRuns([PLUMBING, PLUMBING, USER, PLUMBING]);
    expect(runs.map(({ isPlumbing, frames }) => [isPlumbing, frames.length])).toEqual([
      [true, 2],
      [false, 1],
      [true, 1],
    ]);
  });

  it('keeps frames of the user and of libraries in one run', () => {
    expect(frameRuns([USER, PYTORCH])).toHaveLength(1);
    expect(frameRuns([])).toEqual([]);
  });
});

describe('titles', () => {
  it('have everything recorded, and no unknown place', () => {
    expect(frameTitle(USER)).toBe('step\n/home/me/run/train.py:7');
    expect(frameTitle(PLUMBING)).toBe('c10::impl::wrap<int>(int)');
  });
});

describe('absent stacks', () => {
  it('describes each absence differently', () => {
    const kinds = ['no-python-stack', 'no-context', 'before-recording'] as const;
    expect(new Set(kinds.map(absenceText)).size).toBe(3);
    expect(absenceExplanation('before-recording', 'truncated')).toContain('larger max_entries');
    expect(absenceExplanation('no-context', 'truncated')).toBe(absenceExplanation('no-context'));
    expect(new Set(kinds.map((kind) => absenceExplanation(kind))).size).toBe(3);
  });
});
