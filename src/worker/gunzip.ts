/** The platform interface of format/input, built on web standards that browsers and Node 20 share. */
import type { Platform } from '../format/input/types.ts';

export const webPlatform: Platform = { gunzip };

/** Decompresses while reading; throws TypeError if the data is damaged or truncated. */
async function* gunzip(chunks: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  const { readable, writable } = new DecompressionStream('gzip');
  const reader = readable.getReader();
  // An error from the source must reach the reader too, not only the writer's own promise.
  const writing = feed(chunks, writable.getWriter());
  writing.catch(() => undefined);
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      yield value;
    }
    await writing;
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

async function feed(
  chunks: AsyncIterable<Uint8Array>,
  writer: WritableStreamDefaultWriter<BufferSource>,
): Promise<void> {
  try {
    for await (const chunk of chunks) {
      await writer.ready;
      // Copied, since the stream may use the chunk after it is no longer lent to us.
      await writer.write(new Uint8Array(chunk));
    }
    await writer.close();
  } catch (error) {
    await writer.abort(error).catch(() => undefined);
    throw error;
  }
}
