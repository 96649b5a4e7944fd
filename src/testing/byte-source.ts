import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import type { ByteSource } from '../format/input/types.ts';

/** Bytes in memory as a source, in chunks of `chunkBytes`. Each chunk is overwritten when the next is requested. */
export function bytesSource(bytes: Uint8Array, name = 'test', chunkBytes = 1 << 16): ByteSource {
  return {
    name,
    size: bytes.length,
    async *chunks() {
      for (let at = 0; at < bytes.length; at += chunkBytes) {
        // Not slice(): on a Buffer it returns a view, so the original bytes would be overwritten.
        const lent = new Uint8Array(bytes.subarray(at, at + chunkBytes));
        yield lent;
        lent.fill(0xaa);
      }
    },
  };
}

const FIXTURES = new URL('../../fixtures/', import.meta.url);

/** A file of fixtures/, unchanged. */
export function fixture(name: string): Uint8Array {
  return new Uint8Array(readFileSync(new URL(name, FIXTURES)));
}

/** A file of fixtures/ decompressed: `gunzippedFixture('protocols.pickle')`. */
export function gunzippedFixture(name: string): Uint8Array {
  return new Uint8Array(gunzipSync(fixture(`${name}.gz`)));
}
