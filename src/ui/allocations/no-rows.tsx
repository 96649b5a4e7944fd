import { useStores, useView } from '../../state/stores.ts';
import { emptyReasons } from '../search/match-labels.ts';
import { useDevice } from '../shared/device-context.ts';
import { useQuery } from '../shared/use-query.ts';

/** Why the list is empty, and what to do. */
export function NoRows() {
  const { device } = useDevice();
  const { view } = useStores();
  const search = useView((state) => state.search);
  const cursor = useView((state) => state.cursor);
  const request = device.allocations === 0 ? undefined : { search, at: cursor };
  const summary = useQuery('searchSummary', request).value;
  if (device.allocations === 0) {
    return (
      <p>
        Nothing was allocated on this device while it was recorded, and nothing was there when the
        snapshot was taken.
      </p>
    );
  }
  const reasons = summary === undefined ? [] : emptyReasons(summary);
  return (
    <>
      {reasons.map((reason) => (
        <p key={reason}>{reason}</p>
      ))}
      <p>
        <button type="button" className="button" onClick={() => view.commit({ search: '' })}>
          Clear the search
        </button>
      </p>
    </>
  );
}
