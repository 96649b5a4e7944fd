/** A session on a capture, and its analysis, both in this thread: the work of the page's workers without workers. */

import { serveAnalysis } from '../worker/analysis/serve-analysis.ts';
import { webPlatform } from '../worker/gunzip.ts';
import type { SessionApi } from '../worker/protocol.ts';
import { createSession } from '../worker/session.ts';
import { bytesSource } from './byte-source.ts';
import { captureBytes } from './captures.ts';
import { nodeClock } from './node-clock.ts';

/**
 * A session that opens captures by name: `{ kind: 'url', url: 'leak_forward_hook' }`.
 * @param bytesOf a snapshot's bytes by name, if it is not in fixtures/
 */
export function captureSession(
  bytesOf = (name: string) => captureBytes(`${name}.pickle.gz`),
): SessionApi {
  return createSession({
    platform: webPlatform,
    clock: nodeClock,
    sourceOf: async (source) => {
      if (source.kind !== 'url') throw new Error('Captures are opened by name');
      return bytesSource(bytesOf(source.url), source.url);
    },
  });
}

/** @param name of a capture, such as 'leak_forward_hook' */
export async function openSession(name: string): Promise<SessionApi> {
  const session = captureSession();
  await session.open({ kind: 'url', url: name }, {});
  return session;
}

/** A worker that runs in this thread; `crash` does what the browser does when a real one dies. */
export class InThreadWorker {
  isTerminated = false;
  readonly #listeners = new Map<string, (event: Event) => void>();
  #ports: readonly MessagePort[] = [];

  postMessage = (_message: unknown, given?: Transferable[] | StructuredSerializeOptions): void => {
    const ports = Array.isArray(given) ? given.filter((one) => one instanceof MessagePort) : [];
    const [page, session] = ports;
    if (page === undefined || session === undefined) throw new Error('Two ports are needed');
    this.#ports = ports;
    serveAnalysis(page, session, nodeClock);
  };
  addEventListener = (type: string, listener: (event: Event) => void): void => {
    this.#listeners.set(type, listener);
  };
  terminate = (): void => {
    this.isTerminated = true;
    for (const port of this.#ports) port.close();
  };
  crash(): void {
    this.#listeners.get('error')?.(new Event('error'));
  }
}
