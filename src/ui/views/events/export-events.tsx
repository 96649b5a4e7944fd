import { Download, X } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import { errorText } from '../../../base/errors.ts';
import { snapshotStem } from '../../../base/file-names.ts';
import { formatCount } from '../../../base/format.ts';
import { CSV_HEADER } from '../../../device/lists/rows-text.ts';
import { downloadText } from '../../shared/browser.ts';
import { useDevice, useServices } from '../../shared/services.ts';
import { useAsk } from '../../shared/use-query.ts';
import type { EventListing } from './use-event-list.ts';

type Export =
  | { readonly phase: 'idle' }
  | { readonly phase: 'running'; readonly rows: number; readonly of: number }
  | { readonly phase: 'failed'; readonly reason: string };

/** Saves the listed events as CSV; long lists show progress and can be canceled. */
export function ExportButton({ listing }: { readonly listing: EventListing }) {
  const { info } = useDevice();
  const { idle } = useServices();
  const ask = useAsk();
  const [state, setState] = useState<Export>({ phase: 'idle' });
  const running = useRef<AbortController>(undefined);
  useEffect(() => () => running.current?.abort(), []);

  async function save(): Promise<void> {
    const { choice, length } = listing;
    const controller = new AbortController();
    const { signal } = controller;
    running.current = controller;
    const onProgress = (rows: number) => setState({ phase: 'running', rows, of: length });
    onProgress(0);
    try {
      const read = (from: number, to: number) => ask('eventsCsv', { choice, from, to }, { signal });
      const parts = await idle.during(() => exportEvents({ read, length, onProgress }));
      downloadText(`${snapshotStem(info.file.name)}.events.csv`, 'text/csv', parts);
      setState({ phase: 'idle' });
    } catch (error) {
      const reason = errorText(error);
      setState(signal.aborted ? { phase: 'idle' } : { phase: 'failed', reason });
    }
  }

  if (state.phase === 'running') {
    return (
      <span className="inline-row event-export">
        <progress value={state.rows} max={state.of} aria-label="Rows saved" />
        <button
          type="button"
          className="button"
          title={`${formatCount(state.rows)} of ${formatCount(state.of)} rows`}
          onClick={() => running.current?.abort()}
        >
          <X size={13} aria-hidden />
          Cancel
        </button>
      </span>
    );
  }
  return (
    <span className="inline-row event-export">
      {state.phase === 'failed' && <span role="alert">Not saved: {state.reason}</span>}
      <button
        type="button"
        className="button"
        disabled={listing.length === 0}
        title={`Save ${formatCount(listing.length)} events as CSV`}
        onClick={() => void save()}
      >
        <Download size={13} aria-hidden />
        <span className="words">CSV</span>
      </button>
    </span>
  );
}

/** The worker needs about 50 ms for these, so a hover never waits longer. */
const PIECE_ROWS = 5000;

interface EventExport {
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
