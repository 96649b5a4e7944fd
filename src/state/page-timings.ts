/**
 * Counts work in flight, so that tests and scripts can wait until the page settles. Code that loads, decodes,
 * computes or awaits a frame calls `begin()`, and calls the returned function when done.
 */
import { sleep } from '../base/task.ts';

export type IdleCounter = ReturnType<typeof createIdleCounter>;

/** Bridges the pause between one answer and the work it causes (a render, the next frame). */
const QUIET_MS = 60;

export function createIdleCounter() {
  let running = 0;
  let begun = 0;
  let waiting: (() => void)[] = [];

  /** Marks one piece of work as running. Call the result once when it ends, even on failure. */
  function begin(): () => void {
    running++;
    begun++;
    let ended = false;
    return () => {
      if (ended) return;
      ended = true;
      running--;
      if (running > 0) return;
      for (const resolve of waiting) resolve();
      waiting = [];
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
    async whenIdle(quietMs = QUIET_MS): Promise<void> {
      let before: number;
      do {
        if (running > 0) await new Promise<void>((resolve) => waiting.push(resolve));
        before = begun;
        await sleep(quietMs);
      } while (running > 0 || begun > before);
    },
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
  let waiting: Partial<Record<Stage, (() => void)[]>> = {};
  return {
    /** A file was given: forgets the last one's times and starts the clock. */
    start(): void {
      startMs = now();
      times = {};
      waiting = {};
    },
    /** Counts once: 'painted' is the first frame after opening, not the latest. */
    reach(name: Stage): void {
      if (startMs === undefined || times[name] !== undefined) return;
      times[name] = now() - startMs;
      for (const resolve of waiting[name] ?? []) resolve();
    },
    times: (): StageTimes => ({ ...times }),
    /** Resolves once the stage is reached; never, if another file is given first. */
    reached: (name: Stage) =>
      new Promise<void>((resolve) => {
        if (times[name] === undefined) waiting[name] = [...(waiting[name] ?? []), resolve];
        else resolve();
      }),
  };
}
