import { useEffect, useMemo, useReducer } from 'react';
import { LruCache } from '../../base/collections.ts';
import type { RowRange } from './table-scroll.ts';

/** The rows of a table, read as they come into view. A new object means a new table. */
export interface RowSource<R> {
  readonly count: number;
  /** The row to show in the middle at first; undefined: the table stays where it was. */
  readonly start?: number | undefined;
  /** A row that the page already has; undefined while it waits for it. */
  at?(index: number): R | undefined;
  /** Rows from `from` to before `to`, in order. Rejects with an AbortError when `signal` is aborted. */
  load?(from: number, to: number, signal: AbortSignal): Promise<readonly R[]>;
}

export const rowsAtHand = <R>(rows: readonly R[]): RowSource<R> => ({
  count: rows.length,
  at: (index) => rows[index],
});

const PAGE_ROWS = 128;
/** 8,000 rows of some hundred bytes, so scrolling back a little loads nothing again. */
const KEPT_PAGES = 64;
/** Rows read ahead on both sides of the visible ones, so a wheel step finds them loaded. */
const AHEAD = 64;

/**
 * Pages of a source around the visible rows. A page that leaves the view before it has loaded is cancelled: dragging the
 * scrollbar through ten million rows leaves no queue behind.
 */
export class RowPages<R> {
  readonly #source: RowSource<R>;
  readonly #onChange: () => void;
  readonly #pages = new LruCache<readonly R[]>(KEPT_PAGES);
  readonly #loading = new Map<number, AbortController>();
  #failure: unknown;

  constructor(source: RowSource<R>, onChange: () => void) {
    this.#source = source;
    this.#onChange = onChange;
  }

  /** Why the rows asked for last could not be read; undefined if they could. */
  get failure(): unknown {
    return this.#failure;
  }

  /** Undefined until loaded. */
  row(index: number): R | undefined {
    if (this.#source.at !== undefined) return this.#source.at(index);
    return this.#pages.get(`${Math.floor(index / PAGE_ROWS)}`)?.[index % PAGE_ROWS];
  }

  /** Tries again what could not be read before. */
  want(rows: RowRange): void {
    const first = Math.floor(rows.from / PAGE_ROWS);
    const end = rows.to <= rows.from ? first : Math.ceil(rows.to / PAGE_ROWS);
    for (const [page, controller] of this.#loading) {
      if (page >= first && page < end) continue;
      this.#loading.delete(page);
      controller.abort();
    }
    const { load } = this.#source;
    if (load === undefined) return;
    for (let page = first; page < end; page++) {
      const isThere = this.#pages.get(`${page}`) !== undefined || this.#loading.has(page);
      if (!isThere) void this.#load(page, load);
    }
  }

  close(): void {
    for (const controller of this.#loading.values()) controller.abort();
    this.#loading.clear();
  }

  async #load(page: number, load: NonNullable<RowSource<R>['load']>): Promise<void> {
    const controller = new AbortController();
    this.#loading.set(page, controller);
    const from = page * PAGE_ROWS;
    const to = Math.min(this.#source.count, from + PAGE_ROWS);
    try {
      const rows = await load(from, to, controller.signal);
      if (controller.signal.aborted) return;
      this.#pages.set(`${page}`, rows);
      this.#failure = undefined;
    } catch (error) {
      if (controller.signal.aborted) return;
      this.#failure = error;
    }
    this.#loading.delete(page);
    this.#onChange();
  }
}

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
