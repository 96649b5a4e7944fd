/**
 * The state of the comparison page, as a text that a link carries (ViewState.comparison):
 *
 *   a=124939%3Apair_base.pickle.gz&b=130811%3Apair_batch2.pickle.gz&tab=flame&kind=larger
 *
 * Only what differs from the defaults is written.
 */

import { useCallback, useMemo } from 'react';
import { CHANGE_KINDS, type ChangeKind } from '../../../analysis/compare/types.ts';
import { useStores, useView } from '../../../state/stores.ts';
import {
  anyText,
  type FileId,
  fileIdParam,
  flag,
  oneOf,
  type Params,
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

const SORT_KEYS = ['place', 'class', 'kind', 'a', 'b', 'difference', 'size', 'count'] as const;
export type SortKey = (typeof SORT_KEYS)[number];

export interface ComparisonView {
  readonly tab: CompareTab;
  readonly at: 'peak' | 'end';
  /** Positions of the devices in their files; undefined: each file's main device. */
  readonly deviceA: number | undefined;
  readonly deviceB: number | undefined;
  /** True if the open file is B and the file added for the comparison is A. */
  readonly isSwapped: boolean;
  readonly link: 'step' | 'share';
  /** The window of both timelines: shares of the run, or steps. */
  readonly window: Range | undefined;
  /** 'size' sorts by the size of the change, growth and shrinking alike. */
  readonly sort: Sort<SortKey>;
  readonly kind: ChangeKind | undefined;
  readonly class: string | undefined;
  readonly text: string;
  /** Name of the followed row, see SiteRow. */
  readonly row: string | undefined;
}

/** The files that the link was made for. */
interface ComparedFiles {
  readonly a: FileId | undefined;
  readonly b: FileId | undefined;
}

export interface ParsedComparison extends ComparedFiles {
  readonly view: ComparisonView;
}

export const DEFAULT_COMPARISON: ComparisonView = {
  tab: 'sites',
  at: 'peak',
  deviceA: undefined,
  deviceB: undefined,
  isSwapped: false,
  link: 'step',
  window: undefined,
  sort: { key: 'size', descending: true },
  kind: undefined,
  class: undefined,
  text: '',
  row: undefined,
};

const NO_FILES: ComparedFiles = { a: undefined, b: undefined };
const FILE_PARAMS: Params<ComparedFiles> = { a: fileIdParam('a'), b: fileIdParam('b') };

const PARAMS: Params<ComparisonView> = {
  tab: { key: 'tab', read: oneOf(...TABS) },
  at: { key: 'at', read: oneOf('peak', 'end') },
  deviceA: { key: 'device', read: parseIndex },
  deviceB: { key: 'deviceB', read: parseIndex },
  isSwapped: flag('swap', '1'),
  link: { key: 'link', read: oneOf('step', 'share') },
  window: { key: 'x', read: parseRange, write: (range) => rangeText(range ?? '') },
  sort: { key: 'sort', read: readSort, write: sortText },
  kind: { key: 'kind', read: oneOf(...CHANGE_KINDS) },
  class: { key: 'class', read: anyText },
  text: { key: 'text', read: anyText },
  row: { key: 'row', read: anyText },
};

function readSort(text: string): Sort<SortKey> | undefined {
  const sort = parseSort(text);
  const key = SORT_KEYS.find((known) => known === sort?.key);
  return sort && key && { ...sort, key };
}

export function encodeComparison(
  view: ComparisonView,
  a: FileId | undefined,
  b: FileId | undefined,
): string {
  const url = new URLSearchParams();
  writeParams(url, FILE_PARAMS, { a, b }, NO_FILES);
  writeParams(url, PARAMS, view, DEFAULT_COMPARISON);
  return url.toString();
}

/** Never throws: an unreadable part gets its default. */
export function parseComparison(text: string): ParsedComparison {
  const url = new URLSearchParams(text);
  const view = readParams(url, PARAMS, DEFAULT_COMPARISON);
  return { view, ...readParams(url, FILE_PARAMS, NO_FILES) };
}

export interface ComparisonViewHandle extends ParsedComparison {
  /** A change that Back undoes. */
  readonly commit: (change: Partial<ComparisonView>) => void;
  /** A change that Back skips: an automatic one, or part of a gesture. */
  readonly adjust: (change: Partial<ComparisonView>) => void;
}

export function useComparisonView(
  a: FileId | undefined,
  b: FileId | undefined,
): ComparisonViewHandle {
  const { view } = useStores();
  const text = useView((state) => state.comparison) ?? '';
  const parsed = useMemo(() => parseComparison(text), [text]);
  const write = useCallback(
    (how: 'commit' | 'adjust', change: Partial<ComparisonView>) => {
      const current = parseComparison(view.getState().view.comparison ?? '');
      const comparison = encodeComparison(
        { ...current.view, ...change },
        a ?? current.a,
        b ?? current.b,
      );
      if (comparison !== view.getState().view.comparison) view[how]({ comparison });
    },
    [view, a, b],
  );
  const commit = useCallback((change: Partial<ComparisonView>) => write('commit', change), [write]);
  const adjust = useCallback((change: Partial<ComparisonView>) => write('adjust', change), [write]);
  return useMemo(() => ({ ...parsed, commit, adjust }), [parsed, commit, adjust]);
}
