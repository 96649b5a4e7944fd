import { describe, expect, it } from 'vitest';
import { createMarks } from './instrumentation.ts';

const settled = () => new Promise((resolve) => setTimeout(resolve, 0));

describe('marks', () => {
  it('are milliseconds since the file was given, and the first time counts', () => {
    let nowMs = 100;
    const marks = createMarks(() => nowMs);
    marks.reach('painted');
    expect(marks.times()).toEqual({});
    marks.start();
    nowMs = 130;
    marks.reach('painted');
    nowMs = 190;
    marks.reach('painted');
    marks.reach('analysed');
    expect(marks.times()).toEqual({ painted: 30, analysed: 90 });
    marks.start();
    expect(marks.times()).toEqual({});
  });

  it('tell who waits for them, also when they have been reached', async () => {
    const marks = createMarks(() => 0);
    const reported: string[] = [];
    marks.start();
    void marks.reached('painted').then(() => reported.push('early'));
    await settled();
    expect(reported).toEqual([]);
    marks.reach('decoded');
    marks.reach('painted');
    void marks.reached('painted').then(() => reported.push('late'));
    await settled();
    expect(reported).toEqual(['early', 'late']);
  });

  it('of another file are not told to who waited for the last one', async () => {
    const marks = createMarks(() => 0);
    const reported: string[] = [];
    marks.start();
    void marks.reached('painted').then(() => reported.push('of the last file'));
    marks.start();
    marks.reach('painted');
    await settled();
    expect(reported).toEqual([]);
  });
});
