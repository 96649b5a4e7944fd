import './allocations.css';
import { useStores, useView } from '../../../state/stores.ts';
import { Segmented } from '../../shared/buttons.tsx';
import { AllocationTable } from './allocation-table.tsx';
import { SiteTable } from './call-site-table.tsx';
import { LARGEST_FIRST, orderOf, SITES_AT_PEAK } from './list.ts';

const ROWS = [
  { value: 'allocations', label: 'All', about: 'One row per allocation' },
  { value: 'sites', label: 'By call site', about: 'One row per call stack' },
] as const;

/** All allocations that the search lets through, one a row, or their sites. */
export function AllocationsView() {
  const { view } = useStores();
  const sort = useView((state) => state.sort);
  const order = orderOf(sort);
  const switcher = (
    <Segmented
      label="Rows"
      value={order.of}
      options={ROWS}
      onChange={(of) => view.commit({ sort: of === 'allocations' ? LARGEST_FIRST : SITES_AT_PEAK })}
    />
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
