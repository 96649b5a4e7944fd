import { useEffect, useState } from 'react';
import { useAsk } from '../shared/use-query.ts';
import type { FlameQuery } from './flame-query.ts';
import type { Chosen } from './flame-selection.ts';

export type Choose = (chosen: Chosen | undefined) => void;

/**
 * What the user chose, as it is in the answer to the present query: a row chosen at the peak has
 * other figures at the end, and may have none. Undefined until those are known.
 */
export function useChosen(query: FlameQuery): readonly [Chosen | undefined, Choose] {
  const ask = useAsk();
  const [chosen, choose] = useState<Chosen | undefined>(undefined);
  const isStale = chosen?.kind === 'row' && chosen.query !== query;
  const key = chosen?.kind === 'row' ? chosen.row.key : undefined;
  useEffect(() => {
    if (!isStale || key === undefined) return;
    const controller = new AbortController();
    ask('flameRow', { ...query, key }, { signal: controller.signal }).then(
      (row) => choose(row && { kind: 'row', row, query }),
      // Called off, or the worker has gone, which the page says in its own place.
      () => undefined,
    );
    return () => controller.abort();
  }, [ask, query, key, isStale]);
  return [isStale ? undefined : chosen, choose];
}
