/**
 * The state of the comparison page, as a text that a link carries (ViewState.comparison):
 *
 *   a=124939%3Apair_base.pickle.gz&b=130811%3Apair_batch2.pickle.gz&tab=flame&kind=larger
 *
 * Only what differs from the defaults is written.
 */

import { useCallback, useMemo } from 'react';
import { CHANGE_KINDS, type ChangeKind } from '../../../analysis/compare/types.ts';
import type { FileInfo } from '../../../format/snapshot/tables.ts';
import { useStores, useView } from '../../../state/stores.ts';

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
  readonly window: { readonly from: number; readonly to: number } | undefined;
  /** 'size' sorts by the size of the change, growth and shrinking alike. */
  readonly sort: { readonly key: SortKey; readonly descending: boolean };
  readonly kind: ChangeKind | undefined;
  readonly class: string | undefined;
  readonly text: string;
  /** Name of the followed row, see rowName. */
  readonly row: string | undefined;
}

/** Enough to recognize a file. */
export type FileId = Pick<FileInfo, 'name' | 'bytes'>;

export interface ParsedComparison {
  readonly view: ComparisonView;
  /** The files that the link was made for. */
  readonly a: FileId | undefined;
  readonly b: FileId | undefined;
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

export function encodeComparison(
  view: ComparisonView,
  a: FileId | undefined,
  b: FileId | undefined,
): string {
  const standard = DEFAULT_COMPARISON;
  const params = new URLSearchParams();
  const set = (key: string, value: string | undefined) => {
    if (value !== undefined) params.set(key, value);
  };
  set('a', a && fileIdText(a));
  set('b', b && fileIdText(b));
  if (view.tab !== standard.tab) set('tab', view.tab);
  if (view.at !== standard.at) set('at', view.at);
  set('device', view.deviceA?.toString());
  set('deviceB', view.deviceB?.toString());
  if (view.isSwapped) set('swap', '1');
  if (view.link !== standard.link) set('link', view.link);
  if (view.window !== undefined) set('x', `${view.window.from}..${view.window.to}`);
  const sort = `${view.sort.descending ? '-' : ''}${view.sort.key}`;
  if (sort !== '-size') set('sort', sort);
  set('kind', view.kind);
  set('class', view.class);
  if (view.text !== '') set('text', view.text);
  set('row', view.row);
  return params.toString();
}

/** Never throws: an unreadable part gets its default. */
export function parseComparison(text: string): ParsedComparison {
  const params = new URLSearchParams(text);
  const standard = DEFAULT_COMPARISON;
  const one = <T extends string>(key: string, values: readonly T[]): T | undefined =>
    values.find((value) => value === params.get(key));
  const view: ComparisonView = {
    tab: one('tab', TABS) ?? standard.tab,
    at: one('at', ['peak', 'end']) ?? standard.at,
    deviceA: positionOf(params.get('device')),
    deviceB: positionOf(params.get('deviceB')),
    isSwapped: params.has('swap'),
    link: one('link', ['step', 'share']) ?? standard.link,
    window: windowOf(params.get('x')),
    sort: sortOf(params.get('sort')) ?? standard.sort,
    kind: one('kind', CHANGE_KINDS),
    class: params.get('class') ?? undefined,
    text: params.get('text') ?? '',
    row: params.get('row') ?? undefined,
  };
  return { view, a: fileIdOf(params.get('a')), b: fileIdOf(params.get('b')) };
}

const fileIdText = ({ name, bytes }: FileId): string => `${bytes}:${name}`;

function fileIdOf(text: string | null): FileId | undefined {
  const match = /^(\d{1,15}):(.*)$/s.exec(text ?? '');
  return match === null ? undefined : { bytes: Number(match[1]), name: match[2] ?? '' };
}

const positionOf = (text: string | null): number | undefined =>
  text !== null && /^\d{1,4}$/.test(text) ? Number(text) : undefined;

function windowOf(text: string | null): ComparisonView['window'] {
  const [from, to] = (text ?? '').split('..').map(Number);
  if (from === undefined || to === undefined || !(from < to)) return undefined;
  return Number.isFinite(from) && Number.isFinite(to) ? { from, to } : undefined;
}

function sortOf(text: string | null): ComparisonView['sort'] | undefined {
  const match = /^(-?)(\w+)$/.exec(text ?? '');
  const key = SORT_KEYS.find((known) => known === match?.[2]);
  return key === undefined ? undefined : { key, descending: match?.[1] === '-' };
}

export interface ComparisonViewHandle extends ParsedComparison {
  /** A change that Back undoes. */
  readonly commit: (change: Partial<ComparisonView>) => void;
  /** A change that Back skips: an automatic one, or part of a gesture. */
  readonly adjust: (change: Partial<ComparisonView>) => void;
  readonly close: () => void;
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
  const close = useCallback(() => view.commit({ comparison: undefined }), [view]);
  return useMemo(() => ({ ...parsed, commit, adjust, close }), [parsed, commit, adjust, close]);
}
