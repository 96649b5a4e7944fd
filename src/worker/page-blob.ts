/**
 * A file that the page reads for its worker. In a page opened from disk, WebKit gives workers another origin, and
 * they cannot read a file that the page was given.
 */
import { errorText } from '../base/errors.ts';
import { LoadError } from '../base/load-error.ts';
import { connect, inThisThread, type Method, serve, transferring } from './rpc.ts';

/** The used part of a Blob. */
export interface ReadableBlob extends Pick<Blob, 'size' | 'type'> {
  slice(from: number, to: number): Pick<Blob, 'arrayBuffer'>;
  /** Only in some browsers. */
  stream?(): Blob['stream'] extends () => infer Stream ? Stream : never;
}

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
export function pageBlob(
  port: MessagePort,
  { size, type }: Pick<Blob, 'size' | 'type'>,
): ReadableBlob {
  const { call } = connect<PageBlobMethods>(port);
  const arrayBuffer = async (from: number, to: number) => (await call('read', { from, to })).buffer;
  return { size, type, slice: (from, to) => ({ arrayBuffer: () => arrayBuffer(from, to) }) };
}
