/** A file on a server as a ByteSource, with errors that users understand and no endless waiting. */
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
  const { stallMs = STALL_MS, fetch: load = fetch } = options;
  const giveUp = new AbortController();

  /** Awaits one step of a transfer, and ends the transfer if the step takes too long. */
  async function step<T>(work: Promise<T>): Promise<T> {
    const result = await withinTime(work, stallMs);
    if (result !== undefined) return result;
    giveUp.abort();
    const message = `${url} sent no data for ${Math.round(stallMs / 1000)} s.`;
    throw failed('url-stalled', message, `Try again later, ${OR_DOWNLOAD}`);
  }

  async function request(): Promise<Response> {
    const asked = load(url, { signal: giveUp.signal });
    const response = await step(asked.catch(() => explainFailure(url, load)));
    if (response.ok) return response;
    throw httpError(url, response);
  }

  let first: Response | undefined = await request();
  const announced = announcedBytes(first.headers);
  let readBytes = 0;
  return {
    name: nameOf(url),
    /** The announced size, until the bytes prove it wrong. */
    get size() {
      return announced !== undefined && readBytes <= announced ? announced : undefined;
    },
    async *chunks() {
      const { body } = first ?? (await request());
      first = undefined;
      const reader = body?.getReader();
      let count = 0;
      try {
        while (reader !== undefined) {
          const { done, value } = await step(reader.read().catch(() => explainBreak(url)));
          if (done) return;
          count += value.length;
          readBytes = Math.max(readBytes, count);
          yield value;
        }
      } finally {
        await reader?.cancel().catch(() => undefined);
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

const failed = (code: string, message: string, advice: string): LoadError =>
  new LoadError({ code, message, advice });

const OR_DOWNLOAD = 'or download the file and drop it here.';

async function explainFailure(url: string, load: typeof fetch): Promise<never> {
  if (await answersWithoutCors(url, load)) {
    throw failed(
      'url-forbidden',
      `The server of ${url} does not allow other pages to read its files (CORS).`,
      'Download the file and drop it here, or configure the server to send Access-Control-Allow-Origin.',
    );
  }
  const advice = `Check the address and your connection, ${OR_DOWNLOAD}`;
  throw failed('url-unreachable', `${url} could not be reached.`, advice);
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

function explainBreak(url: string): never {
  const message = `The download of ${url} was interrupted.`;
  throw failed('url-broken-off', message, `Try again, ${OR_DOWNLOAD}`);
}

function httpError(url: string, { status, statusText }: Response): LoadError {
  const text = statusText === '' ? '' : ` ${statusText}`;
  const isMissing = status === 404;
  const check = isMissing ? 'the address' : 'that you can open the address without logging in';
  return failed(
    'http-error',
    `The server answered ${status}${text} for ${url}.`,
    `Check ${check}.`,
  );
}
