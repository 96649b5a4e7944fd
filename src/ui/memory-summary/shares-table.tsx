import {
  formatBytes,
  formatCount,
  formatExactBytes,
  formatPercent,
} from '../../core/base/format.ts';
import type { Share } from '../../core/memory-summary/trace-facts.ts';

export interface ShareRow extends Share {
  readonly label: string;
  /** A sentence that explains it; '' for none. */
  readonly about: string;
}

interface SharesTableProps {
  readonly heading: string;
  readonly rows: readonly ShareRow[];
}

/** Groups of allocations: how many there were, and their part of memory. */
export function SharesTable({ heading, rows }: SharesTableProps) {
  const peakBytes = rows.reduce((sum, row) => sum + row.peakBytes, 0);
  return (
    <table className="summary-table summary-shares">
      <thead>
        <tr>
          <th scope="col">{heading}</th>
          <th scope="col">Allocations</th>
          <th scope="col">At the peak</th>
          <th scope="col">Share</th>
          <th scope="col">At the end</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={row.label} data-none={row.allocations === 0 || undefined}>
            <th scope="row" title={row.about === '' ? undefined : row.about}>
              {row.label}
              {row.about !== '' && row.allocations > 0 && (
                <span className="summary-about">{row.about}</span>
              )}
            </th>
            <td>{formatCount(row.allocations)}</td>
            <td title={formatExactBytes(row.peakBytes)}>{formatBytes(row.peakBytes)}</td>
            <td>{shareText(row.peakBytes, peakBytes)}</td>
            <td title={formatExactBytes(row.endBytes)}>{formatBytes(row.endBytes)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** '12.3 %', '< 0.1 %', '–' of nothing. */
function shareText(part: number, whole: number): string {
  return whole === 0 ? '–' : formatPercent(part / whole, 1);
}
