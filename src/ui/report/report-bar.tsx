import './report.css';
import { FileText } from 'lucide-react';
import type { ReportHead } from '../../core/report/report-page.ts';

/** Above a report's views: what one looks at, since when, and what its author wrote. */
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
