/** The rows of the table of settings, and their order. */
import { compareRuns } from '../../../allocator/simulator/presets.ts';
import type { Confidence, WhatIfResult } from '../../../allocator/simulator/types.ts';
import type { CardFit } from '../../../worker/analysis/what-if-handler.ts';
import { type Limit, resultOf, type WhatIfResults } from '../../panels/what-if/what-if-results.ts';

export interface SettingRow {
  /** As PYTORCH_ALLOC_CONF has it; '' is the default. */
  readonly settings: string;
  /** Undefined until it has been run. */
  readonly result: WhatIfResult | undefined;
  /** Undefined until it has been searched. */
  readonly card: CardFit | undefined;
}

export type SortKey =
  | 'settings'
  | 'reserved'
  | 'card'
  | 'ooms'
  | 'retries'
  | 'calls'
  | 'confidence';

/** Undefined: the best first. */
export interface RowSort {
  readonly key: SortKey;
  readonly descending: boolean;
}

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

/** Those that have not been run come last, in the order in which they will be. */
export function sortRows(
  rows: readonly SettingRow[],
  sort: RowSort | undefined,
): readonly SettingRow[] {
  const run = rows.flatMap((row) =>
    row.result === undefined ? [] : [{ ...row, result: row.result }],
  );
  const waiting = rows.filter(({ result }) => result === undefined);
  if (sort === undefined) return [...run.sort(byRank), ...waiting];
  const value = (row: RunRow) => sortValue(row, sort.key);
  const sign = sort.descending ? -1 : 1;
  const sorted = run.sort((a, b) => sign * compare(value(a), value(b)) || byRank(a, b));
  return [...sorted, ...waiting];
}

type RunRow = SettingRow & { readonly result: WhatIfResult };

function byRank(a: RunRow, b: RunRow): number {
  return compareRuns({ ...a.result, card: a.card }, { ...b.result, card: b.card });
}

const CONFIDENCES: readonly Confidence[] = ['low', 'medium', 'high'];

function sortValue({ settings, result, card }: RunRow, key: SortKey): number | string {
  switch (key) {
    case 'settings':
      return settings;
    case 'reserved':
      return result.peakReservedBytes;
    case 'card':
      return card?.gib ?? Infinity;
    case 'ooms':
      return result.ooms.length;
    case 'retries':
      return result.retries;
    case 'calls':
      return result.deviceAllocs + result.deviceFrees;
    case 'confidence':
      return CONFIDENCES.indexOf(result.confidence);
  }
}

function compare(a: number | string, b: number | string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
