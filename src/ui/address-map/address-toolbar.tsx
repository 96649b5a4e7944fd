import type { RefObject } from 'react';
import type { AddressSlots } from '../../core/address-map/address-layout.ts';
import type { AddressHighlight } from '../../engine/handlers/address-map.ts';
import { ColorLegend } from '../legend/color-legend.tsx';
import { ColorSelect } from '../legend/color-select.tsx';
import { AxisSwitch } from '../plot/axis-switch.tsx';
import { ColorKey } from '../plot/color-key.tsx';
import { FitButton } from '../plot/fit-button.tsx';
import type { PlotPlace } from '../plot/plot-source.ts';
import { useTheme } from '../theme/use-theme.ts';
import { addressColors, markColors } from './address-palette.ts';
import { FreeFacts } from './free-facts.tsx';
import { freeColors } from './free-strip.ts';
import { PinnedAddress } from './pinned-address.tsx';
import { SlotKinds } from './slot-kinds.tsx';

interface AddressToolbarProps {
  readonly slots: AddressSlots;
  /** What was clicked. */
  readonly place: PlotPlace | undefined;
  /** What is outlined of a finding. */
  readonly highlight: AddressHighlight | undefined;
  readonly readout: RefObject<HTMLDivElement | null>;
  readonly onFit: () => void;
}

/** How the map is drawn, what its colours mean, and how much is free. */
export function AddressToolbar(props: AddressToolbarProps) {
  const { slots, place, highlight, readout, onFit } = props;
  return (
    <div className="plot-toolbar">
      <div className="toolbar-row" ref={readout}>
        <AxisSwitch />
        <FitButton onFit={onFit} />
        <ColorSelect />
        <SlotKinds slots={slots} />
        <span className="event-readout" data-readout="event" />
      </div>
      <FreeFacts slots={slots} />
      <div className="free-row">
        <PinnedAddress slots={slots} place={place} />
        <FreeLegend highlight={highlight} />
      </div>
      <ColorLegend />
    </div>
  );
}

function FreeLegend({ highlight }: Pick<AddressToolbarProps, 'highlight'>) {
  const theme = useTheme();
  const { free, largest } = freeColors(theme);
  const { block, gap } = markColors(theme);
  const blocks = { color: block, label: 'blocks of the finding' };
  const gaps = { color: gap, label: 'its gaps' };
  return (
    <ColorKey
      label="Free memory"
      entries={[
        { color: addressColors(theme).gap, label: 'reserved, free' },
        { color: largest, label: 'largest range' },
        { color: free, label: 'all that is free' },
        ...((highlight?.allocations.length ?? 0) > 0 ? [blocks] : []),
        ...((highlight?.bands.length ?? 0) > 0 ? [gaps] : []),
      ]}
    />
  );
}
