import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { isAbortError } from './errors.ts';
import {
  type Clock,
  createClock,
  createPause,
  runTask,
  runToEnd,
  startTimer,
  stepwise,
  type Task,
  withinTime,
} from './task.ts';

/** A clock that advances by 1 ms per step of work. */
function setUp() {
  let nowMs = 0;
  const log: number[] = [];
  let onYield = () => {};
  const clock: Clock = {
    now: () => nowMs,
    yieldTask: async () => {
      log.push(nowMs);
      onYield();
    },
  };
  function* count(to: number): Task<number> {
    yield* stepwise(to, 1, () => nowMs++);
    return nowMs;
  }
  return {
    clock,
    log,
    count,
    work: () => nowMs++,
    whenYielding: (work: () => void) => {
      onYield = work;
    },
  };
}

describe('a task', () => {
  it('runs in slices, with messages in between', async () => {
    const { clock, log, count } = setUp();
    expect(await runTask(count(20), { clock })).toBe(20);
    expect(log).toEqual([8, 16]);
  });

  it('lets others in more often if they must not wait', async () => {
    const { clock, log, count } = setUp();
    await runTask(count(5), { clock, sliceMs: 2 });
    expect(log).toEqual([2, 4]);
  });

  it('gives the same result when run at once', () => {
    const { log, count } = setUp();
    expect(runToEnd(count(20))).toBe(20);
    expect(log).toEqual([]);
  });

  it('stops once its signal is aborted', async () => {
    const { clock, count, whenYielding } = setUp();
    const stop = new AbortController();
    whenYielding(() => stop.abort());
    await expect(runTask(count(20), { clock, signal: stop.signal })).rejects.toSatisfy(
      isAbortError,
    );
    expect(clock.now()).toBe(8);
  });

  it('may stop between steps, but not when nothing is left to do', () => {
    const stops = (count: number, each: number) => [...stepwise(count, each, () => {})].length;
    expect([stops(0, 4), stops(4, 4), stops(5, 4), stops(9, 4)]).toEqual([0, 0, 1, 2]);
  });
});

describe('a pause', () => {
  it('lets messages in once a slice has passed since the last one', async () => {
    const { clock, log, work } = setUp();
    const pause = createPause({ clock, sliceMs: 3 });
    for (let i = 0; i < 8; i++) {
      work();
      await pause();
    }
    expect(log).toEqual([3, 6]);
  });

  it('ends work that is no longer wanted', async () => {
    const { clock, work } = setUp();
    const pause = createPause({ clock, sliceMs: 1, signal: AbortSignal.abort() });
    work();
    await expect(pause()).rejects.toSatisfy(isAbortError);
  });
});

it("a worker's clock lets messages in, in the order in which they were sent", async () => {
  const { port1, port2 } = new MessageChannel();
  const arrived = new Promise((resolve) => {
    port1.onmessage = resolve;
  });
  port2.postMessage('asked');
  const clock = createClock();
  await Promise.race([arrived, sleepForever(clock)]);
  port1.close();
});

async function sleepForever(clock: Clock): Promise<never> {
  for (;;) await clock.yieldTask();
}

describe('timers', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('call once after a delay, unless cancelled', () => {
    const work = vi.fn();
    startTimer(100, work);
    startTimer(100, work)();
    vi.advanceTimersByTime(99);
    expect(work).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1000);
    expect(work).toHaveBeenCalledOnce();
  });

  it('give up work that takes too long', async () => {
    const never = withinTime(new Promise(() => {}), 100);
    await vi.advanceTimersByTimeAsync(100);
    expect(await never).toBeUndefined();
    expect(await withinTime(Promise.resolve(1), 100)).toBe(1);
    await expect(withinTime(Promise.reject(new Error('no')), 100)).rejects.toThrow('no');
  });
});
