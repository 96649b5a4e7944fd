/** From a file to the pickle or JSON inside it, through nested containers. */
import { LoadError } from '../../base/load-error.ts';
import type { Container } from '../snapshot/tables.ts';
import { ByteCursor, type OpenBytes } from './byte-cursor.ts';
import { foreignError, isNoSnapshot } from './failures.ts';
import { gunzip } from './gzip.ts';
import { HEAD_BYTES, SNAPSHOT_ADVICE, sniff, TORCH_CHECKPOINT } from './sniff.ts';
import type { Platform } from './types.ts';

/** gzip in zip in HTML in gzip is as odd as it gets. The limit also stops files that contain themselves. */
const MAX_DEPTH = 4;
/** Files to try in an archive, nested archives included. Each try reads the archive from its start. */
const MAX_ZIP_FILES = 16;
const MAX_ZIP_FILES_IN_ALL = 24;

/** Reads the innermost bytes. May call `open` again to reread them. */
export type PayloadReader<T> = (kind: 'pickle' | 'json' | 'compact', open: OpenBytes) => Promise<T>;

interface Layer<T> {
  readonly payload: T;
  /** The outermost container: 'gzip' for a gzipped pickle. */
  readonly container: Container;
}

export interface Unwrapped<T> extends Layer<T> {
  /** For a zip with several files: the one that was opened, and the later ones that were not examined. */
  readonly archive: ArchiveChoice | undefined;
}

export interface ArchiveChoice {
  readonly opened: string;
  readonly unread: readonly string[];
}

/**
 * Finds the payload behind `open` and passes it to `read`. In a zip with several files, skips those without a snapshot.
 * @throws LoadError for files that hold no snapshot, or whose containers are damaged
 */
export async function unwrap<T>(
  platform: Platform,
  open: OpenBytes,
  read: PayloadReader<T>,
): Promise<Unwrapped<T>> {
  const unwrapper = new Unwrapper(platform, read);
  return { ...(await unwrapper.layer(open, undefined, 0)), archive: unwrapper.archive };
}

class Unwrapper<T> {
  readonly #platform: Platform;
  readonly #read: PayloadReader<T>;
  archive: ArchiveChoice | undefined;
  #zipFilesTried = 0;

  constructor(platform: Platform, read: PayloadReader<T>) {
    this.#platform = platform;
    this.#read = read;
  }

  async layer(open: OpenBytes, outer: Container | undefined, depth: number): Promise<Layer<T>> {
    if (depth > MAX_DEPTH) throw tooNested();
    const cursor = new ByteCursor(open());
    try {
      const found = sniff(await cursor.peek(HEAD_BYTES));
      if (found.kind === 'foreign') throw foreignError(found.format, outer);
      const { container } = found;
      const content = firstFrom(cursor, open);
      return { payload: await this.#content(container, content, depth), container };
    } finally {
      await cursor.close();
    }
  }

  async #content(container: Container, open: OpenBytes, depth: number): Promise<T> {
    switch (container) {
      case 'pickle':
      case 'json':
      case 'compact':
        return this.#read(container, open);
      case 'gzip':
        return this.#inner(() => gunzip(this.#platform, open), container, depth);
      // Few files need these, so load them on demand.
      case 'zstd': {
        const { unzstd } = await import('./zstd.ts');
        return this.#inner(() => unzstd(open()), container, depth);
      }
      case 'html': {
        const { embeddedFile } = await import('./html.ts');
        return this.#inner(() => embeddedFile(open()), container, depth);
      }
      case 'zip':
        return this.#zip(open, depth);
    }
  }

  async #inner(open: OpenBytes, container: Container, depth: number): Promise<T> {
    return (await this.layer(open, container, depth + 1)).payload;
  }

  async #zip(open: OpenBytes, depth: number): Promise<T> {
    // Few files need it, so load it on demand.
    const zip = await import('./zip.ts');
    const entries = await zip.readDirectory(open());
    if (entries === undefined) {
      return this.#inner(() => zip.salvageEntry(this.#platform, open), 'zip', depth);
    }
    if (zip.hasCheckpoint(entries)) throw foreignError(TORCH_CHECKPOINT, undefined);
    if (zip.hasOnlyArrays(entries)) {
      const what = 'an archive of NumPy arrays (.npz)';
      throw foreignError({ code: 'numpy', what, advice: SNAPSHOT_ADVICE }, undefined);
    }
    for (const [i, entry] of entries.slice(0, MAX_ZIP_FILES).entries()) {
      if (++this.#zipFilesTried > MAX_ZIP_FILES_IN_ALL) break;
      try {
        const openFile = () => zip.openEntry(this.#platform, open, entry);
        const payload = await this.#inner(openFile, 'zip', depth);
        const unread = entries.slice(i + 1).map(({ name }) => name);
        this.archive = { opened: entry.name, unread };
        return payload;
      } catch (error) {
        if (!isNoSnapshot(error) || entries.length === 1) throw error;
      }
    }
    throw zip.zipWithoutSnapshot(entries);
  }
}

/** The first call continues what the cursor has begun to read; later calls start over. */
function firstFrom(cursor: ByteCursor, open: OpenBytes): OpenBytes {
  let isFirst = true;
  return () => {
    if (!isFirst) return open();
    isFirst = false;
    return cursor.take();
  };
}

function tooNested(): LoadError {
  return new LoadError({
    code: 'too-nested',
    message: `This file is compressed more than ${MAX_DEPTH} times over.`,
    advice: 'Unpack it and open the snapshot inside.',
  });
}
