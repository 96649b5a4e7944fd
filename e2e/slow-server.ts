/** A host that sends a file bit by bit, as far as it is told to. */
import { createServer, type ServerResponse } from 'node:http';
import { hosted } from './static-server.ts';

export interface SlowHost {
  /** Of the file. */
  readonly url: string;
  /** From now on it sends up to this share of the file, 0 to 1; at 1 the response ends. */
  sendUpTo(share: number): void;
  close(): Promise<void>;
}

const DROPS = 64;
const PAUSE_MS = 20;

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

  const { url, close } = await hosted(server);
  return {
    url: `${url}${name}`,
    sendUpTo: (upTo) => {
      share = upTo;
    },
    close,
  };
}
