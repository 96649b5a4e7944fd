import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import type { Platform } from '../format/input/types.ts';

/** zlib hands out pieces of this size: small ones cost a turn of the event loop each. */
const OUTPUT_BYTES = 1 << 20;

export const nodePlatform: Platform = {
  async *gunzip(chunks) {
    const inflater = createGunzip({ chunkSize: OUTPUT_BYTES });
    // What the source throws destroys the inflater with the same error, which the loop then throws.
    pipeline(Readable.from(copies(chunks)), inflater, () => undefined);
    for await (const chunk of inflater) yield toBytes(chunk);
  },
};

/** The inflater reads ahead, and a chunk is lent until the next is asked for. */
async function* copies(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) yield new Uint8Array(chunk);
}

function toBytes(chunk: unknown): Uint8Array {
  if (chunk instanceof Uint8Array) return chunk;
  throw new TypeError('A byte stream gave something else than bytes');
}
