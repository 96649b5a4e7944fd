import '../shared/dialog.css';
import './export.css';
import '../report/report.css';
import { Share, X } from 'lucide-react';
import { useRef } from 'react';
import { ReportForm } from '../report/report-form.tsx';
import { DataExports } from './data-exports.tsx';
import { PictureExports } from './picture-exports.tsx';

/** All that one can take away from an open snapshot. */
export function ExportButton() {
  const dialog = useRef<HTMLDialogElement>(null);
  return (
    <>
      <button
        type="button"
        className="view-tab export-button"
        title="Export a report, pictures and data"
        onClick={() => dialog.current?.showModal()}
      >
        <Share size={14} aria-hidden />
        Export
      </button>
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: a click beside it closes it; for keys there is Esc */}
      <dialog
        ref={dialog}
        className="dialog export-dialog"
        aria-label="Export"
        onClick={(event) => event.target === event.currentTarget && dialog.current?.close()}
      >
        <div className="dialog-body">
          <div className="dialog-head">
            <h2 className="dialog-title">Export</h2>
            <button
              type="button"
              className="icon-button"
              aria-label="Close"
              onClick={() => dialog.current?.close()}
            >
              <X size={16} aria-hidden />
            </button>
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
