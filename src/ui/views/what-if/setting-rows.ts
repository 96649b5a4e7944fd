/** The settings to run: their names, their rows in the table, and the order of the rows. */
import { ascending } from 'd3';
import { compareRuns, limitOfCard } from '../../../allocator/simulator/presets.ts';
import type { Confidence, WhatIfResult } from '../../../allocator/simulator/types.ts';
import { formatBytes, plural } from '../../../base/format.ts';
import type { Sort } from '../../../state/view-store.ts';
import type { CardFit } from '../../../worker/protocol.ts';
import { type Limit, resultOf, type WhatIfResults } from '../../panels/what-if/what-if-results.ts';

export function settingName(settings: string): string {
  return settings === '' ? 'Default settings' : settings;
}

export function cardText({ gib }: CardFit): string {
  return gib === undefined ? 'none' : `${gib} GiB`;
}

export function cardTitle({ gib, retries }: CardFit): string {
  if (gib === undefined) return 'This needs more memory than any common GPU has';
  const left = `A GPU with ${gib} GiB leaves ${formatBytes(limitOfCard(gib))} for PyTorch, enough for all requests`;
  if (retries === 0) return left;
  return `${left}, but slow: PyTorch would release its whole cache ${plural(retries, 'time')}`;
}

export const CONFIDENCE_TEXT: Readonly<Record<Confidence, string>> = {
  high: "The allocator's rules alone decide the result.",
  medium: 'The peaks may shift with facts that the trace does not record.',
  low: 'A run under other settings would have requested other allocations.',
};

export interface SettingRow {
  /** As in PYTORCH_ALLOC_CONF; '' is the default. */
  readonly settings: string;
  readonly result: WhatIfResult | undefined;
  readonly card: CardFit | undefined;
}

type RunRow = SettingRow & { readonly result: WhatIfResult };

const CONFIDENCES: readonly Confidence[] = ['low', 'medium', 'high'];

const SORT_VALUES = {
  settings: ({ settings }: RunRow) => settings,
  reserved: ({ result }: RunRow) => result.peakReservedBytes,
  card: ({ card }: RunRow) => card?.gib ?? Infinity,
  ooms: ({ result }: RunRow) => result.ooms.length,
  retries: ({ result }: RunRow) => result.retries,
  calls: ({ result }: RunRow) => result.deviceAllocs + result.deviceFrees,
  confidence: ({ result }: RunRow) => CONFIDENCES.indexOf(result.confidence),
};
export type SortKey = keyof typeof SORT_VALUES;

/** An undefined sort shows the best first. */
export type RowSort = Sort & { readonly key: SortKey };

export function settingRows(
  known: WhatIfResults,
  limit: Limit,
  settings: readonly string[],
): readonly SettingRow[] {
  return settings.map((text) => ({
    settings: text,
    result: resultOf(known, limit, text),
    card: known.cards.get(text),
  }));
}

/** Settings that have not been run come last, in the order in which they will run. */
export function sortRows(
  rows: readonly SettingRow[],
  sort: RowSort | undefined,
): readonly SettingRow[] {
  const run = rows.filter((row): row is RunRow => row.result !== undefined);
  const waiting = rows.filter(({ result }) => result === undefined);
  if (sort === undefined) return [...run.sort(byRank), ...waiting];
  const value = SORT_VALUES[sort.key];
  const sign = sort.descending ? -1 : 1;
  const sorted = run.sort((a, b) => sign * ascending(value(a), value(b)) || byRank(a, b));
  return [...sorted, ...waiting];
}

function byRank(a: RunRow, b: RunRow): number {
  return compareRuns({ ...a.result, card: a.card }, { ...b.result, card: b.card });
}
