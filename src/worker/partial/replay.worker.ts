/** The replay worker: waits for the session worker's port. */
import { servePartialReplay } from './partial-replay.ts';

self.addEventListener('message', ({ ports: [port] }) => {
  if (port !== undefined) servePartialReplay(port);
});
