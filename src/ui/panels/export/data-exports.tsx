import { Download, X } from 'lucide-react';
import { useRef, useState } from 'react';
import { snapshotStem } from '../../../base/file-names.ts';
import { formatBytes } from '../../../base/format.ts';
import { type ExportKind, exportFormat } from '../../../output/export/export-kinds.ts';
import { useDevice } from '../../shared/device-context.ts';
import { downloadText } from '../../shared/download.ts';
import { useAsk } from '../../shared/use-query.ts';

interface DataExport {
  readonly kind: ExportKind;
  readonly label: string;
  readonly about: string;
  readonly needsTime?: boolean;
}

const EXPORTS: readonly DataExport[] = [
  { kind: 'counters-csv', label: 'Counters, CSV', about: 'five counters after each event' },
  { kind: 'allocations-csv', label: 'Allocations, CSV', about: 'one line per allocation' },
  { kind: 'allocations-arrow', label: 'Allocations, Arrow', about: 'with whole stacks' },
  { kind: 'events-csv', label: 'Events, CSV', about: 'one line per event' },
  { kind: 'events-arrow', label: 'Events, Arrow', about: 'with whole stacks' },
  {
    kind: 'perfetto',
    label: 'Trace for Perfetto',
    about: 'counters and annotations, on the clock of a Kineto trace',
    needsTime: true,
  },
  { kind: 'folded', label: 'Folded stacks', about: 'what is active at the peak' },
  { kind: 'speedscope', label: 'speedscope', about: 'what is active at the peak' },
];

type State =
  | { readonly kind: 'idle' }
  | { readonly kind: 'working'; readonly bytes: number }
  | { readonly kind: 'done'; readonly name: string; readonly bytes: number }
  | { readonly kind: 'failed'; readonly reason: string };

/** Files for spreadsheets, notebooks and trace viewers, made in the worker. */
export function DataExports() {
  const { info, device } = useDevice();
  const ask = useAsk();
  const [state, setState] = useState<State>({ kind: 'idle' });
  const running = useRef<AbortController>(undefined);

  async function save(kind: ExportKind): Promise<void> {
    const controller = new AbortController();
    running.current = controller;
    setState({ kind: 'working', bytes: 0 });
    try {
      const blob = await ask(
        'exportFile',
        { kind },
        {
          signal: controller.signal,
          onProgress: (bytes) => setState({ kind: 'working', bytes }),
        },
      );
      const { extension, mime } = exportFormat(kind);
      const name = `${snapshotStem(info.file.name)}.${extension}`;
      downloadText(name, mime, [blob]);
      setState({ kind: 'done', name, bytes: blob.size });
    } catch (error) {
      if (controller.signal.aborted) setState({ kind: 'idle' });
      else setState({ kind: 'failed', reason: error instanceof Error ? error.message : '' });
    }
  }

  return (
    <>
      <ul className="data-exports">
        {EXPORTS.map(({ kind, label, about, needsTime }) => {
          const lacksTime = needsTime === true && !device.hasTime;
          return (
            <li key={kind}>
              <button
                type="button"
                className="button"
                disabled={state.kind === 'working' || lacksTime}
                onClick={() => void save(kind)}
              >
                <Download size={13} aria-hidden />
                {label}
              </button>
              <span className="dim">{lacksTime ? 'this file has no timestamps' : about}</span>
            </li>
          );
        })}
      </ul>
      <Outcome state={state} onCancel={() => running.current?.abort()} />
    </>
  );
}

function Outcome({ state, onCancel }: { readonly state: State; readonly onCancel: () => void }) {
  return (
    <div className="report-actions">
      <p className="dim" role={state.kind === 'failed' ? 'alert' : 'status'}>
        {state.kind === 'working' && `Writing, ${formatBytes(state.bytes)} so far…`}
        {state.kind === 'done' &&
          `${state.name}, ${formatBytes(state.bytes)}, saved to your downloads.`}
        {state.kind === 'failed' && `Could not write the file: ${state.reason}`}
      </p>
      {state.kind === 'working' && (
        <button type="button" className="button" onClick={onCancel}>
          <X size={13} aria-hidden />
          Cancel
        </button>
      )}
    </div>
  );
}
