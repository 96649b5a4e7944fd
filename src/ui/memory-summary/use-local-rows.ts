import { useMemo } from 'react';
import type { RowSource } from '../table/row-pages.ts';

/** A list that is here already, as the rows of a table. */
export function useLocalRows<R>(rows: readonly R[]): RowSource<R> {
  return useMemo(
    () => ({
      count: rows.length,
      load: (from: number, to: number) => Promise.resolve(rows.slice(from, to)),
    }),
    [rows],
  );
}
