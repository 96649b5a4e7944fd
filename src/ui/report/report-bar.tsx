import './report.css';
import { FileText } from 'lucide-react';
import type { ReportHead } from '../../core/report/report-page.ts';

/** Above a report's views: what it is, when it was made, and its author's notes. */
export function ReportBar({ title, notes, madeAt, version }: ReportHead) {
  return (
    <aside className="report-bar" aria-label="Report">
      <p className="report-origin">
        <FileText size={14} aria-hidden />
        Report of <strong>{title}</strong>
        <span className="dim">
          made {madeAt.slice(0, 16).replace('T', ' ')} UTC by vramscope {version}
        </span>
      </p>
      {notes !== '' && <p className="report-notes">{notes}</p>}
    </aside>
  );
}
