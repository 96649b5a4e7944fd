import type { Gunzip } from 'fflate';
import { errorText, isAbortError } from '../../base/errors.ts';
import { LoadError } from '../../base/load-error.ts';
import type { ByteStream, OpenBytes } from './byte-cursor.ts';
import { cutShortError, damagedError } from './failures.ts';
import type { Platform } from './types.ts';

/** Bytes passed to fflate at a time: even from a bomb, 8 kB of deflate expand to at most 8 MB. */
const PIECE_BYTES = 8192;

/**
 * Decompresses gzip with the platform's own code, which is fast and checks the CRC.
 *
 * Browsers refuse a second member (`cat a.gz b.gz`, bgzip), and Node loses buffered data when the file breaks off. So
 * where the platform fails, a slower decoder continues from the byte where it stopped. It reads further members without
 * checking their CRC. A single damaged member still ends with the platform's error, after all the data that could be
 * recovered.
 *
 * @param container the format named in error messages: entries of a zip also pass through here
 * @throws LoadError 'truncated' or 'gzip-damaged', with `byte` counting decompressed bytes
 */
export async function* gunzip(
  platform: Platform,
  open: OpenBytes,
  container = 'gzip',
): AsyncGenerator<Uint8Array> {
  let produced = 0;
  try {
    for await (const chunk of platform.gunzip(open())) {
      produced += chunk.length;
      yield chunk;
    }
  } catch (failure) {
    if (failure instanceof LoadError || isAbortError(failure)) throw failure;
    // Few files need it, so load it on demand.
    const { Gunzip } = await import('fflate');
    const rescue = new GzipRescue(Gunzip);
    for await (const chunk of rescue.run(open(), produced)) {
      produced += chunk.length;
      yield chunk;
    }
    if (rescue.failure === undefined && rescue.members > 1) return;
    throw gzipError(container, failure, rescue.failure, produced);
  }
}

/** Chromium: "Compressed input was truncated."; Node: "unexpected end of file". */
function gzipError(
  container: string,
  failure: unknown,
  rescueFailure: unknown,
  byte: number,
): LoadError {
  const text = errorText(failure);
  const isCut = /truncated|unexpected e(nd|of)/i.test(`${text} ${errorText(rescueFailure)}`);
  return isCut ? cutShortError(container, byte) : damagedError(container, text, byte);
}

class GzipRescue {
  readonly #inflater: typeof Gunzip;
  members = 1;
  /** The error that ended the data; undefined after a normal end. */
  failure: unknown;

  constructor(inflater: typeof Gunzip) {
    this.#inflater = inflater;
  }

  /** Yields the decompressed bytes from `from` on. On an error it ends quietly and keeps the error in `failure`. */
  async *run(input: ByteStream, from: number): AsyncGenerator<Uint8Array> {
    const output: Uint8Array[] = [];
    let memberBytes = 0;
    const inflater = new this.#inflater((chunk) => {
      memberBytes += chunk.length;
      output.push(chunk);
    });
    inflater.onmember = () => {
      this.members++;
      memberBytes = 0;
    };
    let toSkip = from;
    /** The last four bytes: in gzip, the data length of the last member. */
    const ending = new Uint8Array(4);
    for await (const piece of pieces(input)) {
      const tail = piece.subarray(-4);
      ending.copyWithin(0, tail.length);
      ending.set(tail, 4 - tail.length);
      this.#push(inflater, piece, false);
      for (const chunk of output.splice(0)) {
        if (chunk.length > toSkip) yield chunk.subarray(toSkip);
        toSkip = Math.max(0, toSkip - chunk.length);
      }
      if (this.failure !== undefined) return;
    }
    this.#push(inflater, new Uint8Array(0), true);
    for (const chunk of output) if (chunk.length > toSkip) yield chunk.subarray(toSkip);
    // fflate mistakes one truncated member in twelve for a complete one.
    const lastBytes = new DataView(ending.buffer).getUint32(0, true);
    if (lastBytes !== memberBytes >>> 0) this.failure ??= new Error('unexpected end of member');
  }

  #push(inflater: Gunzip, piece: Uint8Array, isLast: boolean): void {
    try {
      inflater.push(piece, isLast);
    } catch (failure) {
      this.failure = failure;
    }
  }
}

async function* pieces(input: ByteStream): AsyncGenerator<Uint8Array> {
  for await (const chunk of input) {
    for (let at = 0; at < chunk.length; at += PIECE_BYTES)
      // Copy: the decompressor may keep input that it has not used yet.
      yield chunk.slice(at, at + PIECE_BYTES);
  }
}
