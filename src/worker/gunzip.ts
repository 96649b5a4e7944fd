/** The platform interface of format/input, built on web standards that browsers and Node 20 share. */
import type { Platform } from '../format/input/types.ts';

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
