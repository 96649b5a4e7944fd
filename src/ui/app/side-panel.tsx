import { DetailsPanel } from '../details/details-panel.tsx';
import type { Selection } from '../details/use-selection.ts';
import type { ViewProps } from './views.tsx';

interface SidePanelProps extends ViewProps {
  readonly selection: Selection;
}

/** Beside every view: what is selected. */
export function SidePanel({ device, selection }: SidePanelProps) {
  return <DetailsPanel device={device} selection={selection} />;
}
