/** A worker of the ranks page: waits for the page's port and answers on it. */
import { blobSource } from '../blob-source.ts';
import { webPlatform } from '../gunzip.ts';
import { urlSource } from '../url-source.ts';
import { serveRanks } from './serve-ranks.ts';

self.addEventListener('message', ({ ports: [port], data }) => {
  if (port === undefined) return;
  serveRanks(port, {
    platform: webPlatform,
    version: String(data),
    sourceOf: (source) =>
      source.kind === 'blob' ? blobSource(source.blob, source.name) : urlSource(source.url),
  });
});
