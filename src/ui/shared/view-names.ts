/** Names of the views in tabs, menus and file names. */
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
}

export const VIEW_LABELS: Readonly<Record<ViewName, ViewLabel>> = {
  timeline: { label: 'Timeline', icon: ChartArea },
  'address-map': { label: 'Addresses', icon: MemoryStick },
  segments: { label: 'Segments', icon: BrickWall },
  'allocator-state': { label: 'State', icon: Layers },
  'flame-graph': { label: 'Flame', icon: Flame },
  events: { label: 'Events', icon: List },
  allocations: { label: 'Allocations', icon: Table2 },
  'memory-summary': { label: 'Summary', icon: ClipboardList },
  'what-if': { label: 'What if', icon: FlaskConical },
};
