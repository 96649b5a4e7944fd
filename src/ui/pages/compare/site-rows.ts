import { lineText } from '../../../analysis/compare/change-text.ts';
import type {
  CallSiteChange,
  ChangeKind,
  RunChange,
  RunChangeKind,
} from '../../../analysis/compare/types.ts';
import { fileName } from '../../../base/file-names.ts';
import { functionText } from '../../../device/model/frame-text.ts';
import type { PageComparison } from '../../../worker/protocol.ts';
import type { ComparisonView, SortKey } from './comparison-view.ts';

export const KIND_LABELS: Readonly<Record<ChangeKind, { label: string; about: string }>> = {
  'only-a': { label: 'only in A', about: 'A call site that B does not have' },
  'only-b': { label: 'only in B', about: 'A call site that A does not have' },
  more: { label: 'more', about: 'More allocations, of sizes that A has too' },
  fewer: { label: 'fewer', about: 'Fewer allocations, of the sizes that A has' },
  larger: { label: 'larger', about: 'As many allocations, larger ones' },
  smaller: { label: 'smaller', about: 'As many allocations, smaller ones' },
  mixed: { label: 'mixed', about: 'Other sizes and another number of them' },
};

const RUN_LABELS: Readonly<Record<RunChangeKind, string>> = {
  'lives-longer': 'lives longer',
  'lives-shorter': 'lives shorter',
  'churns-more': 'made more often',
  'churns-less': 'made less often',
};

export interface SiteRow extends CallSiteChange {
  /** Its rank by size of change: its name in links. */
  readonly name: string;
  /** 'model.py:42', 'model.py:42 → :45' where the line moved. */
  readonly place: string;
  /** What happens there: a function, and the PyTorch line it led to. */
  readonly about: string;
  /** 'lives longer', 'made more often' over the run. */
  readonly run: string;
}

export function siteRows({ sites, runChanges }: PageComparison): SiteRow[] {
  const runs = new Map(runChanges.map((change) => [change.b.stack, change]));
  return sites
    .filter(({ differenceBytes }) => differenceBytes !== 0)
    .map((site, i) => ({
      ...site,
      name: `${i + 1}`,
      place: placeOf(site),
      about: aboutOf(site),
      run: runText(site, runs),
    }));
}

function placeOf({ a, b, class: className }: CallSiteChange): string {
  const frame = b?.frame ?? a?.frame;
  if (frame === undefined) return PLACES[className] ?? 'no Python stack';
  if (a?.frame === undefined || b?.frame === undefined) return lineText(frame);
  const [before, after] = [lineText(a.frame), lineText(b.frame)];
  if (before === after) return after;
  const isSameFile = fileName(a.frame.filename) === fileName(b.frame.filename);
  return `${before} → ${isSameFile ? `:${b.frame.line}` : after}`;
}

const PLACES: Readonly<Record<string, string>> = {
  rounding: 'rounding to whole blocks',
  'before-recording': 'before the recording',
  unaccounted: 'not explained by the events',
};

function aboutOf({ a, b }: CallSiteChange): string {
  const { frame, innermost } = b ?? a ?? {};
  if (frame === undefined) return '';
  const own = functionText(frame);
  if (
    innermost === undefined ||
    (innermost.filename === frame.filename && innermost.line === frame.line)
  ) {
    return own;
  }
  return `${own} › ${lineText(innermost)}`;
}

function runText({ b }: CallSiteChange, runs: ReadonlyMap<number, RunChange>): string {
  const kinds = new Set((b?.stacks ?? []).flatMap((stack) => runs.get(stack)?.kinds ?? []));
  return Array.from(kinds, (kind) => RUN_LABELS[kind]).join(', ');
}

type Filters = Pick<ComparisonView, 'kind' | 'class' | 'text' | 'sort'>;

export function shownRows(rows: readonly SiteRow[], filters: Filters): SiteRow[] {
  const text = filters.text.trim().toLowerCase();
  const shown = rows.filter(
    (row) =>
      (filters.kind === undefined || row.kind === filters.kind) &&
      (filters.class === undefined || row.class === filters.class) &&
      (text === '' || searchText(row).includes(text)),
  );
  const { key, descending } = filters.sort;
  const sign = descending ? -1 : 1;
  return shown.sort((x, y) => sign * compareBy(key, x, y) || Number(x.name) - Number(y.name));
}

const searchText = ({ place, about, a, b }: SiteRow): string =>
  [place, about, a?.frame?.filename, b?.frame?.filename].join(' ').toLowerCase();

function compareBy(key: SortKey, x: SiteRow, y: SiteRow): number {
  switch (key) {
    case 'place':
    case 'class':
    case 'kind':
      return x[key] < y[key] ? -1 : Number(x[key] > y[key]);
    case 'a':
      return x.bytesA - y.bytesA;
    case 'b':
      return x.bytesB - y.bytesB;
    case 'count':
      return x.countB - x.countA - (y.countB - y.countA);
    case 'difference':
      return x.differenceBytes - y.differenceBytes;
    case 'size':
      return Math.abs(x.differenceBytes) - Math.abs(y.differenceBytes);
  }
}
