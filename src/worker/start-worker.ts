/**
 * Starts a worker under the page's Content-Security-Policy.
 *
 * A worker started from a URL gets its policy from that URL's headers. A static host sends none, so the worker could
 * talk to anyone. A worker started from a blob inherits the policy of whoever made it; so the blob imports the script.
 *
 * @param name what the browser's tools call it
 * @param script its address: `import script from './x.worker.ts?worker&url'`
 * @source https://w3c.github.io/webappsec-csp/#initialize-global-object-csp
 */
export function startWorker(name: string, script: string): Worker {
  const { href } = new URL(script, import.meta.url);
  const blob = new Blob([`import ${JSON.stringify(href)};`], { type: 'text/javascript' });
  return new Worker(URL.createObjectURL(blob), { type: 'module', name });
}
