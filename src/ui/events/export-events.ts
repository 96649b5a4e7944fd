/** The listed events as a CSV file, read from the worker in pieces so that the page stays alive. */
import { CSV_HEADER } from '../../core/lists/rows-text.ts';

/** The worker takes some 50 ms for them: a hover waits no longer. */
const PIECE_ROWS = 5000;

export interface EventExport {
  /** Rows from `from` to before `to`, as CSV. */
  readonly read: (from: number, to: number) => Promise<string>;
  readonly length: number;
  /** Rows written so far. */
  readonly onProgress: (rows: number) => void;
}

/**
 * The parts of the file, in order. Each is a Blob: the browser may keep those on disk, and 5.8 M
 * events, 700 MB, are more than one string can hold. Rejects as `read` does.
 */
export async function exportEvents(wanted: EventExport): Promise<readonly Blob[]> {
  const { read, length, onProgress } = wanted;
  const parts = [new Blob([CSV_HEADER])];
  for (let from = 0; from < length; from += PIECE_ROWS) {
    const to = Math.min(length, from + PIECE_ROWS);
    parts.push(new Blob([await read(from, to)]));
    onProgress(to);
  }
  return parts;
}
