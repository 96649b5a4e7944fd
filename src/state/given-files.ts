/**
 * What the page does with the files a user drops, pastes or chooses:
 *
 *   one file                  → opened
 *   two files                 → compared, in the order given
 *   one or two, with one open → ambiguous, so the page asks
 *   three or more, a folder   → the ranks of one job; from there they can be compared as a series
 *   summaries of ranks        → also ranks, however few: they contain no snapshot to open
 *
 * NAME.holders.json, which vramscope.holders writes beside NAME.pickle, belongs to that file and does not count.
 */
import type { OpenSource } from '../worker/protocol.ts';

export interface GivenFiles {
  readonly files: readonly File[];
  /** Folders as entries. Each also appears in `files`, as an unreadable file. */
  readonly folders: readonly FileSystemEntry[];
  /** NAME.holders.json by the snapshot to which it belongs. */
  readonly holders?: ReadonlyMap<File, File>;
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

const HOLDERS = /\.holders\.json$/i;

/** Takes names from among the files and gives them to their snapshots: 'run.holders.json' to 'run.pickle.gz'. */
function withHolders(given: GivenFiles): GivenFiles {
  const names = given.files.filter(({ name }) => HOLDERS.test(name));
  const files = given.files.filter(({ name }) => !HOLDERS.test(name));
  if (names.length === 0 || files.length === 0) return given;
  const holders = new Map<File, File>();
  for (const file of files) {
    const own = names.find(({ name }) => file.name.startsWith(name.replace(HOLDERS, '.')));
    // Somebody may have renamed one of the two.
    const beside = own ?? (files.length === 1 ? names[0] : undefined);
    if (beside !== undefined) holders.set(file, beside);
  }
  return { ...given, files, holders };
}

/** Takes the first matching route; does nothing without files. */
export function routeGivenFiles(all: GivenFiles, routes: GivenRoutes): void {
  const given = withHolders(all);
  const [first, second, third] = given.files;
  if (first === undefined) return;
  const isJob =
    third !== undefined ||
    given.folders.length > 0 ||
    given.files.some(({ name }) => /\.vramscope\.json(\.gz)?$/i.test(name));
  if (isJob) routes.ranks(given);
  else if (routes.ask !== undefined && !given.isChosen) routes.ask(given);
  else if (second !== undefined) routes.compare(sourceOf(given, first), sourceOf(given, second));
  else routes.open(sourceOf(given, first));
}

/** Call this inside the event handler: the transfer is empty afterwards. */
export function filesOfTransfer(transfer: DataTransfer | null): GivenFiles {
  const entries = Array.from(transfer?.items ?? [], (item) => item.webkitGetAsEntry?.());
  return {
    files: [...(transfer?.files ?? [])],
    folders: entries.filter((entry) => entry?.isDirectory === true) as FileSystemEntry[],
  };
}

export const fileSource = (file: File, holders?: File): OpenSource => ({
  kind: 'blob',
  blob: file,
  name: file.name,
  ...(holders !== undefined && { holders }),
});

/** One of the files, with its names. */
export const sourceOf = ({ holders }: GivenFiles, file: File): OpenSource =>
  fileSource(file, holders?.get(file));
