/**
 * What it means to give the page one file, two, many, or a folder: decided here for dropping, pasting and
 * the file chooser alike.
 *
 *   one file                  → opened
 *   two files                 → compared, in the order they were given
 *   three or more, a folder   → the ranks of one job; from there they can be compared as a series
 *   summaries of ranks        → ranks too, however few: they hold no snapshot that could be opened
 *
 * A page without a route for several files opens the first of them.
 */
import type { OpenSource } from '../engine/protocol.ts';

/** What a drop, a paste or the file chooser handed over. */
export interface GivenFiles {
  readonly files: readonly File[];
  /** Folders by their entry; `files` has each of them too, as a file that cannot be read. */
  readonly folders: readonly FileSystemEntry[];
}

export interface GivenRoutes {
  open(source: OpenSource): void;
  compare?(a: OpenSource, b: OpenSource): void;
  ranks?(given: GivenFiles): void;
}

/** Takes the first route that fits; nothing given takes none. */
export function routeGivenFiles(given: GivenFiles, { open, compare, ranks }: GivenRoutes): void {
  const [first, second, third] = given.files;
  if (first === undefined) return;
  const isMany =
    third !== undefined ||
    given.folders.length > 0 ||
    given.files.some(({ name }) => isSummary(name));
  if (isMany && ranks !== undefined) ranks(given);
  else if (!isMany && second !== undefined && compare !== undefined) {
    compare(fileSource(first), fileSource(second));
  } else open(fileSource(first));
}

const isSummary = (name: string): boolean => /\.vramscope\.json(\.gz)?$/i.test(name);

/** Must be called in the event's handler: a transfer is empty afterwards. */
export function filesOfTransfer(transfer: DataTransfer | null): GivenFiles {
  const entries = Array.from(transfer?.items ?? [], (item) => item.webkitGetAsEntry?.());
  return {
    files: [...(transfer?.files ?? [])],
    folders: entries.filter((entry) => entry?.isDirectory === true) as FileSystemEntry[],
  };
}

export const fileSource = (file: File): OpenSource => ({
  kind: 'blob',
  blob: file,
  name: file.name,
});
