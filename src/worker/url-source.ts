/** A file on a server as a ByteSource, with errors that users understand and no endless waiting. */
import { isAbortError } from '../base/errors.ts';
import { LoadError } from '../base/load-error.ts';
import { withinTime } from '../base/task.ts';
import type { ByteSource } from '../format/input/types.ts';

export interface UrlSourceOptions {
  /** Give up after this long without a byte. */
  readonly stallMs?: number;
  readonly fetch?: typeof fetch;
}

/** Long enough for a server that must wake up first; the user can cancel sooner. */
const STALL_MS = 30_000;

/**
 * Requests the file; resolves when the server responds. Rejects with LoadError: 'url-unreachable',
 * 'url-forbidden' (CORS), 'http-error', 'url-stalled'.
 */
export async function urlSource(url: string, options: UrlSourceOptions = {}): Promise<ByteSource> {
  let first: Transfer | undefined = await request(url, options);
  const announced = first.announcedBytes;
  let readBytes = 0;
  return {
    name: nameOf(url),
    /** The announced size, until the bytes prove it wrong. */
    get size() {
      return announced !== undefined && readBytes <= announced ? announced : undefined;
    },
    async *chunks() {
      const transfer = first ?? (await request(url, options));
      first = undefined;
      let count = 0;
      for await (const chunk of transfer.chunks()) {
        count += chunk.length;
        readBytes = Math.max(readBytes, count);
        yield chunk;
      }
    },
  };
}

interface Transfer {
  readonly announcedBytes: number | undefined;
  chunks(): AsyncIterable<Uint8Array>;
}

async function request(url: string, options: UrlSourceOptions): Promise<Transfer> {
  const { stallMs = STALL_MS, fetch: load = fetch } = options;
  const giveUp = new AbortController();
  /** Awaits one step of the transfer, and ends the transfer if the step takes too long. */
  const step = async <T>(work: Promise<T>): Promise<T> => {
    const result = await withinTime(work, stallMs);
    if (result !== undefined) return result;
    giveUp.abort();
    throw stalledError(url, stallMs);
  };

  const response = await step(load(url, { signal: giveUp.signal })).catch((error: unknown) =>
    explainFailure(error, url, load),
  );
  if (!response.ok) throw httpError(url, response);
  const { body } = response;
  return {
    announcedBytes: announcedBytes(response.headers),
    async *chunks() {
      const reader = body?.getReader();
      if (reader === undefined) return;
      try {
        for (;;) {
          const { done, value } = await step(reader.read()).catch((error: unknown) =>
            explainBreak(error, url),
          );
          if (done) return;
          yield value;
        }
      } finally {
        await reader.cancel().catch(() => undefined);
      }
    },
  };
}

/** With a content-encoding, the announced length is that of the encoded body, which we never see. */
function announcedBytes(headers: Headers): number | undefined {
  const length = headers.get('content-length');
  if (length === null || headers.has('content-encoding') || !/^\d+$/.test(length)) return undefined;
  return Number(length);
}

/** "https://host/runs/a%20b.pickle?token=1" is "a b.pickle"; without a path, the host. */
function nameOf(url: string): string {
  const { pathname, host } = new URL(url);
  const last = pathname.split('/').findLast((part) => part !== '');
  if (last === undefined) return host;
  try {
    return decodeURIComponent(last);
  } catch {
    return last;
  }
}

const OR_DOWNLOAD = 'or download the file and drop it here.';
const isExplained = (error: unknown) => error instanceof LoadError || isAbortError(error);

async function explainFailure(error: unknown, url: string, load: typeof fetch): Promise<never> {
  if (isExplained(error)) throw error;
  if (await answersWithoutCors(url, load)) {
    throw new LoadError({
      code: 'url-forbidden',
      message: `The server of ${url} does not allow other pages to read its files (CORS).`,
      advice:
        'Download the file and drop it here, or configure the server to send Access-Control-Allow-Origin.',
    });
  }
  const message = `${url} could not be reached.`;
  const advice = `Check the address and your connection, ${OR_DOWNLOAD}`;
  throw new LoadError({ code: 'url-unreachable', message, advice });
}

/** Fetch hides why it failed. If an opaque request succeeds, only CORS is in the way. */
async function answersWithoutCors(url: string, load: typeof fetch): Promise<boolean> {
  if (!/^https?:/.test(url)) return false;
  try {
    await load(url, { method: 'HEAD', mode: 'no-cors', signal: AbortSignal.timeout(5_000) });
    return true;
  } catch {
    return false;
  }
}

function explainBreak(error: unknown, url: string): never {
  if (isExplained(error)) throw error;
  const message = `The download of ${url} was interrupted.`;
  throw new LoadError({ code: 'url-broken-off', message, advice: `Try again, ${OR_DOWNLOAD}` });
}

function httpError(url: string, { status, statusText }: Response): LoadError {
  const text = statusText === '' ? '' : ` ${statusText}`;
  const message = `The server answered ${status}${text} for ${url}.`;
  const isMissing = status === 404;
  const check = isMissing ? 'the address' : 'that you can open the address without logging in';
  return new LoadError({ code: 'http-error', message, advice: `Check ${check}.` });
}

function stalledError(url: string, stallMs: number): LoadError {
  const message = `${url} sent no data for ${Math.round(stallMs / 1000)} s.`;
  return new LoadError({ code: 'url-stalled', message, advice: `Try again later, ${OR_DOWNLOAD}` });
}
