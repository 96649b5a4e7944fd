/**
 * The views on a snapshot: one entry and one folder a view. Each but the timeline is a chunk of its
 * own, fetched when it is first shown.
 */
import type { ComponentType } from 'react';
import { useStores, useView } from '../../../state/stores.ts';
import type { ViewName } from '../../../state/view-store.ts';
import { isTextField, useKeyDown } from '../../shared/use-key-down.ts';
import { VIEW_LABELS } from '../../shared/view-names.ts';
import { TimelineView } from '../../views/timeline/timeline-view.tsx';

export interface ViewEntry {
  readonly name: ViewName;
  /** Has nothing to show of a device without events: then it is said why, and what is known. */
  readonly needsTrace?: boolean;
  /** The component, or how to fetch it. */
  readonly component?: ComponentType;
  readonly load?: () => Promise<ComponentType>;
}

/** In the order of the tabs; their place is the digit that shows them. */
export const VIEWS: readonly ViewEntry[] = [
  {
    name: 'timeline',
    needsTrace: true,
    component: TimelineView,
  },
  {
    name: 'addresses',
    needsTrace: true,
    load: async () => (await import('../../views/address-map/address-map-view.tsx')).AddressMapView,
  },
  {
    name: 'segments',
    needsTrace: true,
    load: async () => (await import('../../views/segments/segments-view.tsx')).SegmentsView,
  },
  {
    name: 'state',
    load: async () => (await import('../../views/allocator-state/state-view.tsx')).StateView,
  },
  {
    name: 'flame',
    load: async () => (await import('../../views/flame-graph/flame-view.tsx')).FlameView,
  },
  {
    name: 'events',
    needsTrace: true,
    load: async () => (await import('../../views/events/events-view.tsx')).EventsView,
  },
  {
    name: 'allocations',
    load: async () =>
      (await import('../../views/allocations/allocations-view.tsx')).AllocationsView,
  },
  {
    name: 'summary',
    load: async () => (await import('../../views/memory-summary/summary-view.tsx')).SummaryView,
  },
  {
    name: 'whatif',
    load: async () => (await import('../../views/simulator/whatif-view.tsx')).WhatIfView,
  },
];

/** The views on a snapshot, also by the digits 1 to 9. */
export function ViewTabs() {
  const { view } = useStores();
  const current = useView((state) => state.view);
  useDigits();
  return (
    <nav className="view-tabs" data-testid="view-tabs" aria-label="Views">
      {VIEWS.map(({ name }, index) => {
        const { label, icon: Icon } = VIEW_LABELS[name];
        return (
          <button
            key={name}
            type="button"
            className="tab view-tab"
            aria-current={name === current ? 'page' : undefined}
            title={`${label} (${index + 1})`}
            onClick={() => view.commit({ view: name })}
          >
            <Icon size={14} aria-hidden />
            {label}
          </button>
        );
      })}
    </nav>
  );
}

function useDigits(): void {
  const { view } = useStores();
  useKeyDown((event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || isTextField(event.target)) return;
    const chosen = /^[1-9]$/.test(event.key) ? VIEWS[Number(event.key) - 1] : undefined;
    if (chosen === undefined) return;
    event.preventDefault();
    view.commit({ view: chosen.name });
  });
}
