/**
 * Long work on a thread that also answers messages. A task is a generator that may pause at each `yield`.
 *
 *   function* sumOf(rows: Float64Array): Task<number> {
 *     let sum = 0;
 *     yield* inPieces([0, rows.length], 65_536, (from, to) => {
 *       for (let i = from; i < to; i++) sum += rows[i];
 *     });
 *     return sum;
 *   }
 *   await runTask(sumOf(rows), { clock, signal });   // in slices of 8 ms, with messages in between
 *   runToEnd(sumOf(rows));                           // at once, where nobody waits
 *
 * Asynchronous work awaits a {@link createPause} at such places instead.
 */

export type Task<T> = Generator<void, T, void>;

/** A thread's time and its way to let other work run. Tests pass their own. */
export interface Clock {
  /** Milliseconds since some fixed moment. */
  readonly now: () => number;
  /** Lets waiting messages be handled before the caller continues. */
  readonly yieldTask: () => Promise<void>;
}

export interface SliceOptions {
  readonly clock: Clock;
  /** The longest that other work waits. */
  readonly sliceMs?: number | undefined;
  /** Ends the work at its next pause; it rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/** Half a display frame, so that a hover is answered within one frame. */
const SLICE_MS = 8;

/** @throws the reason `signal` was aborted with */
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

/**
 * Calls `work(from, from + each)` and so on to `to`, and yields in between. For long loops over rows: V8 throws away the
 * compiled code of a loop that itself yields, again and again, and a hundred of these cost a frame 25 ms.
 */
export function* inPieces(
  [from, to]: readonly [number, number],
  each: number,
  work: (from: number, to: number) => void,
): Task<void> {
  for (let at = from; at < to; at += each) {
    if (at > from) yield;
    work(at, Math.min(to, at + each));
  }
}

/** Calls `work(0)` to `work(count - 1)` and yields after every `each` calls. */
export const stepwise = (count: number, each: number, work: (i: number) => void): Task<void> =>
  inPieces([0, count], each, (from, to) => {
    for (let i = from; i < to; i++) work(i);
  });

/** Returns a function to await now and then. It lets messages in once a slice has passed since the last pause. */
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
 * The clock of a worker. A message to oneself queues behind waiting messages and returns in about 0.05 ms. A nested
 * setTimeout would cost 4 ms, and a resolved promise would let no message through.
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

/** Returns a function that cancels the call. */
export function startTimer(ms: number, work: () => void): () => void {
  const timer = setTimeout(work, ms);
  return () => clearTimeout(timer);
}

export const sleep = (ms: number): Promise<void> =>
  new Promise((resolve) => void startTimer(ms, resolve));

/** The result of the work, or undefined if it takes longer than `ms`. A failure after that is ignored. */
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
