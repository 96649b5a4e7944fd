/**
 * Limits the servers that the page may connect to: its own, and the one that `?snapshot=` names. The
 * Content-Security-Policy in index.html allows only our own scripts but connections to any host, because it can't know
 * the link's address. This policy narrows that before the first connection. An added policy can't be removed or
 * widened, and workers inherit it (src/worker/workers.ts).
 */
export function limitConnections(document: Document, snapshotUrl: string | undefined): void {
  const policy = document.createElement('meta');
  policy.httpEquiv = 'Content-Security-Policy';
  policy.content = connectionPolicy(document.baseURI, snapshotUrl);
  document.head.append(policy);
}

/**
 * Example: on https://host/app/ with https://data.org/a.pickle?key=1 it is
 * "connect-src 'self' https://data.org".
 * @param snapshotUrl as in the link; an invalid URL adds nothing
 */
export function connectionPolicy(baseUrl: string, snapshotUrl: string | undefined): string {
  const { origin, protocol } = new URL(baseUrl);
  const own = protocol === 'file:' ? ['blob:'] : ["'self'"];
  const named = originOf(snapshotUrl, baseUrl);
  const all = named === undefined || named === origin ? own : [...own, named];
  return `connect-src ${all.join(' ')}`;
}

function originOf(url: string | undefined, baseUrl: string): string | undefined {
  if (url === undefined || !URL.canParse(url, baseUrl)) return undefined;
  const { origin, protocol } = new URL(url, baseUrl);
  return protocol === 'http:' || protocol === 'https:' ? origin : undefined;
}
