/**
 * What the service worker keeps beside the page itself, once it was asked for: samples and the page
 * in one file, which are as large as all the rest.
 */

/**
 * Whether an address is one of ours. Runs in the service worker, into which its text is copied: it
 * may use nothing of this file.
 *
 * A snapshot is never kept: neither of another site, nor of this one under another path, nor one that
 * is asked for with a query.
 * @param {{ url: URL }} request
 */
export function isOwnFile({ url }) {
  const { scope } = self.registration;
  if (!url.href.startsWith(scope)) return false;
  return /^(samples\/[\w-]+\.pickle\.gz|vramscope\.html)$/.test(url.href.slice(scope.length));
}

/** The caches of other versions begin so, too; src/ui/pages/shell/notices.tsx removes them. */
export const KEPT_FILES = 'kept-files-';
