import type { Clock } from '../base/task.ts';

/**
 * A clock for tests and benches that lets real messages in. Node handles up to 1,000 messages of a port before it
 * returns to timers and files, so a message to oneself does not yield there.
 */
export const nodeClock: Clock = {
  now: () => performance.now(),
  yieldTask: () => new Promise((resolve) => setImmediate(resolve)),
};
