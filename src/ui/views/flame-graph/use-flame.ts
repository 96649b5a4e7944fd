import { useMemo } from 'react';
import { useView } from '../../../state/stores.ts';
import type { FlameAnswer } from '../../../worker/handlers/flame-graph.ts';
import { useQuery } from '../../shared/use-query.ts';
import { type FlameBoxesQuery, type FlameQuery, flameBoxesQuery } from './flame-query.ts';

export interface FlameReady {
  readonly kind: 'ready';
  readonly answer: FlameAnswer;
  readonly request: FlameBoxesQuery;
  /** What the table asks: the same object while zooming alone. */
  readonly query: FlameQuery;
}

export type FlameState =
  | { readonly kind: 'loading' }
  | { readonly kind: 'failed'; readonly message: string }
  | FlameReady;

export interface AskedFlame {
  /** The last answer stays until the next one arrives. */
  readonly state: FlameState;
  readonly isBusy: boolean;
}

/** The boxes for the view. Sends no request until the width is known (0). */
export function useFlame(widthPx: number): AskedFlame {
  // Compared as text: the view changes with each step of a pan, which rarely changes the query.
  const text = useView((view) => JSON.stringify(flameBoxesQuery(view, widthPx)));
  const wanted = useMemo((): FlameBoxesQuery => JSON.parse(text), [text]);
  const { value, request, isCurrent, failure } = useQuery(
    'flame',
    widthPx > 0 ? wanted : undefined,
    { cancelsStale: true },
  );
  const query = useTableQuery(request);
  const state = useMemo((): FlameState => {
    if (failure !== undefined) return { kind: 'failed', message: failure };
    if (value === undefined || request === undefined || query === undefined) {
      return { kind: 'loading' };
    }
    return { kind: 'ready', answer: value, request, query };
  }, [value, request, query, failure]);
  return { state, isBusy: state.kind === 'ready' && !isCurrent };
}

/** Zooming and turning round change the boxes, not the rows. */
function useTableQuery(request: FlameBoxesQuery | undefined): FlameQuery | undefined {
  const { inverted: _, root: __, smallestShare: ___, ...own } = request ?? {};
  const text = request && JSON.stringify(own);
  return useMemo(() => (text === undefined ? undefined : JSON.parse(text)), [text]);
}
