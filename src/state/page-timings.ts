/**
 * Counts work in flight, so that tests and scripts can wait until the page settles. Code that loads, decodes,
 * computes or awaits a frame calls `begin()`, and calls the returned function when done.
 */
import { startTimer } from '../base/task.ts';

export type IdleCounter = ReturnType<typeof createIdleCounter>;

/** Bridges the pause between one answer and the work it causes (a render, the next frame). */
const QUIET_MS = 60;

interface IdleWaiter {
  readonly quietMs: number;
  readonly resolve: () => void;
  stopTimer?: () => void;
}

export function createIdleCounter() {
  let running = 0;
  const waiting = new Set<IdleWaiter>();

  function start(waiter: IdleWaiter): void {
    waiter.stopTimer = startTimer(waiter.quietMs, () => {
      waiting.delete(waiter);
      waiter.resolve();
    });
  }

  /** Marks one piece of work as running. Call the result once when it ends, even on failure. */
  function begin(): () => void {
    running++;
    for (const { stopTimer } of waiting) stopTimer?.();
    let ended = false;
    return () => {
      if (ended) return;
      ended = true;
      running--;
      if (running === 0) waiting.forEach(start);
    };
  }

  return {
    begin,
    async during<T>(work: () => Promise<T>): Promise<T> {
      const end = begin();
      try {
        return await work();
      } finally {
        end();
      }
    },
    /** Resolves when nothing has run for `quietMs`. */
    whenIdle: (quietMs = QUIET_MS) =>
      new Promise<void>((resolve) => {
        const waiter = { quietMs, resolve };
        waiting.add(waiter);
        if (running === 0) start(waiter);
      }),
    get running() {
      return running;
    },
  };
}

/** Times at which the latest opening reached each stage, in milliseconds since the file was given. */
export type Stage = 'firstByte' | 'firstPixels' | 'decoded' | 'painted' | 'analysed';
export type StageTimes = Readonly<Partial<Record<Stage, number>>>;

export type Timings = ReturnType<typeof createTimings>;

export function createTimings(now: () => number = () => performance.now()) {
  let startMs: number | undefined;
  let times: Partial<Record<Stage, number>> = {};
  let waiting: { readonly name: Stage; readonly resolve: () => void }[] = [];
  return {
    /** A file was given: clears all marks and starts the clock. */
    start(): void {
      startMs = now();
      times = {};
      waiting = [];
    },
    /** Sets a mark once: 'painted' is the first frame after opening, not the latest. */
    reach(name: Stage): void {
      if (startMs === undefined || times[name] !== undefined) return;
      times[name] = now() - startMs;
      for (const wish of waiting) if (wish.name === name) wish.resolve();
      waiting = waiting.filter((wish) => wish.name !== name);
    },
    times: (): StageTimes => ({ ...times }),
    /** Resolves once the mark is set; never, if another file is given first. */
    reached: (name: Stage) =>
      new Promise<void>((resolve) => {
        if (times[name] === undefined) waiting.push({ name, resolve });
        else resolve();
      }),
  };
}
