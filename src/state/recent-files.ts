/**
 * The files that the user opened before, for those who asked the page to remember them (Preferences.remembersFiles).
 * In IndexedDB, because nothing else stores handles; their content stays where it is.
 */
import { LatestOnly } from '../base/latest-only.ts';
import { LoadError } from '../base/load-error.ts';
import type { OpenSource } from '../worker/protocol.ts';
import { type DiskHandle, handleOf, readHandle } from './disk-files.ts';
import { fileSource } from './given-files.ts';

export interface RecentFile {
  readonly id: string;
  readonly name: string;
  /** Of the file as it was opened last. */
  readonly bytes: number;
  readonly writtenMs: number;
  /** Undefined if the file was closed before its analysis ended. */
  readonly verdict: string | undefined;
  readonly openedMs: number;
  readonly handle: DiskHandle;
  /** NAME.holders.json and such, which were given with it. */
  readonly beside: Readonly<Record<string, DiskHandle>>;
}

const DATABASE = 'vramscope.recent-files';
const STORE = 'files';
/** Beyond, the file that was opened longest ago is forgotten. */
const MOST = 8;

function settled<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

/** Each call opens the database anew: an open one would keep another tab from forgetting it. */
async function withStore<T>(
  mode: IDBTransactionMode,
  work: (store: IDBObjectStore) => IDBRequest<T>,
): Promise<T> {
  const opening = indexedDB.open(DATABASE, 1);
  opening.onupgradeneeded = () => opening.result.createObjectStore(STORE, { keyPath: 'id' });
  const database = await settled(opening);
  try {
    return await settled(work(database.transaction(STORE, mode).objectStore(STORE)));
  } finally {
    database.close();
  }
}

/** The file opened last comes first. */
export async function recentFiles(): Promise<readonly RecentFile[]> {
  const files: readonly RecentFile[] = await withStore('readonly', (store) => store.getAll());
  return [...files].sort((a, b) => b.openedMs - a.openedMs);
}

export const forgetFile = (id: string): Promise<undefined> =>
  withStore('readwrite', (store) => store.delete(id));

export async function forgetAllFiles(): Promise<void> {
  await settled(indexedDB.deleteDatabase(DATABASE));
}

/** One at a time, since each looks first whether its file is listed already. */
const writes = new LatestOnly();

/** Lists the file, first at once and later with its verdict. Does nothing for a file without a handle. */
export async function rememberFile(source: OpenSource, verdict: string | undefined): Promise<void> {
  const handle = source.kind === 'blob' ? handleOf(source.blob) : undefined;
  if (source.kind !== 'blob' || handle === undefined || !(source.blob instanceof File)) return;
  const { name, size: bytes, lastModified: writtenMs } = source.blob;
  const beside = Object.entries(source.beside ?? {}).flatMap(([kind, file]) => {
    const own = handleOf(file);
    return own === undefined ? [] : [[kind, own] as const];
  });
  const openedMs = Date.now();
  await writes.run(async () => {
    const listed = await recentFiles();
    const isListed = await Promise.all(listed.map((file) => file.handle.isSameEntry(handle)));
    const [before] = listed.filter((_, i) => isListed[i]);
    const id = before?.id ?? crypto.randomUUID();
    const file: RecentFile = {
      id,
      name,
      bytes,
      writtenMs,
      // Of the same content, unless the file was written since.
      verdict: verdict ?? (before?.writtenMs === writtenMs ? before.verdict : undefined),
      openedMs,
      handle,
      beside: Object.fromEntries(beside),
    };
    await withStore('readwrite', (store) => store.put(file));
    const others = listed.filter((one) => one !== before);
    for (const one of others.slice(MOST - 1)) await forgetFile(one.id);
  });
}

/**
 * Asks the browser whether the page may read the file, so call it in a click's handler.
 * @throws LoadError if it may not, or if the file is gone
 */
export async function openRecent({ name, handle, beside }: RecentFile): Promise<OpenSource> {
  const file = await readAllowed(handle, name);
  const others = Object.entries(beside).map(async ([kind, own]) => {
    // The snapshot opens without what has gone since.
    return [kind, await readAllowed(own, own.name).catch(() => undefined)];
  });
  return fileSource(file, Object.fromEntries(await Promise.all(others)));
}

async function readAllowed(handle: DiskHandle, name: string): Promise<File> {
  const permission = await handle.requestPermission?.({ mode: 'read' });
  if (permission !== undefined && permission !== 'granted') {
    throw new LoadError({
      code: 'refused',
      message: `Your browser did not let the page read ${name}.`,
      advice: 'Click it again and allow it, or choose the file.',
    });
  }
  try {
    return await readHandle(handle);
  } catch (error) {
    if ((error as DOMException).name !== 'NotFoundError') throw error;
    throw new LoadError({
      code: 'gone',
      message: `${name} is no longer there.`,
      advice: 'It was moved, renamed or deleted.',
    });
  }
}
