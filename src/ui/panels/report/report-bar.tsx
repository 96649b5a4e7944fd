import { FileText } from 'lucide-react';
import type { ReportHead } from '../../../output/report/report-page.ts';

/** Above a report's views: its title, date and author's notes. Hidden in a notebook cell. */
export function ReportBar({ title, notes, madeAt, version }: ReportHead) {
  if (madeAt === '') return null;
  return (
    <aside className="row bar report-bar" aria-label="Report">
      <p className="inline-row">
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
