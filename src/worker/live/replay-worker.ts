/** Starts the replay worker from the session worker. The build of one file has replay-worker.single.ts. */
import liveScript from './live.worker.ts?worker&url';

/** Under the policy of the page, as workers.ts says; this one is started by a worker. */
export function newReplayWorker(): Worker {
  const { href } = new URL(liveScript, import.meta.url);
  const script = new Blob([`import ${JSON.stringify(href)};`], { type: 'text/javascript' });
  return new Worker(URL.createObjectURL(script), { type: 'module' });
}
