/**
 * What the page does with the files a user drops, pastes or chooses:
 *
 *   one file                  → opened
 *   two files                 → compared, in the order given
 *   one or two, with one open → ambiguous, so the page asks
 *   three or more, a folder   → the ranks of one job, or the dumps of one process
 *   summaries of ranks        → also ranks, however few: they contain no snapshot to open
 *
 * NAME.holders.json and NAME.ledger.json, which the Python package writes beside NAME.pickle, belong to that file and do
 * not count.
 */
import type { Beside, OpenSource } from '../worker/protocol.ts';
import { noteDropped } from './disk-files.ts';

export interface GivenFiles {
  readonly files: readonly File[];
  /** Folders as entries. Each also appears in `files`, as an unreadable file. */
  readonly folders: readonly FileSystemEntry[];
  /** NAME.holders.json and such, by the snapshot to which they belong. */
  readonly beside?: ReadonlyMap<File, Beside<File>>;
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

const BESIDE = /\.(holders|ledger)\.json$/i;

/** Takes such files from among the others and gives them to their snapshots: 'run.holders.json' to 'run.pickle.gz'. */
function withBeside(given: GivenFiles): GivenFiles {
  const beside = given.files.filter(({ name }) => BESIDE.test(name));
  const files = given.files.filter(({ name }) => !BESIDE.test(name));
  if (beside.length === 0 || files.length === 0) return given;
  const kindOf = ({ name }: File) => BESIDE.exec(name)?.[1]?.toLowerCase() ?? '';
  const besideOf = (file: File): Beside<File> =>
    Object.fromEntries(
      beside
        // Somebody may have renamed one of the two; a name that fits comes last, so it wins.
        .map((own) => ({ own, fits: file.name.startsWith(own.name.replace(BESIDE, '.')) }))
        .filter(({ fits }) => fits || files.length === 1)
        .sort((a, b) => Number(a.fits) - Number(b.fits))
        .map(({ own }) => [kindOf(own), own]),
    );
  return { ...given, files, beside: new Map(files.map((file) => [file, besideOf(file)])) };
}

/** Takes the first matching route; does nothing without files. */
export function routeGivenFiles(all: GivenFiles, routes: GivenRoutes): void {
  const given = withBeside(all);
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
  const items = [...(transfer?.items ?? [])];
  const entries = items.map((item) => item.webkitGetAsEntry?.());
  const files = [...(transfer?.files ?? [])];
  noteDropped(files, items);
  return {
    files,
    folders: entries.filter((entry) => entry?.isDirectory === true) as FileSystemEntry[],
  };
}

export const fileSource = (file: File, beside?: Beside<File>): OpenSource => ({
  kind: 'blob',
  blob: file,
  name: file.name,
  ...(beside !== undefined && { beside }),
});

/** One of the files, with what was given beside it. */
export const sourceOf = ({ beside }: GivenFiles, file: File): OpenSource =>
  fileSource(file, beside?.get(file));
