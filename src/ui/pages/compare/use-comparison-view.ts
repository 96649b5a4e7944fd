import { useCallback, useMemo } from 'react';
import { useStores, useView } from '../../../state/stores.ts';
import {
  type ComparisonView,
  encodeComparison,
  type FileMark,
  type ParsedComparison,
  parseComparison,
} from './comparison-view.ts';

export interface ComparisonViewHandle extends ParsedComparison {
  /** A change that Back undoes. */
  readonly commit: (change: Partial<ComparisonView>) => void;
  /** One that follows by itself or is part of a movement. */
  readonly adjust: (change: Partial<ComparisonView>) => void;
  readonly close: () => void;
}

/** What of the comparison is looked at, as the address has it. */
export function useComparisonView(
  a: FileMark | undefined,
  b: FileMark | undefined,
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
