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

/**
 * The bytes of the first embedded file. PyTorch pads them with one to three NULs after the pickle.
 * @throws LoadError 'html-without-snapshot' when there is none, 'truncated' when the page breaks off inside it
 */
export async function* embeddedFile(input: ByteStream): AsyncGenerator<Uint8Array> {
  const cursor = new ByteCursor(input);
  let decodedBytes = 0;
  let digits = '';
  try {
    const quote = await skipToData(cursor);
    for await (const chunk of cursor.take()) {
      const end = chunk.indexOf(quote);
      // Padding and line breaks are left out.
      digits += latin1(end < 0 ? chunk : chunk.subarray(0, end)).replace(/[^A-Za-z0-9+/]+/g, '');
      // Four digits are three bytes. Up to three wait for the next chunk; the last may be two or three.
      const isLast = end >= 0 && digits.length % 4 !== 1;
      const whole = isLast ? digits.length : digits.length - (digits.length % 4);
      const text = atob(digits.slice(0, whole));
      digits = digits.slice(whole);
      const bytes = new Uint8Array(text.length);
      for (let i = 0; i < bytes.length; i++) bytes[i] = text.charCodeAt(i);
      decodedBytes += bytes.length;
      yield bytes;
      if (end >= 0) return;
    }
    throw cutShortError('HTML', decodedBytes);
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
