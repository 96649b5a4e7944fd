/** A session on a capture, and its analysis, both in this thread: the work of the page's workers without workers. */

import { serveAnalysis } from '../worker/analysis/serve-analysis.ts';
import type { SessionApi } from '../worker/protocol.ts';
import { createSession } from '../worker/session.ts';
import { bytesSource } from './byte-source.ts';
import { captureBytes } from './captures.ts';
import { InThreadWorker } from './in-thread-worker.ts';
import { nodeClock } from './node-clock.ts';

/**
 * A session that opens captures by name: `{ kind: 'url', url: 'leak_forward_hook' }`.
 * @param bytesOf a snapshot's bytes by name, if it is not in fixtures/
 */
export function captureSession(
  bytesOf = (name: string) => captureBytes(`${name}.pickle.gz`),
): SessionApi {
  return createSession({
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
  await session.open({ source: { kind: 'url', url: name } });
  return session;
}

export const analysisWorker = (): InThreadWorker =>
  new InThreadWorker((page) => serveAnalysis(page, nodeClock));
