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
  let archive: ArchiveChoice | undefined;
  let zipFilesTried = 0;

  async function layer(
    from: OpenBytes,
    outer: Container | undefined,
    depth: number,
  ): Promise<Layer<T>> {
    if (depth > MAX_DEPTH) throw tooNested();
    const cursor = new ByteCursor(from());
    try {
      const found = sniff(await cursor.peek(HEAD_BYTES));
      if (found.kind === 'foreign') throw foreignError(found.format, outer);
      const { container } = found;
      const inner = async (bytes: OpenBytes) => (await layer(bytes, container, depth + 1)).payload;
      return { payload: await contentOf(container, firstFrom(cursor, from), inner), container };
    } finally {
      await cursor.close();
    }
  }

  async function contentOf(container: Container, bytes: OpenBytes, inner: Inner<T>): Promise<T> {
    switch (container) {
      case 'pickle':
      case 'json':
      case 'compact':
        return read(container, bytes);
      case 'gzip':
        return inner(() => gunzip(platform, bytes));
      // Few files need these, so load them on demand.
      case 'zstd': {
        const { unzstd } = await import('./zstd.ts');
        return inner(() => unzstd(bytes()));
      }
      case 'html': {
        const { embeddedFile } = await import('./html.ts');
        return inner(() => embeddedFile(bytes()));
      }
      case 'zip':
        return firstInZip(bytes, inner);
    }
  }

  async function firstInZip(bytes: OpenBytes, inner: Inner<T>): Promise<T> {
    const zip = await import('./zip.ts');
    const entries = await zip.readDirectory(bytes());
    if (entries === undefined) return inner(() => zip.salvageEntry(platform, bytes));
    if (zip.hasCheckpoint(entries)) throw foreignError(TORCH_CHECKPOINT, undefined);
    if (zip.hasOnlyArrays(entries)) {
      const what = 'an archive of NumPy arrays (.npz)';
      throw foreignError({ code: 'numpy', what, advice: SNAPSHOT_ADVICE }, undefined);
    }
    for (const [i, entry] of entries.slice(0, MAX_ZIP_FILES).entries()) {
      if (++zipFilesTried > MAX_ZIP_FILES_IN_ALL) break;
      try {
        const payload = await inner(() => zip.openEntry(platform, bytes, entry));
        archive = { opened: entry.name, unread: entries.slice(i + 1).map(({ name }) => name) };
        return payload;
      } catch (error) {
        if (!isNoSnapshot(error) || entries.length === 1) throw error;
      }
    }
    throw zip.zipWithoutSnapshot(entries);
  }

  const outermost = await layer(open, undefined, 0);
  return { ...outermost, archive };
}

/** Unwraps the next layer. */
type Inner<T> = (open: OpenBytes) => Promise<T>;

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
