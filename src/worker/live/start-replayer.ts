import { newReplayWorker } from './replay-worker.ts';
import { type Replayer, replayerBeside, replayerHere } from './replayer.ts';

/** Beside the session where there is a core for it. */
export function startReplayer(): Replayer {
  const hasCores = navigator.hardwareConcurrency > 1;
  return hasCores && newReplayWorker ? replayerBeside(newReplayWorker()) : replayerHere();
}
