/** Starts the replay worker from the session worker. The single-file build uses replay-worker.single.ts. */
import { connect } from '../rpc.ts';
import { startWorker } from '../start-worker.ts';
import type { ReplayWorker } from './partial-file.ts';
import script from './replay.worker.ts?worker&url';

/** Undefined if there is no spare core. */
export const startReplayWorker = (): ReplayWorker | undefined =>
  navigator.hardwareConcurrency < 2 ? undefined : connect(startWorker('replay', script));
