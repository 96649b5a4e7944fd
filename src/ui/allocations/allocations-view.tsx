import './allocations.css';
import { useStores, useView } from '../../state/stores.ts';
import { AllocationTable } from './allocation-table.tsx';
import { SiteTable } from './call-site-table.tsx';
import { LARGEST_FIRST, orderOf, SITES_AT_PEAK } from './list-order.ts';

/** All allocations that the search lets through, one a row, or their sites. */
export function AllocationsView() {
  const { view } = useStores();
  const sort = useView((state) => state.sort);
  const order = orderOf(sort);
  const modes = [
    { of: 'allocations', label: 'All', title: 'One row per allocation', sort: LARGEST_FIRST },
    { of: 'sites', label: 'By call site', title: 'One row per call stack', sort: SITES_AT_PEAK },
  ] as const;
  const switcher = (
    <fieldset className="segmented" aria-label="Rows">
      {modes.map((mode) => (
        <button
          key={mode.of}
          type="button"
          title={mode.title}
          aria-pressed={order.of === mode.of}
          onClick={() => order.of !== mode.of && view.commit({ sort: mode.sort })}
        >
          {mode.label}
        </button>
      ))}
    </fieldset>
  );
  return (
    <section className="view" aria-label="Allocations">
      {order.of === 'allocations' ? (
        <AllocationTable order={order} switcher={switcher} />
      ) : (
        <SiteTable order={order} switcher={switcher} />
      )}
    </section>
  );
}
