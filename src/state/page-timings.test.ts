import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createIdleCounter, createTimings } from './page-timings.ts';

const settled = () => new Promise((resolve) => setTimeout(resolve, 0));

describe('timings', () => {
  it('are milliseconds since the file was given, and the first time counts', () => {
    let nowMs = 100;
    const timings = createTimings(() => nowMs);
    timings.reach('painted');
    expect(timings.times()).toEqual({});
    timings.start();
    nowMs = 130;
    timings.reach('painted');
    nowMs = 190;
    timings.reach('painted');
    timings.reach('analysed');
    expect(timings.times()).toEqual({ painted: 30, analysed: 90 });
    timings.start();
    expect(timings.times()).toEqual({});
  });

  it('notify whoever waits for them, even if already reached', async () => {
    const timings = createTimings(() => 0);
    const reported: string[] = [];
    timings.start();
    void timings.reached('painted').then(() => reported.push('early'));
    await settled();
    expect(reported).toEqual([]);
    timings.reach('decoded');
    timings.reach('painted');
    void timings.reached('painted').then(() => reported.push('late'));
    await settled();
    expect(reported).toEqual(['early', 'late']);
  });

  it('of another file do not notify whoever waited for the last one', async () => {
    const timings = createTimings(() => 0);
    const reported: string[] = [];
    timings.start();
    void timings.reached('painted').then(() => reported.push('of the last file'));
    timings.start();
    timings.reach('painted');
    await settled();
    expect(reported).toEqual([]);
  });
});

describe('idleness', () => {
  beforeEach(() => vi.useFakeTimers());
  afterEach(() => vi.useRealTimers());

  it('comes when all work has ended and none follows at once', async () => {
    const idle = createIdleCounter();
    const first = idle.begin();
    let isIdle = false;
    const waiting = idle.whenIdle().then(() => {
      isIdle = true;
    });
    first();
    const second = idle.begin();
    first();
    await vi.advanceTimersByTimeAsync(60_000);
    expect([isIdle, idle.running]).toEqual([false, 1]);
    second();
    await vi.advanceTimersByTimeAsync(1000);
    await waiting;
    expect(isIdle).toBe(true);
  });

  it('comes at once when nothing runs, and again after work that failed', async () => {
    const idle = createIdleCounter();
    const comes = async () => {
      const waiting = idle.whenIdle();
      await vi.advanceTimersByTimeAsync(1000);
      await waiting;
    };
    await comes();
    await expect(idle.during(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
    await comes();
  });
});
