/**
 * The clock of a thread that shares its time: long work looks at it, and stops now and then so that
 * frames and hovers are answered. Each worker makes one and hands it to whatever runs there; tests
 * hand in another.
 */
export interface CooperativeClock {
  /** Milliseconds since some moment. */
  readonly now: () => number;
  /** Lets messages that wait be handled before the caller goes on. */
  readonly yieldTask: () => Promise<void>;
}

export function createClock(): CooperativeClock {
  return { now: () => performance.now(), yieldTask: createYield() };
}

/**
 * A message to oneself queues behind those that wait already and comes back in some 0.05 ms;
 * setTimeout would cost 4 ms once nested, a resolved promise would let no message through.
 */
function createYield(): () => Promise<void> {
  const { port1, port2 } = new MessageChannel();
  let waiting: (() => void)[] = [];
  port1.onmessage = () => {
    const resumed = waiting;
    waiting = [];
    for (const resume of resumed) resume();
  };
  return () =>
    new Promise((resolve) => {
      waiting.push(resolve);
      port2.postMessage(undefined);
    });
}
