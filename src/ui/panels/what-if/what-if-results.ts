/**
 * The analysis worker's answers about settings of one device. Kept while the snapshot is open, so returning to the view
 * or to a limit runs nothing again.
 */
import { createStore, type StoreApi } from 'zustand/vanilla';
import type { RecordedRun } from '../../../allocator/simulator/recorded-run.ts';
import type { WhatIfResult } from '../../../allocator/simulator/types.ts';
import type { CardFit } from '../../../allocator/simulator/what-if.ts';
import type { Limit, WhatIfProgress } from '../../../allocator/simulator/what-if-runs.ts';
import type { DeviceInfo } from '../../../device/model/device-info.ts';
import type { AnalysisClient } from '../../../worker/analysis/client.ts';

export interface WhatIfResults {
  readonly recorded: RecordedRun | undefined;
  /** The bytes of each limit asked for; undefined means no limit. */
  readonly limits: ReadonlyMap<Limit, number | undefined>;
  /** By {@link resultKey}. */
  readonly results: ReadonlyMap<string, WhatIfResult>;
  /** Peak of reserved memory without waiting for streams, by {@link resultKey}; see WhatIfCase. */
  readonly lowest: ReadonlyMap<string, number>;
  /** By setting only: limits do not matter here. */
  readonly cards: ReadonlyMap<string, CardFit>;
}

const NOTHING: WhatIfResults = {
  recorded: undefined,
  limits: new Map(),
  results: new Map(),
  lowest: new Map(),
  cards: new Map(),
};

export type WhatIfStore = StoreApi<WhatIfResults>;

const stores = new WeakMap<DeviceInfo, WhatIfStore>();

export function whatIfStoreOf(device: DeviceInfo): WhatIfStore {
  const store = stores.get(device) ?? createStore<WhatIfResults>(() => NOTHING);
  stores.set(device, store);
  return store;
}

export function resultOf(
  { results }: WhatIfResults,
  limit: Limit,
  settings: string,
): WhatIfResult | undefined {
  return results.get(resultKey(limit, settings));
}

/** Undefined if no free waited, and until the setting has been run. */
export function lowestOf(
  { lowest }: WhatIfResults,
  limit: Limit,
  settings: string,
): number | undefined {
  return lowest.get(resultKey(limit, settings));
}

/** What still has to be asked: the settings to run, and those whose card is to be searched. */
export function missingRuns(known: WhatIfResults, limit: Limit, all: readonly string[]) {
  const settings = all.filter((text) => resultOf(known, limit, text) === undefined);
  return { settings, cards: all.filter((text) => !known.cards.has(text)) };
}

/**
 * Runs those of the settings whose result under the recorded limit is unknown. The results go to the device's store as
 * they arrive.
 */
export async function runRecorded(
  analysis: Pick<AnalysisClient, 'query'>,
  device: DeviceInfo,
  all: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const store = whatIfStoreOf(device);
  const limit = 'recorded';
  const { settings } = missingRuns(store.getState(), limit, all);
  if (device.events === 0 || settings.length === 0) return;
  const request = { deviceIndex: device.index, settings, limit, cards: [] } as const;
  await analysis.query('whatIf', request, {
    signal,
    onProgress(progress) {
      if (progress.kind !== 'running')
        store.setState((known) => withProgress(known, limit, progress));
    },
  });
}

export function withProgress(
  known: WhatIfResults,
  limit: Limit,
  progress: Exclude<WhatIfProgress, { readonly kind: 'running' }>,
): WhatIfResults {
  const { limits, results, lowest, cards } = known;
  switch (progress.kind) {
    case 'recorded': {
      const { recorded, limitBytes } = progress;
      return { ...known, recorded, limits: new Map(limits).set(limit, limitBytes) };
    }
    case 'case': {
      const { result, lowestBytes } = progress;
      const key = resultKey(limit, result.settings);
      return {
        ...known,
        results: new Map(results).set(key, result),
        lowest: lowestBytes === undefined ? lowest : new Map(lowest).set(key, lowestBytes),
      };
    }
    case 'card':
      return { ...known, cards: new Map(cards).set(progress.settings, progress.card) };
  }
}

const resultKey = (limit: Limit, settings: string): string => `${limit} ${settings}`;
