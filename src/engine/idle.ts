/**
 * Counts the work in flight, so that tests and scripts can wait until the page has settled.
 * Whoever loads, decodes, computes or awaits a frame calls `begin()` and, when done, what it gave.
 */
export interface IdleCounter {
  /** Marks one piece of work as running; call the result once when it ends, however it ends. */
  begin(): () => void;
  /** Runs `work` as one piece of work. */
  during<T>(work: () => Promise<T>): Promise<T>;
  /** Resolves when nothing has run for {@link QUIET_MS}. */
  whenIdle(): Promise<void>;
  readonly running: number;
}

/** The pause between one answer and the work it causes (a render, the next frame) is not idleness. */
const QUIET_MS = 60;

export function createIdleCounter(): IdleCounter {
  let running = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let waiting: (() => void)[] = [];

  function settle(): void {
    clearTimeout(timer);
    if (running > 0 || waiting.length === 0) return;
    timer = setTimeout(() => {
      const resolved = waiting;
      waiting = [];
      for (const resolve of resolved) resolve();
    }, QUIET_MS);
  }

  function begin(): () => void {
    running++;
    clearTimeout(timer);
    let ended = false;
    return () => {
      if (ended) return;
      ended = true;
      running--;
      settle();
    };
  }

  return {
    begin,
    async during(work) {
      const end = begin();
      try {
        return await work();
      } finally {
        end();
      }
    },
    whenIdle: () =>
      new Promise((resolve) => {
        waiting.push(resolve);
        settle();
      }),
    get running() {
      return running;
    },
  };
}
