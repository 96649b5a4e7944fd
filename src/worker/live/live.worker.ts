/** The replay worker: replays the events that the session worker reads, while it reads on. */
import { serveReplayer } from './replayer.ts';

self.addEventListener('message', ({ ports: [port] }) => {
  if (port !== undefined) serveReplayer(port);
});
