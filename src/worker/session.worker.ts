/** The session worker: serves one session, and warms up until a file comes. */
import { createClock, startTimer } from '../base/task.ts';
import { sourceOf } from './byte-source.ts';
import { startReplayWorker } from './partial/replay-worker.ts';
import type { OpeningMethods } from './protocol.ts';
import { outside, serve } from './rpc.ts';
import { createSession } from './session.ts';
import { warmUp } from './warm-up.ts';

/** Lets the page appear before the worker takes a core. */
const WARM_UP_AFTER_MS = 150;

const clock = createClock();
const warming = new AbortController();
const session = createSession({
  clock,
  startReplayWorker,
  sourceOf(source) {
    warming.abort();
    return sourceOf(source);
  },
});
serve<OpeningMethods>(outside, session, session.query);
startTimer(WARM_UP_AFTER_MS, () => void warmUp(clock, warming.signal));
