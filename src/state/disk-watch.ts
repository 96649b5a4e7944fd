/** Whether the open file has changed on disk since it was read. */
import { startTimer } from '../base/task.ts';
import type { Beside, OpenSource } from '../worker/protocol.ts';
import { handleOf, readHandle } from './disk-files.ts';
import { fileSource } from './given-files.ts';

/**
 * Names the content of a source: it changes whenever the file is written. Undefined if the page can't look again: a
 * file without a handle, or any server but the one that `vramscope FILE` runs on this machine.
 */
export async function versionOf(source: OpenSource): Promise<string | undefined> {
  if (source.kind === 'url') return servedVersion(new URL(source.url, document.baseURI));
  return source.blob instanceof File ? versionOfFile(source.blob) : undefined;
}

/** Whether the page can look at it again. */
export const isWatchable = (source: OpenSource): boolean =>
  source.kind === 'url' || handleOf(source.blob) !== undefined;

/** As {@link versionOf}, now. @throws Error if the file is gone */
export async function versionNow(source: OpenSource): Promise<string | undefined> {
  if (source.kind === 'url') return versionOf(source);
  return versionOfFile(await handleOf(source.blob)?.getFile());
}

const versionOfFile = (file: File | undefined) => file && `${file.lastModified} ${file.size}`;

async function servedVersion(url: URL): Promise<string | undefined> {
  const isLocal = /^(127\.0\.0\.1|localhost|\[::1\])$/.test(url.hostname);
  if (!isLocal || url.origin !== window.location.origin) return undefined;
  const { ok, headers } = await fetch(url, { method: 'HEAD', cache: 'no-store' });
  return ok ? (headers.get('etag') ?? headers.get('last-modified') ?? undefined) : undefined;
}

/** The source with the content that is on disk now. @throws Error if the file is gone */
export async function readAgain(source: OpenSource): Promise<OpenSource> {
  if (source.kind === 'url') return { ...source };
  const handle = handleOf(source.blob);
  if (handle === undefined) return source;
  const beside = Object.entries(source.beside ?? {}).map(async ([kind, file]) => {
    const own = handleOf(file);
    // What its program no longer writes does not describe the new file.
    return [kind, own && (await readHandle(own).catch(() => undefined))];
  });
  const found: Beside<File> = Object.fromEntries(await Promise.all(beside));
  return fileSource(await readHandle(handle), source.beside && found);
}

/** Between two looks. A look is one stat of the file, or one request without a body. */
const LOOK_MS = 4000;
/** After a look that found another version: the file may still be being written. */
const SETTLE_MS = 1000;
/** After a look that failed: the server has ended, or the file is gone. */
const FAILED_MS = 15_000;

interface WatchOptions {
  /** The version that is open. */
  readonly opened: string;
  readonly look: () => Promise<string | undefined>;
  readonly page: Pick<Document, 'visibilityState' | 'addEventListener' | 'removeEventListener'>;
  /** Called for every version that two looks in a row have found, the open one included. */
  readonly onVersion: (version: string) => void;
}

/** Looks while the page is visible, at once when it becomes so. Call the result to end. */
export function watchDisk({ opened, look, page, onVersion }: WatchOptions): () => void {
  let seen = opened;
  let isLooking = false;
  let stopTimer = startTimer(LOOK_MS, () => void next());
  let isOver = false;

  /** Looks once; returns how long to wait for the next look. */
  async function lookOnce(): Promise<number> {
    const version = await look().catch(() => undefined);
    if (version === undefined) return FAILED_MS;
    const isSettled = version === seen;
    seen = version;
    if (isSettled && !isOver) onVersion(version);
    return isSettled ? LOOK_MS : SETTLE_MS;
  }

  async function next(): Promise<void> {
    if (isLooking || page.visibilityState !== 'visible') return;
    stopTimer();
    isLooking = true;
    const pauseMs = await lookOnce();
    isLooking = false;
    if (!isOver) stopTimer = startTimer(pauseMs, () => void next());
  }

  const onVisible = () => void next();
  page.addEventListener('visibilitychange', onVisible);
  return () => {
    isOver = true;
    stopTimer();
    page.removeEventListener('visibilitychange', onVisible);
  };
}
