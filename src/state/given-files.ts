/**
 * What the page does with the files a user drops, pastes or chooses:
 *
 *   one file                  → opened
 *   two files                 → compared, in the order given
 *   one or two, with one open → ambiguous, so the page asks
 *   three or more, a folder   → the ranks of one job; from there they can be compared as a series
 *   summaries of ranks        → also ranks, however few: they contain no snapshot to open
 */
import type { OpenSource } from '../worker/protocol.ts';

export interface GivenFiles {
  readonly files: readonly File[];
  /** Folders as entries. Each also appears in `files`, as an unreadable file. */
  readonly folders: readonly FileSystemEntry[];
  /** Chosen with a button that says what it does, so the page need not ask. */
  readonly isChosen?: true;
}

export interface GivenRoutes {
  open(source: OpenSource): void;
  compare(a: OpenSource, b: OpenSource): void;
  ranks(given: GivenFiles): void;
  /** Undefined if no file is open. */
  readonly ask: ((given: GivenFiles) => void) | undefined;
}

/** Takes the first matching route; does nothing without files. */
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

/** Call this inside the event handler: the transfer is empty afterwards. */
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
