import { ascending, descending } from 'd3';
import { changedPlace, lineText, RUN_LABELS } from '../../../analysis/compare/change-text.ts';
import type { CallSiteChange, ChangeKind, RunChange } from '../../../analysis/compare/types.ts';
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
      place: changedPlace(site),
      about: aboutOf(site),
      run: runText(site, runs),
    }));
}

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
  const { key, descending: isDescending } = filters.sort;
  const of = SORTED_BY[key];
  const order = isDescending ? descending : ascending;
  return shown.sort((x, y) => order(of(x), of(y)) || Number(x.name) - Number(y.name));
}

const searchText = ({ place, about, a, b }: SiteRow): string =>
  [place, about, a?.frame?.filename, b?.frame?.filename].join(' ').toLowerCase();

const SORTED_BY: Readonly<Record<SortKey, (row: SiteRow) => string | number>> = {
  place: ({ place }) => place,
  class: (row) => row.class,
  kind: ({ kind }) => kind,
  a: ({ bytesA }) => bytesA,
  b: ({ bytesB }) => bytesB,
  count: ({ countA, countB }) => countB - countA,
  difference: ({ differenceBytes }) => differenceBytes,
  size: ({ differenceBytes }) => Math.abs(differenceBytes),
};
