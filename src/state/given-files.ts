/**
 * What the page does with one file, two, many, or a folder. The same for dropping, pasting and the file chooser.
 *
 *   one file                  → opened
 *   two files                 → compared, in the order they were given
 *   one or two on an open one → may mean several things: the page asks
 *   three or more, a folder   → the ranks of one job; from there they can be compared as a series
 *   summaries of ranks        → ranks too, however few: they hold no snapshot that could be opened
 */
import type { OpenSource } from '../worker/protocol.ts';

/** What a drop, a paste or the file chooser handed over. */
export interface GivenFiles {
  readonly files: readonly File[];
  /** Folders as entries. Each is in `files` too, as a file that cannot be read. */
  readonly folders: readonly FileSystemEntry[];
  /** Chosen with a button that said what it would do, so there is nothing to ask. */
  readonly isChosen?: true;
}

export interface GivenRoutes {
  open(source: OpenSource): void;
  compare(a: OpenSource, b: OpenSource): void;
  ranks(given: GivenFiles): void;
  /** Undefined where no file is open. */
  readonly ask: ((given: GivenFiles) => void) | undefined;
}

/** Takes the first route that fits; nothing given takes none. */
export function routeGivenFiles(given: GivenFiles, routes: GivenRoutes): void {
  const [first, second, third] = given.files;
  if (first === undefined) return;
  const isJob =
    third !== undefined ||
    given.folders.length > 0 ||
    given.files.some(({ name }) => /\.vramscope\.json(\.gz)?$/i.test(name));
  if (isJob) routes.ranks(given);
  else if (routes.ask !== undefined && !given.isChosen) routes.ask(given);
  else if (second !== undefined) routes.compare(fileSource(first), fileSource(second));
  else routes.open(fileSource(first));
}

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
