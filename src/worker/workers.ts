/** How each worker is started. The build of one file has workers.single.ts in place of this. */
import analysisScript from './analysis/analysis.worker.ts?worker&url';
import ranksScript from './ranks/ranks.worker.ts?worker&url';
import sessionScript from './session.worker.ts?worker&url';

export const newSessionWorker = (): Worker => startWorker(sessionScript);
export const newAnalysisWorker = (): Worker => startWorker(analysisScript);
export const newRanksWorker = (): Worker => startWorker(ranksScript);

/**
 * Starts a worker of ours under the page's Content-Security-Policy.
 *
 * A worker that is started from an address has the policy of that address's headers, and a static
 * host sends none: such a worker could talk to anyone. One that is started from a blob has the
 * policy of the page that made it; so the blob imports the script, and the policy holds there too.
 *
 * @param address the built script: `import address from './x.worker.ts?worker&url'`
 * @source https://w3c.github.io/webappsec-csp/#initialize-global-object-csp
 */
function startWorker(address: string): Worker {
  const { href } = new URL(address, document.baseURI);
  const script = new Blob([`import ${JSON.stringify(href)};`], { type: 'text/javascript' });
  return new Worker(URL.createObjectURL(script), { type: 'module' });
}
