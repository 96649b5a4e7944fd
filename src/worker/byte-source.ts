/** Where a worker's bytes come from, and how it unpacks them: web standards that browsers and Node 20 share. */
import type { ByteSource, Platform } from '../format/input/types.ts';
import { blobSource } from './blob-source.ts';
import { pageBlob } from './page-blob.ts';
import type { WireSource } from './protocol.ts';

/** Rejects with LoadError. */
export async function sourceOf(source: WireSource): Promise<ByteSource> {
  if (source.kind === 'blob') return blobSource(source.blob, source.name);
  if (source.kind === 'page') return blobSource(pageBlob(source.port, source), source.name);
  const { urlSource } = await import('./url-source.ts');
  return urlSource(source.url);
}

export const webPlatform: Platform = { gunzip };

/** Decompresses while reading; throws TypeError if the data is damaged or truncated. */
async function* gunzip(chunks: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  const iterator = chunks[Symbol.asyncIterator]();
  const packed = new ReadableStream<BufferSource>({
    async pull(controller) {
      const { done, value } = await iterator.next();
      if (done) controller.close();
      // Copied, since the stream may use the chunk after it is no longer lent to us.
      else controller.enqueue(new Uint8Array(value));
    },
    cancel: () => void iterator.return?.().catch(() => undefined),
  });
  const reader = packed.pipeThrough(new DecompressionStream('gzip')).getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
