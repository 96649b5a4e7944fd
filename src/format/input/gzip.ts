import type { Gunzip } from 'fflate';
import { errorText, isAbortError } from '../../base/errors.ts';
import { LoadError } from '../../base/load-error.ts';
import type { ByteStream, OpenBytes } from './byte-cursor.ts';
import { cutShortError, damagedError } from './failures.ts';
import type { Platform } from './types.ts';

/** One piece handed to fflate: 8 kB of deflate is 8 MB at most when it is a bomb. */
const PIECE_BYTES = 8192;

/**
 * Decompresses gzip by the platform's own code, which is fast and checks the CRC.
 *
 * Browsers refuse a second member (`cat a.gz b.gz`, bgzip), and Node loses what it had buffered when
 * the data break off. So where the platform fails, a slower decoder goes on from the byte where it
 * stopped. It reads further members, whose CRC stays unchecked; a single damaged member still ends
 * in the platform's failure, after all that could be had of it.
 *
 * @param container whose data they are, for the message: a zip's entries come this way too
 * @throws LoadError 'truncated' or 'gzip-damaged', `byte` counting decompressed bytes
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
    // Few files need it: fetched when one does.
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
  /** gzip members met. */
  members = 1;
  /** What ended the data, undefined when they ended as they should. */
  failure: unknown;

  constructor(inflater: typeof Gunzip) {
    this.#inflater = inflater;
  }

  /** The decompressed bytes from `from` on; ends quietly at a fault and keeps it in `failure`. */
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
    const ending = new Ending();
    for await (const piece of pieces(input)) {
      ending.push(piece);
      this.#push(inflater, piece, false);
      for (const chunk of output.splice(0)) {
        if (chunk.length > toSkip) yield chunk.subarray(toSkip);
        toSkip = Math.max(0, toSkip - chunk.length);
      }
      if (this.failure !== undefined) return;
    }
    this.#push(inflater, new Uint8Array(0), true);
    for (const chunk of output) if (chunk.length > toSkip) yield chunk.subarray(toSkip);
    // fflate takes one cut in twelve for the end.
    if (ending.uint32 !== memberBytes >>> 0) this.failure ??= new Error('unexpected end of member');
  }

  #push(inflater: Gunzip, piece: Uint8Array, isLast: boolean): void {
    try {
      inflater.push(piece, isLast);
    } catch (failure) {
      this.failure = failure;
    }
  }
}

/** The last four bytes of a file; those of gzip are the length of its last member's data. */
class Ending {
  readonly #bytes = new Uint8Array(4);

  push(piece: Uint8Array): void {
    const tail = piece.subarray(-4);
    this.#bytes.copyWithin(0, tail.length);
    this.#bytes.set(tail, 4 - tail.length);
  }

  get uint32(): number {
    return new DataView(this.#bytes.buffer).getUint32(0, true);
  }
}

async function* pieces(input: ByteStream): AsyncGenerator<Uint8Array> {
  for await (const chunk of input) {
    for (let at = 0; at < chunk.length; at += PIECE_BYTES)
      // A copy, as the decompressor may keep what it has not used.
      yield chunk.slice(at, at + PIECE_BYTES);
  }
}
