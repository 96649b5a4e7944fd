/**
 * Runs of one device under other settings. Answers are kept while the snapshot is open, so returning to the view or to a
 * limit runs nothing again.
 */

import { createStore, type StoreApi } from 'zustand/vanilla';
import type { RecordedRun } from '../../../allocator/simulator/recorded-run.ts';
import type { WhatIfResult } from '../../../allocator/simulator/types.ts';
import type { CardFit } from '../../../allocator/simulator/what-if.ts';
import type {
  Limit,
  WhatIfCase,
  WhatIfProgress,
} from '../../../allocator/simulator/what-if-runs.ts';
import { weakMemoized } from '../../../base/collections.ts';
import type { DeviceInfo } from '../../../device/model/device-info.ts';
import type { AnalysisClient } from '../../../worker/analysis/client.ts';

/** What is known of a setting: its run under a limit, and its card, which no limit changes. */
export interface SettingRow extends Partial<WhatIfCase> {
  /** As in PYTORCH_ALLOC_CONF; '' is the default. */
  readonly settings: string;
  readonly card: CardFit | undefined;
}

export interface RunRow extends SettingRow {
  readonly result: WhatIfResult;
}

export const hasRun = (row: SettingRow): row is RunRow => row.result !== undefined;

export interface WhatIfResults {
  readonly recorded: RecordedRun | undefined;
  /** By limit and setting. */
  readonly cases: ReadonlyMap<string, WhatIfCase>;
  readonly cards: ReadonlyMap<string, CardFit>;
}

export const NO_RESULTS: WhatIfResults = {
  recorded: undefined,
  cases: new Map(),
  cards: new Map(),
};

export const whatIfStoreOf = weakMemoized(
  (_device: DeviceInfo): StoreApi<WhatIfResults> => createStore(() => NO_RESULTS),
);

export function withProgress(
  known: WhatIfResults,
  limit: Limit,
  progress: Exclude<WhatIfProgress, { readonly kind: 'running' }>,
): WhatIfResults {
  switch (progress.kind) {
    case 'recorded':
      return { ...known, recorded: progress.recorded };
    case 'case': {
      const { result, lowestBytes } = progress;
      const key = caseKey(limit, result.settings);
      return { ...known, cases: new Map(known.cases).set(key, { result, lowestBytes }) };
    }
    case 'card':
      return { ...known, cards: new Map(known.cards).set(progress.settings, progress.card) };
  }
}

export function settingRows(
  { cases, cards }: WhatIfResults,
  limit: Limit,
  settings: readonly string[],
): readonly SettingRow[] {
  return settings.map((text) => ({
    settings: text,
    ...cases.get(caseKey(limit, text)),
    card: cards.get(text),
  }));
}

export function resultOf({ cases }: WhatIfResults, limit: Limit, settings: string) {
  return cases.get(caseKey(limit, settings))?.result;
}

const caseKey = (limit: Limit, settings: string): string => `${limit} ${settings}`;

/** What still has to be asked: the settings to run, and those whose card is to be searched. */
export function missingRuns(rows: readonly SettingRow[]) {
  const textsOf = (found: readonly SettingRow[]) => found.map(({ settings }) => settings);
  return {
    settings: textsOf(rows.filter(({ result }) => result === undefined)),
    cards: textsOf(rows.filter(({ card }) => card === undefined)),
  };
}

interface RunOptions {
  readonly limit?: Limit;
  /** Also searches the smallest card of each. */
  readonly hasCards?: boolean;
  readonly signal: AbortSignal;
  readonly onRunning?: (progress: Extract<WhatIfProgress, { kind: 'running' }>) => void;
}

/** Runs those of the settings that have not been run under the limit. Answers go to the store as they arrive. */
export async function runMissing(
  analysis: Pick<AnalysisClient, 'query'>,
  device: DeviceInfo,
  all: readonly string[],
  { limit = 'recorded', hasCards = false, signal, onRunning }: RunOptions,
): Promise<void> {
  const store = whatIfStoreOf(device);
  const missing = missingRuns(settingRows(store.getState(), limit, all));
  const request = {
    deviceIndex: device.index,
    limit,
    settings: missing.settings,
    cards: hasCards ? missing.cards : [],
  };
  if (device.events === 0 || request.settings.length + request.cards.length === 0) return;
  await analysis.query('whatIf', request, {
    signal,
    onProgress(progress) {
      if (progress.kind === 'running') onRunning?.(progress);
      else store.setState((known) => withProgress(known, limit, progress));
    },
  });
}
