/**
 * The state of the comparison page, as a text that a link carries (ViewState.comparison):
 *
 *   a=124939%3Apair_base.pickle.gz&b=130811%3Apair_batch2.pickle.gz&tab=flame&kind=larger
 *
 * Only what differs from the defaults is written.
 */

import { useMemo } from 'react';
import { CHANGE_KINDS, type ChangeKind } from '../../../analysis/compare/types.ts';
import { isTransformList } from '../../../device/flame-graph/transform-text.ts';
import { useStores, useView } from '../../../state/stores.ts';
import {
  anyText,
  type FileId,
  fileIdParam,
  flag,
  oneOf,
  type Param,
  parseIndex,
  parseRange,
  parseSort,
  type Range,
  rangeText,
  readParams,
  type Sort,
  sortText,
  writeParams,
} from '../../../state/url-params.ts';

export const TABS = ['sites', 'flame', 'facts', 'whatif', 'a', 'b'] as const;
export type CompareTab = (typeof TABS)[number];

export const GROUPINGS = ['line', 'function', 'file', 'module'] as const;
type DifferenceGrouping = (typeof GROUPINGS)[number];

const SORT_KEYS = ['place', 'class', 'kind', 'a', 'b', 'difference', 'size', 'count'] as const;
export type SortKey = (typeof SORT_KEYS)[number];

function setting<T>(
  usual: T,
  key: string,
  read: Param<T>['read'],
  write: (value: T) => string = String,
) {
  return { usual, key, read, write };
}

/** Each setting: what it is at first, its key in a link, and how it is read and written there. */
const SETTINGS = {
  /** The files that the link was made for. */
  a: { usual: undefined as FileId | undefined, ...fileIdParam('a') },
  b: { usual: undefined as FileId | undefined, ...fileIdParam('b') },
  tab: setting<CompareTab>('sites', 'tab', oneOf(...TABS)),
  at: setting<'peak' | 'end'>('peak', 'at', oneOf('peak', 'end')),
  /** Positions of the devices in their files; undefined: each file's main device. */
  deviceA: setting<number | undefined>(undefined, 'device', parseIndex),
  deviceB: setting<number | undefined>(undefined, 'deviceB', parseIndex),
  /** True if the open file is B and the file added for the comparison is A. */
  isSwapped: { usual: false, ...flag('swap', '1') },
  link: setting<'step' | 'share'>('step', 'link', oneOf('step', 'share')),
  /** The window of both timelines: shares of the run, or steps. */
  window: setting<Range | undefined>(undefined, 'x', parseRange, (range) => rangeText(range ?? '')),
  /** 'size' sorts by the size of the change, growth and shrinking alike. */
  sort: setting<Sort<SortKey>>({ key: 'size', descending: true }, 'sort', readSort, sortText),
  kind: setting<ChangeKind | undefined>(undefined, 'kind', oneOf(...CHANGE_KINDS)),
  class: setting<string | undefined>(undefined, 'class', anyText),
  text: setting('', 'text', anyText),
  /** The flame graph's, as in FlameView. */
  groupBy: setting<DifferenceGrouping>('line', 'by', oneOf(...GROUPINGS)),
  root: setting<string | undefined>(undefined, 'root', anyText),
  transforms: setting('', 'transforms', (text) => (isTransformList(text) ? text : undefined)),
  /** Name of the followed row, see SiteRow. */
  row: setting<string | undefined>(undefined, 'row', anyText),
};

export type ComparisonView = {
  readonly [K in keyof typeof SETTINGS]: (typeof SETTINGS)[K]['usual'];
};

export const DEFAULT_COMPARISON = Object.fromEntries(
  Object.entries(SETTINGS).map(([name, { usual }]) => [name, usual]),
) as ComparisonView;

function readSort(text: string): Sort<SortKey> | undefined {
  const sort = parseSort(text);
  const key = SORT_KEYS.find((known) => known === sort?.key);
  return sort && key && { ...sort, key };
}

export function encodeComparison(view: ComparisonView): string {
  const url = new URLSearchParams();
  writeParams(url, SETTINGS, view, DEFAULT_COMPARISON);
  return url.toString();
}

/** Never throws: an unreadable part gets its default. */
export const parseComparison = (text: string): ComparisonView =>
  readParams(new URLSearchParams(text), SETTINGS, DEFAULT_COMPARISON);

export interface ComparisonViewHandle {
  readonly view: ComparisonView;
  /** A change that Back undoes. */
  readonly commit: (change: Partial<ComparisonView>) => void;
  /** A change that Back skips: an automatic one, or part of a gesture. */
  readonly adjust: (change: Partial<ComparisonView>) => void;
}

export function useComparisonView(
  a: FileId | undefined,
  b: FileId | undefined,
): ComparisonViewHandle {
  const { view: store } = useStores();
  const text = useView((state) => state.comparison) ?? '';
  return useMemo(() => {
    const write = (how: 'commit' | 'adjust') => (change: Partial<ComparisonView>) => {
      const before = store.getState().view.comparison;
      const now = { ...parseComparison(before ?? ''), ...change };
      const comparison = encodeComparison({ ...now, a: a ?? now.a, b: b ?? now.b });
      if (comparison !== before) store[how]({ comparison });
    };
    return { view: parseComparison(text), commit: write('commit'), adjust: write('adjust') };
  }, [store, text, a, b]);
}
