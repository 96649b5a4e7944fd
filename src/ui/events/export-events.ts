/** The listed events as a CSV file, read from the worker in pieces so that the page stays alive. */
import { CSV_HEADER } from '../../core/lists/events-csv.ts';
import type { EventChoice } from '../../engine/handlers/event-list.ts';
import type { SessionApi } from '../../engine/protocol.ts';

/** The worker takes some 50 ms for them: a hover waits no longer. */
const PIECE_ROWS = 5000;

export interface EventExport {
  readonly session: Pick<SessionApi, 'eventsCsv'>;
  readonly deviceIndex: number;
  readonly choice: EventChoice;
  readonly length: number;
  readonly signal: AbortSignal;
  /** Rows written so far. */
  readonly onProgress: (rows: number) => void;
}

/**
 * The parts of the file, in order. Each is a Blob: the browser may keep those on disk, and 5.8 M
 * events, 700 MB, are more than one string can hold. Rejects with an AbortError when cancelled.
 */
export async function exportEvents(wanted: EventExport): Promise<readonly Blob[]> {
  const { session, deviceIndex, choice, length, signal, onProgress } = wanted;
  const parts = [new Blob([CSV_HEADER])];
  for (let from = 0; from < length; from += PIECE_ROWS) {
    const to = Math.min(length, from + PIECE_ROWS);
    parts.push(new Blob([await session.eventsCsv({ deviceIndex, choice, from, to }, { signal })]));
    onProgress(to);
  }
  return parts;
}
