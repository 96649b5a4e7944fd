import '../../shared/dialog.css';
import './export.css';
import { Download, Image, Share, X } from 'lucide-react';
import { useRef, useState } from 'react';
import { snapshotStem } from '../../../base/file-names.ts';
import { formatBytes } from '../../../base/format.ts';
import type { ExportChoice, ExportKind } from '../../../output/export/exports.ts';
import { useView } from '../../../state/stores.ts';
import { downloadText } from '../../shared/browser.ts';
import { IconButton } from '../../shared/buttons.tsx';
import { useDevice, useServices } from '../../shared/services.ts';
import { useAsk, useQuery } from '../../shared/use-query.ts';
import { VIEW_LABELS } from '../../shared/view-names.ts';
import { ReportForm } from '../report/report-form.tsx';
import { type PictureKind, takePicture } from './picture.ts';

/** Everything that can be exported from an open snapshot. */
export function ExportButton() {
  const dialog = useRef<HTMLDialogElement>(null);
  const [isOpened, setOpened] = useState(false);
  return (
    <>
      <button
        type="button"
        className="tab view-tab export-button"
        title="Export a report, pictures and data"
        onClick={() => {
          setOpened(true);
          dialog.current?.showModal();
        }}
      >
        <Share size={14} aria-hidden />
        Export
      </button>
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: a click beside it closes it; for keys there is Esc */}
      <dialog
        ref={dialog}
        className="floating dialog export-dialog"
        aria-label="Export"
        onClick={(event) => event.target === event.currentTarget && dialog.current?.close()}
      >
        <div className="dialog-body">
          <div className="spread">
            <h2 className="dialog-title">Export</h2>
            <IconButton label="Close" onClick={() => dialog.current?.close()}>
              <X size={16} aria-hidden />
            </IconButton>
          </div>
          <section aria-label="Report" className="export-section">
            <h3>A report to share</h3>
            <ReportForm />
          </section>
          <section aria-label="Picture" className="export-section">
            <h3>A picture of this view</h3>
            <PictureExports />
          </section>
          <section aria-label="Data" className="export-section">
            <h3>Data for other programs</h3>
            <DataExports isOpened={isOpened} />
          </section>
        </div>
      </dialog>
    </>
  );
}

const MIME: Readonly<Record<PictureKind, string>> = { png: 'image/png', svg: 'image/svg+xml' };

/** The view that is open, with its axes, legend and title. */
function PictureExports() {
  const { info, device } = useDevice();
  const { idle } = useServices();
  const name = useView((view) => view.view);
  const { label } = VIEW_LABELS[name];
  const [failure, setFailure] = useState<string>();
  async function save(kind: PictureKind): Promise<void> {
    setFailure(undefined);
    const place = device.kind === 'host' ? 'pinned memory' : `cuda:${device.device}`;
    const title = `${label} · ${info.file.name} · ${place}`;
    try {
      const blob = await idle.during(() => takePicture(kind, title));
      downloadText(`${snapshotStem(info.file.name)}-${name}.${kind}`, MIME[kind], [blob]);
    } catch (error) {
      setFailure(
        error instanceof Error ? error.message : 'Your browser could not create the file.',
      );
    }
  }
  return (
    <div className="report-actions">
      {(['png', 'svg'] as const).map((kind) => (
        <button key={kind} type="button" className="button" onClick={() => void save(kind)}>
          <Image size={13} aria-hidden />
          {label} as {kind.toUpperCase()}
        </button>
      ))}
      {failure !== undefined && <p role="alert">{failure}</p>}
    </div>
  );
}

type State =
  | { readonly kind: 'idle' }
  | { readonly kind: 'working'; readonly bytes: number }
  | { readonly kind: 'done'; readonly name: string; readonly bytes: number }
  | { readonly kind: 'failed'; readonly reason: string };

/** Files for spreadsheets, notebooks and trace viewers, made in the worker, which says what it can make once the dialog was opened. */
function DataExports({ isOpened }: { readonly isOpened: boolean }) {
  const { info, device } = useDevice();
  const ask = useAsk();
  const { value: choices = {} } = useQuery('exportChoices', isOpened ? {} : undefined);
  const [state, setState] = useState<State>({ kind: 'idle' });
  const running = useRef<AbortController>(undefined);

  async function save(kind: ExportKind, { extension, mime }: ExportChoice): Promise<void> {
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
        {(Object.entries(choices) as [ExportKind, ExportChoice][]).map(([kind, choice]) => {
          const { label, about, needsTime } = choice;
          const lacksTime = needsTime === true && !device.hasTime;
          return (
            <li key={kind}>
              <button
                type="button"
                className="button"
                disabled={state.kind === 'working' || lacksTime}
                onClick={() => void save(kind, choice)}
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
