/** The files that a device can be exported as; what makes them is fetched when one is asked for. */
export const EXPORT_KINDS = [
  'counters-csv',
  'allocations-csv',
  'events-csv',
  'allocations-arrow',
  'events-arrow',
  'perfetto',
  'folded',
  'speedscope',
] as const;
export type ExportKind = (typeof EXPORT_KINDS)[number];

export interface ExportFormat {
  /** Of the file's name. */
  readonly extension: string;
  readonly mime: string;
}

export function exportFormat(kind: ExportKind): ExportFormat {
  if (kind === 'perfetto' || kind === 'speedscope') {
    return { extension: `${kind}.json`, mime: 'application/json' };
  }
  if (kind === 'folded') return { extension: 'folded.txt', mime: 'text/plain' };
  const [table] = kind.split('-');
  return kind.endsWith('csv')
    ? { extension: `${table}.csv`, mime: 'text/csv' }
    : { extension: `${table}.arrow`, mime: 'application/vnd.apache.arrow.file' };
}
