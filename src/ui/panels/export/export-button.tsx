import '../../shared/dialog.css';
import './export.css';
import '../report/report.css';
import { Image, Share, X } from 'lucide-react';
import { useRef, useState } from 'react';
import { snapshotStem } from '../../../base/file-names.ts';
import { useView } from '../../../state/stores.ts';
import { useDevice } from '../../shared/device-context.ts';
import { downloadText } from '../../shared/download.ts';
import { IconButton } from '../../shared/icon-button.tsx';
import { useServices } from '../../shared/services.ts';
import { VIEW_LABELS } from '../../shared/view-names.ts';
import { ReportForm } from '../report/report-form.tsx';
import { DataExports } from './data-exports.tsx';
import { type PictureKind, takePicture } from './picture.ts';

/** Everything that can be exported from an open snapshot. */
export function ExportButton() {
  const dialog = useRef<HTMLDialogElement>(null);
  return (
    <>
      <button
        type="button"
        className="tab view-tab export-button"
        title="Export a report, pictures and data"
        onClick={() => dialog.current?.showModal()}
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
            <DataExports />
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
