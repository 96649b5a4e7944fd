/**
 * The views on a snapshot: one entry and one folder a view. Each but the timeline is a chunk of its
 * own, fetched when it is first shown.
 */
import { ChartArea, FlaskConical, type LucideIcon } from 'lucide-react';
import type { ComponentType } from 'react';
import type { DeviceInfo, SessionInfo } from '../../core/query/types.ts';
import type { ViewName } from '../../state/view-store.ts';
import { TimelineView } from '../timeline/timeline-view.tsx';

export interface ViewProps {
  readonly info: SessionInfo;
  readonly device: DeviceInfo;
  /** The pinned allocation, -1 for none. */
  readonly selected: number;
}

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
    name: 'whatif',
    label: 'What if',
    icon: FlaskConical,
    load: async () => (await import('../whatif/whatif-view.tsx')).WhatIfView,
  },
];
