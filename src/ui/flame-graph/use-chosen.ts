import { useEffect, useState } from 'react';
import type { FlameQuestion } from '../../engine/handlers/flame-graph.ts';
import { useServices } from '../shared/services.ts';
import type { Chosen } from './flame-selection.ts';

export type Choose = (chosen: Chosen | undefined) => void;

/**
 * What the user chose, as it is in the answer to the present question: a row chosen at the peak has
 * other figures at the end, and may have none. Undefined until those are known.
 */
export function useChosen(question: FlameQuestion): readonly [Chosen | undefined, Choose] {
  const { session } = useServices();
  const [chosen, choose] = useState<Chosen | undefined>(undefined);
  const isStale = chosen?.kind === 'row' && chosen.question !== question;
  const key = chosen?.kind === 'row' ? chosen.row.key : undefined;
  useEffect(() => {
    if (!isStale || key === undefined) return;
    const controller = new AbortController();
    session.flameRow({ ...question, key }, { signal: controller.signal }).then(
      (row) => choose(row && { kind: 'row', row, question }),
      // Called off, or the worker has gone, which the page says in its own place.
      () => undefined,
    );
    return () => controller.abort();
  }, [session, question, key, isStale]);
  return [isStale ? undefined : chosen, choose];
}
