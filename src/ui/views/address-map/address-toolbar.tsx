import type { AddressSlots } from '../../../draw/address-map/address-layout.ts';
import type { AddressHighlight } from '../../../worker/protocol.ts';
import { ColorLegend, ColorSelect } from '../../panels/legend/color-legend.tsx';
import { AxisSwitch, ColorKey, FitButton } from '../../plot/plot-controls.tsx';
import type { PlotPixel } from '../../plot/plot-source.ts';
import { useTheme } from '../../theme/use-theme.ts';
import { FreeFacts, PinnedAddress, SlotKinds } from './address-facts.tsx';
import { addressColors, markColors } from './address-source.ts';

interface AddressToolbarProps {
  readonly slots: AddressSlots;
  readonly place: PlotPixel | undefined;
  /** The outlined evidence of a finding. */
  readonly highlight: AddressHighlight | undefined;
}

export function AddressToolbar({ slots, place, highlight }: AddressToolbarProps) {
  return (
    <div className="plot-toolbar">
      <div className="row toolbar-row">
        <AxisSwitch />
        <FitButton field="addresses" />
        <ColorSelect />
        <SlotKinds slots={slots} />
        <span className="one-line event-readout" data-readout="event" />
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
  const { gap, largest, free } = addressColors(theme);
  const marks = markColors(theme);
  const blocks = { color: marks.block, label: 'blocks of the finding' };
  const gaps = { color: marks.gap, label: 'its gaps' };
  return (
    <ColorKey
      label="Free memory"
      entries={[
        { color: gap, label: 'reserved, free' },
        { color: largest, label: 'largest free range' },
        { color: free, label: 'total free' },
        ...((highlight?.allocations.length ?? 0) > 0 ? [blocks] : []),
        ...((highlight?.bands.length ?? 0) > 0 ? [gaps] : []),
      ]}
    />
  );
}
