/** The analysis worker: waits for the ports to the page and the session worker. */
import { createClock } from '../../base/task.ts';
import { serveAnalysis } from './serve-analysis.ts';

self.addEventListener('message', ({ ports: [page, session] }) => {
  if (page === undefined || session === undefined) return;
  serveAnalysis(page, session, createClock());
});
