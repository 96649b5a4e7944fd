/** The flame graph's requests, made from the view, and the answers. */
import { useMemo } from 'react';
import { useView } from '../../../state/stores.ts';
import type { ViewState } from '../../../state/view-store.ts';
import type { FlameAnswer, FlameDataRequest, FlameRequest } from '../../../worker/protocol.ts';
import { useQuery, type WithoutDevice } from '../../shared/use-query.ts';

/** What the table, the exports and the boxes have in common. */
export type FlameQuery = WithoutDevice<FlameDataRequest>;

export type FlameBoxesQuery = WithoutDevice<FlameRequest>;

/**
 * What is added up. Leaves fields undefined that don't change the answer, so equal queries compare equal: a peak does
 * not move with the cursor.
 */
export function flameQuery(view: ViewState): FlameQuery {
  const { dataset, weight, groupBy, frames } = view.flame;
  const isAtCursor = dataset === 'cursor' || dataset === 'difference';
  // `state:` and `age` in a search refer to the cursor.
  const needsCursor = isAtCursor || view.search !== '';
  const window = view.x === 'all' ? undefined : { axis: view.axis, ...view.x };
  return {
    dataset,
    weight,
    groupBy,
    frames,
    cursor: needsCursor ? view.cursor : undefined,
    secondCursor: dataset === 'difference' ? view.secondCursor : undefined,
    window: dataset === 'window' ? window : undefined,
    search: view.search,
    onlyMatches: view.onlyMatches,
  };
}

/** Leaves out boxes narrower than about a pixel. @param widthPx of the graph */
export function flameBoxesQuery(view: ViewState, widthPx: number): FlameBoxesQuery {
  // In steps, so resizing a panel does not send a request for each width.
  const steppedWidth = 2 ** Math.ceil(Math.log2(Math.max(256, widthPx)));
  const { inverted, root } = view.flame;
  return { ...flameQuery(view), inverted, root, smallestShare: 1 / steppedWidth };
}

export interface FlameReady {
  readonly answer: FlameAnswer;
  readonly request: FlameBoxesQuery;
  /** What the table asks: stays the same object while only zooming. */
  readonly query: FlameQuery;
  /** The answer is the previous one, and another is on its way. */
  readonly isBusy: boolean;
}

/** The boxes for the view; none before the first answer. Sends nothing until the width is known (0). */
export function useFlame(widthPx: number): {
  readonly ready: FlameReady | undefined;
  readonly failure: string | undefined;
} {
  // Compared as text: the view changes with each step of a pan, which rarely changes the query.
  const text = useView((view) => JSON.stringify(flameBoxesQuery(view, widthPx)));
  const wanted = useMemo((): FlameBoxesQuery => JSON.parse(text), [text]);
  const {
    value: answer,
    request,
    isCurrent,
    failure,
  } = useQuery('flame', widthPx > 0 ? wanted : undefined, { cancelsStale: true });
  // Zooming and inverting change the boxes, not the rows.
  const { inverted: _, root: __, smallestShare: ___, ...own } = request ?? {};
  const queryText = request && JSON.stringify(own);
  const query = useMemo(
    (): FlameQuery | undefined => (queryText === undefined ? undefined : JSON.parse(queryText)),
    [queryText],
  );
  if (failure !== undefined || !answer || !request || !query) return { ready: undefined, failure };
  return { ready: { answer, request, query, isBusy: !isCurrent }, failure };
}
