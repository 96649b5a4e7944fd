/** What the flame graph asks the worker, made from the view. */

import type { ViewState } from '../../../state/view-store.ts';
import type { FlameDataRequest, FlameRequest } from '../../../worker/handlers/flame-graph.ts';
import type { WithoutDevice } from '../../shared/use-query.ts';

/** What the table, the exports and the boxes ask: the same for all of them. */
export type FlameQuery = WithoutDevice<FlameDataRequest>;

/** What the boxes ask. */
export type FlameBoxesQuery = WithoutDevice<FlameRequest>;

/**
 * What is added up. Fields that make no difference to the answer are left undefined, so that two
 * queries that say the same are the same: a peak does not move with the cursor.
 */
export function flameQuery(view: ViewState): FlameQuery {
  const { dataset, weight, groupBy, frames } = view.flame;
  const isAtCursor = dataset === 'cursor' || dataset === 'difference';
  // `state:` and `age` in a search are meant at the cursor.
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
  return {
    ...flameQuery(view),
    inverted: view.flame.inverted,
    root: view.flame.root,
    smallestShare: 1 / nextPowerOfTwo(widthPx),
  };
}

/** In steps, so that resizing a panel does not send a request for each width. */
function nextPowerOfTwo(width: number): number {
  return 2 ** Math.ceil(Math.log2(Math.max(256, width)));
}
