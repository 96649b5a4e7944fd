/** The session worker: waits for the page's port and serves one session on it. */
import { blobSource } from './blob-source.ts';
import { webPlatform } from './gunzip.ts';
import { serveSession } from './serve-session.ts';
import { Session } from './session.ts';
import { urlSource } from './url-source.ts';
import { createYield } from './yield-task.ts';

function start(port: MessagePort): void {
  const session = new Session({
    platform: webPlatform,
    clock: { now: () => performance.now(), yieldTask: createYield() },
    sourceOf: async (source, signal) =>
      source.kind === 'blob'
        ? blobSource(source.blob, source.name)
        : urlSource(source.url, { signal }),
  });
  serveSession(port, session);
}

self.addEventListener('message', ({ ports: [port] }) => {
  if (port !== undefined) start(port);
});
