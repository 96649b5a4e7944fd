/**
 * Long work on a thread that also answers messages. A task is a generator: each `yield` is a place where it may stop.
 *
 *   function* sumOf(rows: Float64Array): Task<number> {
 *     let sum = 0;
 *     for (let i = 0; i < rows.length; i++) {
 *       sum += rows[i];
 *       if (i % 65_536 === 0) yield;
 *     }
 *     return sum;
 *   }
 *   await runTask(sumOf(rows), { clock, signal });   // in slices of 8 ms, with messages in between
 *   runToEnd(sumOf(rows));                           // at once, where nobody waits
 *
 * Asynchronous work awaits a {@link createPause} at such places instead.
 */

export type Task<T> = Generator<void, T, void>;

/** The time of a thread, and how it lets others in. Tests hand in another. */
export interface Clock {
  /** Milliseconds since some moment. */
  readonly now: () => number;
  /** Lets messages that wait be handled before the caller goes on. */
  readonly yieldTask: () => Promise<void>;
}

export interface SliceOptions {
  readonly clock: Clock;
  /** How long others wait at most. */
  readonly sliceMs?: number | undefined;
  /** Ends the work at its next pause, which rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/** Half of what one picture of the display takes, so that a hover is answered within that picture. */
const SLICE_MS = 8;

/** @throws what `signal` was aborted with */
export async function runTask<T>(task: Task<T>, options: SliceOptions): Promise<T> {
  const { clock, sliceMs = SLICE_MS, signal } = options;
  for (;;) {
    signal?.throwIfAborted();
    const endMs = clock.now() + sliceMs;
    let step = task.next();
    while (!step.done && clock.now() < endMs) step = task.next();
    if (step.done) return step.value;
    await clock.yieldTask();
  }
}

export function runToEnd<T>(task: Generator<unknown, T, void>): T {
  let step = task.next();
  while (!step.done) step = task.next();
  return step.value;
}

/** `work(0)` to `work(count - 1)`, with a place to stop after every few. */
export function* stepwise(count: number, each: number, work: (i: number) => void): Task<void> {
  for (let i = 0; i < count; i++) {
    work(i);
    if ((i + 1) % each === 0 && i + 1 < count) yield;
  }
}

/** A function to await now and then: it lets messages in once a slice has passed since the last time. */
export function createPause({ clock, sliceMs = SLICE_MS, signal }: SliceOptions) {
  let resumedMs = clock.now();
  return async (): Promise<void> => {
    if (clock.now() - resumedMs < sliceMs) return;
    await clock.yieldTask();
    signal?.throwIfAborted();
    resumedMs = clock.now();
  };
}

/**
 * The clock of a worker. A message to oneself queues behind those that wait already and comes back in some 0.05 ms;
 * setTimeout would cost 4 ms once nested, a resolved promise would let no message through.
 */
export function createClock(): Clock {
  const { port1, port2 } = new MessageChannel();
  let waiting: (() => void)[] = [];
  port1.onmessage = () => {
    const resumed = waiting;
    waiting = [];
    for (const resume of resumed) resume();
  };
  const yieldTask = () =>
    new Promise<void>((resolve) => {
      waiting.push(resolve);
      port2.postMessage(undefined);
    });
  return { now: () => performance.now(), yieldTask };
}

/** Calls `work` once after so long. Gives what prevents it. */
export function startTimer(ms: number, work: () => void): () => void {
  const timer = setTimeout(work, ms);
  return () => clearTimeout(timer);
}

export const sleep = (ms: number): Promise<void> =>
  new Promise((resolve) => void startTimer(ms, resolve));

/** What the work gives, or undefined when it takes longer: then its failure is nobody's. */
export async function withinTime<T>(work: Promise<T>, ms: number): Promise<T | undefined> {
  let cancel: (() => void) | undefined;
  const late = new Promise<undefined>((resolve) => {
    cancel = startTimer(ms, () => resolve(undefined));
  });
  work.catch(() => undefined);
  try {
    return await Promise.race([work, late]);
  } finally {
    cancel?.();
  }
}
