/** Starts the replay worker from the session worker. The single-file build uses replay-worker.single.ts. */
import { connectWorker } from '../worker-connection.ts';
import type { ReplayWorker } from './partial-file.ts';
import script from './replay.worker.ts?worker&url';

/** Inherits the page's policy, see workers.ts. Undefined if there is no spare core. */
export function startReplayWorker(): ReplayWorker | undefined {
  if (navigator.hardwareConcurrency < 2) return undefined;
  const { href } = new URL(script, import.meta.url);
  const blob = new Blob([`import ${JSON.stringify(href)};`], { type: 'text/javascript' });
  const worker = new Worker(URL.createObjectURL(blob), { type: 'module' });
  return connectWorker(worker, { crashed: ['The replay worker has stopped', ''] });
}
