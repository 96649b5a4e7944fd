/** A host that sends a file drop by drop, as far as it is told to. */
import { createServer, type ServerResponse } from 'node:http';

export interface SlowHost {
  /** Of the file. */
  readonly url: string;
  /** From now on it sends up to this share of the file, 0 to 1; at 1 it ends. */
  sendUpTo(share: number): void;
  close(): Promise<void>;
}

const DROPS = 64;
const PAUSE_MS = 40;

/** Sends nothing at first. */
export async function slowHost(bytes: Uint8Array, name = 'slow.pickle'): Promise<SlowHost> {
  let share = 0;
  const server = createServer((_, response) => {
    response.writeHead(200, {
      'content-type': 'application/octet-stream',
      'content-length': bytes.length,
      'access-control-allow-origin': '*',
    });
    response.flushHeaders();
    drip(response);
  });

  function drip(response: ServerResponse): void {
    let at = 0;
    const timer = setInterval(() => {
      const to = Math.min(at + Math.ceil(bytes.length / DROPS), Math.floor(bytes.length * share));
      if (to > at) response.write(bytes.subarray(at, to));
      at = Math.max(at, to);
      if (at < bytes.length) return;
      clearInterval(timer);
      response.end();
    }, PAUSE_MS);
    response.on('close', () => clearInterval(timer));
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}/${name}`,
    sendUpTo: (upTo) => {
      share = upTo;
    },
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
