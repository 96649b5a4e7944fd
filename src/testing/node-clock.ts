import type { Clock } from '../base/task.ts';

/**
 * A clock for tests and benches that let real messages in. Node hands a port up to 1,000 messages
 * before it looks at timers and files again, so a message to oneself is no way to yield there.
 */
export const nodeClock: Clock = {
  now: () => performance.now(),
  yieldTask: () => new Promise((resolve) => setImmediate(resolve)),
};
