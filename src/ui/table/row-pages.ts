import { useEffect, useMemo, useReducer } from 'react';
import type { RowRange } from './table-scroll.ts';

/** The rows of a table, read as they come into view. A new object means a new table. */
export interface RowSource<R> {
  readonly count: number;
  /** The row to show in the middle at first; undefined: the table stays where it was. */
  readonly start?: number | undefined;
  /** Rows from `from` to before `to`, in order. Rejects with an AbortError when `signal` is aborted. */
  load(from: number, to: number, signal: AbortSignal): Promise<readonly R[]>;
}

/** Rows already loaded, as a source. */
export const rowsAtHand = <R>(rows: readonly R[]): RowSource<R> => ({
  count: rows.length,
  load: async (from, to) => rows.slice(from, to),
});

const PAGE_ROWS = 128;
/** 8,000 rows of some hundred bytes, so scrolling back a little loads nothing again. */
const KEPT_PAGES = 64;

/**
 * Pages of a source around the visible rows. A page that leaves the view before it has loaded is canceled: dragging the
 * scrollbar through ten million rows leaves no queue behind.
 */
export class RowPages<R> {
  readonly #source: RowSource<R>;
  readonly #onChange: () => void;
  /** Least recently wanted first. */
  readonly #pages = new Map<number, readonly R[]>();
  readonly #loading = new Map<number, AbortController>();
  #wanted: RowRange = { from: 0, to: 0 };
  #failure: unknown;

  /** @param onChange called when rows arrive or fail to load */
  constructor(source: RowSource<R>, onChange: () => void) {
    this.#source = source;
    this.#onChange = onChange;
  }

  /** Why wanted rows could not be read; undefined if they could. */
  get failure(): unknown {
    return this.#failure;
  }

  /** Undefined until loaded. */
  row(index: number): R | undefined {
    return this.#pages.get(Math.floor(index / PAGE_ROWS))?.[index % PAGE_ROWS];
  }

  want(rows: RowRange): void {
    this.#wanted = rows;
    const { first, last } = pagesOf(rows);
    for (const [page, controller] of this.#loading) {
      if (page >= first && page <= last) continue;
      this.#loading.delete(page);
      controller.abort();
    }
    // Only the user retries after a failure: the next scroll step would fail as well.
    if (this.#failure !== undefined) return;
    for (let page = first; page <= last; page++) this.#wantPage(page);
    this.#forget();
  }

  retry(): void {
    this.#failure = undefined;
    this.want(this.#wanted);
  }

  /** Cancels pages that have not loaded. */
  close(): void {
    for (const controller of this.#loading.values()) controller.abort();
    this.#loading.clear();
  }

  #wantPage(page: number): void {
    const known = this.#pages.get(page);
    if (known === undefined) {
      if (!this.#loading.has(page)) void this.#load(page);
      return;
    }
    this.#pages.delete(page);
    this.#pages.set(page, known);
  }

  async #load(page: number): Promise<void> {
    const controller = new AbortController();
    this.#loading.set(page, controller);
    const from = page * PAGE_ROWS;
    const to = Math.min(this.#source.count, from + PAGE_ROWS);
    try {
      const rows = await this.#source.load(from, to, controller.signal);
      if (controller.signal.aborted) return;
      this.#pages.set(page, rows);
    } catch (error) {
      if (controller.signal.aborted) return;
      this.#failure = error;
    }
    this.#loading.delete(page);
    this.#onChange();
  }

  #forget(): void {
    for (const page of this.#pages.keys()) {
      if (this.#pages.size <= KEPT_PAGES) return;
      this.#pages.delete(page);
    }
  }
}

function pagesOf({ from, to }: RowRange): { readonly first: number; readonly last: number } {
  if (to <= from) return { first: 0, last: -1 };
  return { first: Math.floor(from / PAGE_ROWS), last: Math.floor((to - 1) / PAGE_ROWS) };
}

/** Rows read ahead on both sides of the visible ones, so a wheel step finds them loaded. */
const AHEAD = 64;

/** The pages of a source around `visible`; rerenders when rows arrive. */
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
