/**
 * A file that the page reads for its worker. In a page opened from disk, WebKit gives workers another origin, and
 * they cannot read a file that the page was given.
 */
import { errorText } from '../base/errors.ts';
import { LoadError } from '../base/load-error.ts';
import { connect, inThisThread, type Method, serve, transferring } from './rpc.ts';

/** The used part of a Blob. Only some browsers can read a stream of it into our buffers. */
export type ReadableBlob = Pick<Blob, 'size' | 'type' | 'slice'> & Partial<Pick<Blob, 'stream'>>;

interface PageBlobMethods {
  readonly read: Method<{ readonly from: number; readonly to: number }, Uint8Array<ArrayBuffer>>;
}

/** Reads what the other end of the port requests, until that end closes. */
export const servePageBlob = (blob: Blob): MessagePort =>
  inThisThread((worker) =>
    serve<PageBlobMethods>(worker, {
      async read({ from, to }) {
        const buffer = await blob.slice(from, to).arrayBuffer().catch(unreadable);
        return transferring(new Uint8Array(buffer));
      },
    }),
  );

/** Keeps the browser's own words, to which the reader adds what to do. */
function unreadable(error: unknown): never {
  throw new LoadError({ code: 'unreadable', message: errorText(error) });
}

/** The worker's side of {@link servePageBlob}. */
export function pageBlob(port: MessagePort, { size, type }: Pick<Blob, 'size' | 'type'>) {
  const { call } = connect<PageBlobMethods>(port);
  const read = async (from = 0, to = size) => (await call('read', { from, to })).buffer;
  const slice = (from?: number, to?: number) => ({ arrayBuffer: () => read(from, to) }) as Blob;
  return { size, type, slice } satisfies ReadableBlob;
}
