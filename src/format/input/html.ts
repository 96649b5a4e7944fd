/**
 * The page that `torch.cuda._memory_viz trace_plot` writes: the pickle in base64 in a line
 * `const local_files = [{"name": "snapshot.pickle", "base64": "gASV…"}]`.
 */
import { LoadError } from '../../base/load-error.ts';
import { ByteCursor, type ByteStream } from './byte-cursor.ts';
import { cutShortError } from './failures.ts';
import { latin1, SNAPSHOT_ADVICE } from './sniff.ts';

const MARKER = /["']?base64["']?\s*:\s*(["'])/;
/** Longest piece of the marker that may lie in one chunk while its end lies in the next. */
const MARKER_CARRY = 64;
/**
 * How far into the page the data may begin. trace_plot's begin after 300 bytes; a page of another
 * viewer with its libraries inside has a few megabytes before. A bomb of blanks ends here.
 */
const MAX_BYTES_BEFORE_DATA = 64 * 2 ** 20;

/** The value of each base64 digit. Bytes that are none have 64: padding and line breaks are skipped. */
const DIGITS = new Uint8Array(256).fill(64);
for (let i = 0; i < 64; i++) {
  DIGITS['ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'.charCodeAt(i)] = i;
}

/**
 * The bytes of the first embedded file. PyTorch pads them with one to three NULs after the pickle.
 * @throws LoadError 'html-without-snapshot' when there is none, 'truncated' when the page breaks off in it
 */
export async function* embeddedFile(input: ByteStream): AsyncGenerator<Uint8Array> {
  const cursor = new ByteCursor(input);
  try {
    const quote = await skipToData(cursor);
    const decoder = new Base64Decoder();
    for await (const chunk of cursor.take()) {
      const end = chunk.indexOf(quote);
      yield decoder.decode(end < 0 ? chunk : chunk.subarray(0, end));
      if (end >= 0) return;
    }
    throw cutShortError('HTML', decoder.decodedBytes);
  } finally {
    await cursor.close();
  }
}

/** Leaves the cursor behind the quote that opens the base64 text, and returns that quote's byte. */
async function skipToData(cursor: ByteCursor): Promise<number> {
  const window = 1 << 16;
  while (cursor.offset < MAX_BYTES_BEFORE_DATA) {
    const bytes = await cursor.peek(window);
    const match = MARKER.exec(latin1(bytes));
    if (match !== null) {
      await cursor.skip(match.index + match[0].length);
      return match[1].charCodeAt(0);
    }
    if (bytes.length < window) break;
    await cursor.skip(window - MARKER_CARRY);
  }
  throw new LoadError({
    code: 'html-without-snapshot',
    message: 'This web page contains no memory snapshot.',
    advice: `${SNAPSHOT_ADVICE} Pages written by trace_plot contain one; the viewer's own page does not.`,
  });
}

/** Streaming: up to three digits wait for the next chunk. */
class Base64Decoder {
  decodedBytes = 0;
  #bits = 0;
  #bitCount = 0;

  decode(text: Uint8Array): Uint8Array {
    const bytes = new Uint8Array(((text.length + 4) * 3) >> 2);
    let length = 0;
    let bits = this.#bits;
    let bitCount = this.#bitCount;
    for (let i = 0; i < text.length; i++) {
      const digit = DIGITS[text[i]];
      if (digit > 63) continue;
      // Never more than 6 + 6 bits are open; older ones are shifted out of the byte that is stored.
      bits = ((bits & 0x3f) << 6) | digit;
      bitCount += 6;
      if (bitCount < 8) continue;
      bitCount -= 8;
      bytes[length++] = bits >> bitCount;
    }
    this.#bits = bits;
    this.#bitCount = bitCount;
    this.decodedBytes += length;
    return bytes.subarray(0, length);
  }
}
