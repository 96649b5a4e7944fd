import { useEffect, useMemo, useReducer } from 'react';
import { RowPages, type RowSource } from './row-pages.ts';
import type { RowRange } from './scroll-scale.ts';

/** Rows read ahead on both sides of what is visible, so that a wheel step meets rows. */
const AHEAD = 64;

/** The pages of a source, read around `visible`; renders anew when rows have come. */
export function useRowPages<R>(source: RowSource<R>, visible: RowRange): RowPages<R> {
  const [, redraw] = useReducer((count: number) => count + 1, 0);
  const pages = useMemo(() => new RowPages(source, redraw), [source]);
  const from = Math.max(0, visible.from - AHEAD);
  const to = Math.min(source.count, visible.to + AHEAD);
  const isSized = visible.to > visible.from;
  useEffect(() => {
    if (isSized) pages.want({ from, to });
  }, [pages, from, to, isSized]);
  useEffect(() => () => pages.close(), [pages]);
  return pages;
}
