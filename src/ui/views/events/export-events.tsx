import { Download, X } from 'lucide-react';
import { snapshotStem } from '../../../base/file-names.ts';
import { formatCount } from '../../../base/format.ts';
import { CSV_HEADER } from '../../../device/lists/rows-text.ts';
import { Button } from '../../shared/buttons.tsx';
import { useSaving } from '../../shared/saving.tsx';
import { useDevice } from '../../shared/services.ts';
import { useAsk } from '../../shared/use-query.ts';
import type { EventListing } from './use-event-list.ts';

/** Saves the listed events as CSV; long lists show progress and can be canceled. */
export function ExportButton({ listing: { choice, length } }: { readonly listing: EventListing }) {
  const { info } = useDevice();
  const ask = useAsk();
  const { state, save, cancel } = useSaving();
  const start = () =>
    save(`${snapshotStem(info.file.name)}.events.csv`, 'text/csv', (signal, onProgress) => {
      const read = (from: number, to: number) => ask('eventsCsv', { choice, from, to }, { signal });
      return exportEvents({ read, length, onProgress });
    });
  const isRunning = state.kind === 'working';
  return (
    <span className="inline-row event-export">
      {isRunning && <progress value={state.done} max={length} aria-label="Rows saved" />}
      {state.kind === 'failed' && <span role="alert">Not saved: {state.reason}</span>}
      {isRunning ? (
        <Button
          icon={X}
          title={`${formatCount(state.done)} of ${formatCount(length)} rows`}
          onClick={cancel}
        >
          Cancel
        </Button>
      ) : (
        <Button
          icon={Download}
          disabled={length === 0}
          title={`Save ${formatCount(length)} events as CSV`}
          onClick={() => void start()}
        >
          <span className="words">CSV</span>
        </Button>
      )}
    </span>
  );
}

/** The worker needs about 50 ms for this many, so a hover never waits longer. */
const PIECE_ROWS = 5000;

interface EventExport {
  /** Rows from `from` to before `to`, as CSV. */
  readonly read: (from: number, to: number) => Promise<string>;
  readonly length: number;
  readonly onProgress: (rows: number) => void;
}

/**
 * The parts of the file, in order. Each is a Blob, which the browser may keep on disk: 5.8 M events are 700 MB, more
 * than one string can hold. Rejects as `read` does.
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
