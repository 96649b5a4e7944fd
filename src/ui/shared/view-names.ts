/** The views in tabs and menus: most views have a tab, and those of the allocator share one. */
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
import { VIEW_NAMES, type ViewName } from '../../state/view-store.ts';

interface ViewLabel {
  readonly label: string;
  readonly icon: LucideIcon;
  /** Needs events. For a device without them, the page explains why they are missing. */
  readonly needsTrace?: true;
  /** What it shows. Only for views that share a tab. */
  readonly about?: string;
}

export const VIEW_LABELS: Readonly<Record<ViewName, ViewLabel>> = {
  timeline: { label: 'Timeline', icon: ChartArea, needsTrace: true },
  'address-map': {
    label: 'Addresses',
    icon: MemoryStick,
    needsTrace: true,
    about: 'Where each block was over time, and the free memory between blocks.',
  },
  segments: {
    label: 'Segments',
    icon: BrickWall,
    needsTrace: true,
    about: 'What PyTorch reserved over time, segment by segment.',
  },
  'allocator-state': {
    label: 'State',
    icon: Layers,
    about: 'Each segment at the cursor, with its blocks and free memory.',
  },
  'flame-graph': { label: 'Flame', icon: Flame },
  events: { label: 'Events', icon: List, needsTrace: true },
  allocations: { label: 'Allocations', icon: Table2 },
  'memory-summary': { label: 'Summary', icon: ClipboardList },
  'what-if': { label: 'What if', icon: FlaskConical },
};

interface ViewTab extends Pick<ViewLabel, 'label' | 'icon'> {
  readonly views: readonly ViewName[];
}

const tabOf = (view: ViewName): ViewTab => ({ ...VIEW_LABELS[view], views: [view] });

export const VIEW_TABS: readonly ViewTab[] = [
  tabOf('timeline'),
  {
    label: 'Allocator',
    icon: MemoryStick,
    views: ['address-map', 'segments', 'allocator-state'],
  },
  ...(['flame-graph', 'events', 'allocations', 'memory-summary', 'what-if'] as const).map(tabOf),
];

/** The views that share a tab with this one, and this one. */
export const viewsOfTab = (name: ViewName): readonly ViewName[] =>
  VIEW_TABS.find(({ views }) => views.includes(name))?.views ?? [];

/** The digit that shows a view, whether it has a tab or shares one. */
export const digitOf = (name: ViewName): number => VIEW_NAMES.indexOf(name) + 1;
