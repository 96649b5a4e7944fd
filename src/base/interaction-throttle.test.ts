import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { InteractionThrottle } from './interaction-throttle.ts';

const clock = { now: () => Date.now(), yieldTask: () => Promise.resolve() };

describe('a pause', () => {
  beforeEach(() => vi.useFakeTimers({ now: 0 }));
  afterEach(() => vi.useRealTimers());

  /** How long a pause takes while the user moves every 50 ms for `movesMs`, after `workedMs` of work. */
  async function pauseMs(movesMs: number, workedMs = 250, events = 0): Promise<number> {
    const throttle = new InteractionThrottle(clock);
    const pause = throttle.createPause(events);
    await vi.advanceTimersByTimeAsync(workedMs);
    if (movesMs > 0) throttle.noteInteraction();
    const moving = setInterval(() => throttle.noteInteraction(), 50);
    setTimeout(() => clearInterval(moving), movesMs);
    const fromMs = clock.now();
    let tookMs: number | undefined;
    void pause().then(() => {
      tookMs = clock.now() - fromMs;
    });
    await vi.advanceTimersByTimeAsync(60_000);
    if (tookMs === undefined) throw new Error('It waits for ever');
    return tookMs;
  }

  it('is over at once when nothing moves', async () => {
    expect(await pauseMs(0)).toBe(0);
  });

  it('is over at once while little has been worked', async () => {
    expect(await pauseMs(30_000, 249)).toBe(0);
    expect(await pauseMs(30_000, 250)).toBeGreaterThan(500);
  });

  it('lasts until the user has been still for a moment', async () => {
    expect(await pauseMs(290)).toBe(370);
  });

  it('ends, however long the user moves: after half a second and half of what was worked', async () => {
    expect(await pauseMs(30_000)).toBeLessThan(700);
    const afterWork = await pauseMs(30_000, 2250);
    expect(afterWork).toBeGreaterThan(1400);
    expect(afterWork).toBeLessThan(1700);
  });

  it('lasts longer in work on a long trace, and from its start on', async () => {
    expect(await pauseMs(290, 0, 5e6)).toBe(370);
    expect(await pauseMs(1000, 0, 5e6)).toBeGreaterThan(1000);
    expect(await pauseMs(30_000, 0, 5e6)).toBeLessThan(10_200);
  });

  it('is counted together with those before it', async () => {
    const throttle = new InteractionThrottle(clock);
    const pause = throttle.createPause();
    await vi.advanceTimersByTimeAsync(250);
    const fromMs = clock.now();
    const moving = setInterval(() => throttle.noteInteraction(), 50);
    throttle.noteInteraction();
    const all = (async () => {
      for (let i = 0; i < 5; i++) await pause();
      return clock.now() - fromMs;
    })();
    await vi.advanceTimersByTimeAsync(60_000);
    clearInterval(moving);
    expect(await all).toBeLessThan(700);
  });
});
