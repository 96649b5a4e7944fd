/**
 * The analysis worker's answers about settings of one device. Kept while the snapshot is open, so returning to the view
 * or to a limit runs nothing again.
 */
import { createStore, type StoreApi } from 'zustand/vanilla';
import type { WhatIfResult } from '../../../allocator/simulator/types.ts';
import type { DeviceInfo } from '../../../device/model/device-info.ts';
import type {
  CardFit,
  RecordedSide,
  WhatIfProgress,
  WhatIfRequest,
} from '../../../worker/protocol.ts';

export type Limit = WhatIfRequest['limit'];

export interface WhatIfResults {
  readonly recorded: RecordedSide | undefined;
  /** The bytes of each limit asked for; undefined means no limit. */
  readonly limits: ReadonlyMap<Limit, number | undefined>;
  /** By {@link resultKey}. */
  readonly results: ReadonlyMap<string, WhatIfResult>;
  /** Peak of reserved memory without waiting for streams, by {@link resultKey}; see WhatIfAnswer. */
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
  let store = stores.get(device);
  if (store === undefined) {
    store = createStore<WhatIfResults>(() => NOTHING);
    stores.set(device, store);
  }
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

/** Settings that still need a run or a search for their card. */
export function missingSettings(
  known: WhatIfResults,
  limit: Limit,
  settings: readonly string[],
): readonly string[] {
  return settings.filter(
    (text) => resultOf(known, limit, text) === undefined || !known.cards.has(text),
  );
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
      const key = resultKey(limit, progress.result.settings);
      return { ...known, results: new Map(results).set(key, progress.result) };
    }
    case 'lowest': {
      const key = resultKey(limit, progress.settings);
      return { ...known, lowest: new Map(lowest).set(key, progress.peakReservedBytes) };
    }
    case 'card':
      return { ...known, cards: new Map(cards).set(progress.settings, progress.card) };
  }
}

const resultKey = (limit: Limit, settings: string): string => `${limit} ${settings}`;
