/** Starts each worker. The single-file build uses workers.single.ts instead. */
import analysisScript from './analysis/analysis.worker.ts?worker&url';
import ranksScript from './ranks/ranks.worker.ts?worker&url';
import sessionScript from './session.worker.ts?worker&url';

export const newSessionWorker = (): Worker => startWorker('session', sessionScript);
export const newAnalysisWorker = (): Worker => startWorker('analysis', analysisScript);
export const newRanksWorker = (): Worker => startWorker('ranks', ranksScript);

/**
 * Starts a worker under the page's Content-Security-Policy.
 *
 * A worker started from a URL gets its policy from that URL's headers. A static host sends none, so the worker could
 * talk to anyone. A worker started from a blob inherits the policy of the page; so the blob imports the script.
 *
 * @param name what the browser's tools call it
 * @param address the built script: `import address from './x.worker.ts?worker&url'`
 * @source https://w3c.github.io/webappsec-csp/#initialize-global-object-csp
 */
function startWorker(name: string, address: string): Worker {
  const { href } = new URL(address, document.baseURI);
  const script = new Blob([`import ${JSON.stringify(href)};`], { type: 'text/javascript' });
  return new Worker(URL.createObjectURL(script), { type: 'module', name });
}
