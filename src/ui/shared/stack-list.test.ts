import { describe, expect, it } from 'vitest';
import { absenceText } from '../../core/device/stacks.ts';
import type { FrameView } from '../../core/device/types.ts';
import { frameRuns } from './stack-list.tsx';
import { absenceExplanation, fullPlace, placeText } from './stack-text.ts';

const frame = (role: FrameView['role'], name = role): FrameView => ({
  name,
  filename: '/home/me/run/train.py',
  line: 7,
  role,
  extras: undefined,
});

describe('folding', () => {
  it('folds neighbouring noise and keeps the order', () => {
    const runs = frameRuns([frame('noise'), frame('noise'), frame('user'), frame('noise')]);
    expect(runs.map(({ isNoise, frames }) => [isNoise, frames.length])).toEqual([
      [true, 2],
      [false, 1],
      [true, 1],
    ]);
  });

  it('keeps user and library frames in one run', () => {
    expect(frameRuns([frame('user'), frame('library')])).toHaveLength(1);
    expect(frameRuns([])).toEqual([]);
  });
});

describe('places', () => {
  it('shows the end of a path and copies all of it', () => {
    expect(placeText(frame('user'))).toBe('run/train.py:7');
    expect(fullPlace(frame('user'))).toBe('/home/me/run/train.py:7');
  });

  it('leaves out a line that is not known', () => {
    expect(placeText({ ...frame('noise'), line: 0 })).toBe('run/train.py');
  });
});

describe('absent stacks', () => {
  it('says each absence in words of its own', () => {
    const kinds = ['no-python-stack', 'no-context', 'before-recording'] as const;
    expect(new Set(kinds.map(absenceText)).size).toBe(3);
    expect(new Set(kinds.map(absenceExplanation)).size).toBe(3);
  });
});
