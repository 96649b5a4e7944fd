/** The views in tabs and menus. */
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
import type { ViewName } from '../../state/view-store.ts';

interface ViewLabel {
  readonly label: string;
  readonly icon: LucideIcon;
  /** Needs events. For a device without them, the page explains why they are missing. */
  readonly needsTrace?: true;
}

export const VIEW_LABELS: Readonly<Record<ViewName, ViewLabel>> = {
  timeline: { label: 'Timeline', icon: ChartArea, needsTrace: true },
  'address-map': { label: 'Addresses', icon: MemoryStick, needsTrace: true },
  segments: { label: 'Segments', icon: BrickWall, needsTrace: true },
  'allocator-state': { label: 'State', icon: Layers },
  'flame-graph': { label: 'Flame', icon: Flame },
  events: { label: 'Events', icon: List, needsTrace: true },
  allocations: { label: 'Allocations', icon: Table2 },
  'memory-summary': { label: 'Summary', icon: ClipboardList },
  'what-if': { label: 'What if', icon: FlaskConical },
};
