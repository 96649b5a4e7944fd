/** The session worker: waits for the page's port and serves one session on it. */
import { createClock, startTimer } from '../base/task.ts';
import { blobSource } from './blob-source.ts';
import { webPlatform } from './gunzip.ts';
import { pageBlob } from './page-blob.ts';
import { startReplayWorker } from './partial/replay-worker.ts';
import { createSession, serveSession } from './session.ts';
import { warmUp } from './warm-up.ts';

/** Lets the page appear before the worker takes a core. */
const WARM_UP_AFTER_MS = 150;

function start(port: MessagePort): void {
  const clock = createClock();
  const warming = new AbortController();
  const session = createSession({
    platform: webPlatform,
    clock,
    startReplayWorker,
    sourceOf: async (source) => {
      warming.abort();
      if (source.kind === 'blob') return blobSource(source.blob, source.name);
      if (source.kind === 'page') return blobSource(pageBlob(source.port, source), source.name);
      const { urlSource } = await import('./url-source.ts');
      return urlSource(source.url);
    },
  });
  serveSession(port, session);
  startTimer(WARM_UP_AFTER_MS, () => void warmUp(clock, webPlatform, warming.signal));
}

self.addEventListener('message', ({ ports: [port] }) => {
  if (port !== undefined) start(port);
});
