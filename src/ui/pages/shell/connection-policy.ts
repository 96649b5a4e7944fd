/**
 * The servers that the page may talk to: its own, and the one that `?snapshot=` names.
 *
 * index.html has a Content-Security-Policy that allows nothing but our own scripts; it cannot know
 * the address that a link names, so it leaves connections to any host open. This narrows them
 * before the first one is made. An added policy can't be taken back or widened, and workers inherit it
 * (src/worker/start-worker.ts).
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
 * @param snapshotUrl as the link has it; what is not an address allows nothing more
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
