/**
 * The views on a snapshot: one entry and one folder a view. Each but the timeline is a chunk of its
 * own, fetched when it is first shown.
 */
import type { ComponentType } from 'react';
import type { ViewName } from '../../state/view-store.ts';
import { TimelineView } from '../timeline/timeline-view.tsx';

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
    load: async () => (await import('../address-map/address-map-view.tsx')).AddressMapView,
  },
  {
    name: 'segments',
    needsTrace: true,
    load: async () => (await import('../segments/segments-view.tsx')).SegmentsView,
  },
  {
    name: 'state',
    load: async () => (await import('../allocator-state/state-view.tsx')).StateView,
  },
  {
    name: 'flame',
    load: async () => (await import('../flame-graph/flame-view.tsx')).FlameView,
  },
  {
    name: 'events',
    needsTrace: true,
    load: async () => (await import('../events/events-view.tsx')).EventsView,
  },
  {
    name: 'allocations',
    load: async () => (await import('../allocations/allocations-view.tsx')).AllocationsView,
  },
  {
    name: 'summary',
    load: async () => (await import('../memory-summary/summary-view.tsx')).SummaryView,
  },
  {
    name: 'whatif',
    load: async () => (await import('../simulator/whatif-view.tsx')).WhatIfView,
  },
];
