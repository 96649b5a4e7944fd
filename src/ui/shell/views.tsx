/**
 * The views on a snapshot: one entry and one folder a view. Each but the timeline is a chunk of its
 * own, fetched when it is first shown.
 */
import {
  BrickWall,
  ChartArea,
  ClipboardList,
  Flame,
  FlaskConical,
  Layers,
  List,
  type LucideIcon,
  MemoryStick,
  Table2,
} from 'lucide-react';
import type { ComponentType } from 'react';
import type { ViewName } from '../../state/view-store.ts';
import type { ViewProps } from '../shared/view-props.ts';
import { TimelineView } from '../timeline/timeline-view.tsx';

export interface ViewEntry {
  readonly name: ViewName;
  readonly label: string;
  readonly icon: LucideIcon;
  /** Has nothing to show of a device without events: then it is said why, and what is known. */
  readonly needsTrace?: boolean;
  /** The component, or how to fetch it. */
  readonly component?: ComponentType<ViewProps>;
  readonly load?: () => Promise<ComponentType<ViewProps>>;
}

/** In the order of the tabs; their place is the digit that shows them. */
export const VIEWS: readonly ViewEntry[] = [
  {
    name: 'timeline',
    label: 'Timeline',
    icon: ChartArea,
    needsTrace: true,
    component: TimelineView,
  },
  {
    name: 'addresses',
    label: 'Addresses',
    icon: MemoryStick,
    needsTrace: true,
    load: async () => (await import('../address-map/addresses-view.tsx')).AddressesView,
  },
  {
    name: 'segments',
    label: 'Segments',
    icon: BrickWall,
    needsTrace: true,
    load: async () => (await import('../segments/segments-view.tsx')).SegmentsView,
  },
  {
    name: 'state',
    label: 'State',
    icon: Layers,
    load: async () => (await import('../allocator-state/state-view.tsx')).StateView,
  },
  {
    name: 'flame',
    label: 'Flame',
    icon: Flame,
    load: async () => (await import('../flame-graph/flame-view.tsx')).FlameView,
  },
  {
    name: 'events',
    label: 'Events',
    icon: List,
    needsTrace: true,
    load: async () => (await import('../events/events-view.tsx')).EventsView,
  },
  {
    name: 'allocations',
    label: 'Allocations',
    icon: Table2,
    load: async () => (await import('../allocations/allocations-view.tsx')).AllocationsView,
  },
  {
    name: 'summary',
    label: 'Summary',
    icon: ClipboardList,
    load: async () => (await import('../memory-summary/summary-view.tsx')).SummaryView,
  },
  {
    name: 'whatif',
    label: 'What if',
    icon: FlaskConical,
    load: async () => (await import('../simulator/whatif-view.tsx')).WhatIfView,
  },
];
