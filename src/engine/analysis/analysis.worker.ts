/** The analysis worker: waits for the ports to the page and to the session worker. */
import { createYield } from '../yield-task.ts';
import { serveAnalysis } from './serve-analysis.ts';

self.addEventListener('message', ({ ports: [page, session] }) => {
  if (page === undefined || session === undefined) return;
  serveAnalysis(page, session, { now: () => performance.now(), yieldTask: createYield() });
});
