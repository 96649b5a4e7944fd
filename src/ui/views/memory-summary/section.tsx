import type { ReactNode } from 'react';
import { TableHead } from '../../shared/facts.tsx';

interface SectionProps {
  readonly title: string;
  /** Beside the title: actions, or how to read the section. */
  readonly head?: ReactNode;
  readonly children: ReactNode;
}

export function Section({ title, head, children }: SectionProps) {
  return (
    <section aria-label={title} className="summary-section">
      <div className="row summary-head">
        <h2>{title}</h2>
        {head}
      </div>
      {children}
    </section>
  );
}

/** Shown until an answer comes, or if it failed. */
export function Unanswered({ failure }: { readonly failure: string | undefined }) {
  if (failure === undefined) {
    return (
      <p className="dim" aria-busy>
        Counting…
      </p>
    );
  }
  return (
    <p className="callout summary-caution" data-tone="warning" role="alert">
      This could not be worked out: {failure} Open the file again.
    </p>
  );
}

interface SummaryTableProps {
  /** In addition to 'summary-table'. */
  readonly className: string;
  readonly label?: string | undefined;
  readonly columns: readonly string[];
  readonly children: ReactNode;
}

export function SummaryTable({ className, label, columns, children }: SummaryTableProps) {
  return (
    <table className={`summary-table ${className}`} aria-label={label}>
      <TableHead labels={columns} />
      <tbody>{children}</tbody>
    </table>
  );
}
