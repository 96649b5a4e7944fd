/**
 * The page that `torch.cuda._memory_viz trace_plot` writes. It holds the pickle as base64 in a line `const local_files
 * = [{"name": "snapshot.pickle", "base64": "gASV…"}]`.
 */
import { latin1 } from '../../base/bytes.ts';
import { LoadError } from '../../base/load-error.ts';
import { ByteCursor, type ByteStream } from './byte-cursor.ts';
import { cutShortError } from './failures.ts';
import { SNAPSHOT_ADVICE } from './sniff.ts';

const MARKER = /["']?base64["']?\s*:\s*(["'])/;
/** Bytes to carry over from one chunk to the next: the marker may lie across both. */
const MARKER_CARRY = 64;
/**
 * How far into the page the data may begin. In trace_plot's pages it begins after 300 bytes; another viewer's page with
 * embedded libraries may have a few megabytes before it. The limit stops bombs of blanks.
 */
const MAX_BYTES_BEFORE_DATA = 64 * 2 ** 20;

/** The value of each base64 digit; 64 marks other bytes. Padding and line breaks are skipped. */
const DIGITS = new Uint8Array(256).fill(64);
for (let i = 0; i < 64; i++) {
  DIGITS['ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'.charCodeAt(i)] = i;
}

/**
 * The bytes of the first embedded file. PyTorch pads them with one to three NULs after the pickle.
 * @throws LoadError 'html-without-snapshot' when there is none, 'truncated' when the page breaks off inside it
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

/** Moves the cursor past the quote that opens the base64 text and returns that quote's byte. */
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

/** A streaming decoder: up to three digits wait for the next chunk. */
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
      // At most 6 + 6 bits are pending; older bits are shifted out of the stored byte.
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
