import type { CounterName } from '../../../allocator/replay/types.ts';
import { useStores, useView } from '../../../state/stores.ts';
import { ColorLegend, ColorSelect } from '../../panels/legend/color-legend.tsx';
import { AxisSwitch, FitButton } from '../../plot/plot-controls.tsx';
import { Segmented } from '../../shared/buttons.tsx';
import { COUNTERS } from '../../shared/device-labels.ts';
import { plotStyle } from '../../theme/palette.ts';
import { useTheme } from '../../theme/use-theme.ts';

export function TimelineToolbar() {
  return (
    <div className="plot-toolbar">
      <div className="row toolbar-row">
        <AxisSwitch />
        <FitButton />
        <ColorSelect />
        <BandSwitch />
      </div>
      <ColorLegend />
    </div>
  );
}

const STACKINGS = [
  { value: 'blocks', label: 'Blocks', about: 'Blocks in the order in which they were allocated' },
  {
    value: 'bands',
    label: 'Bands',
    about: 'One band for each class, as export_memory_timeline drew it',
  },
] as const;

/** Only by class: other colorings have too many colors to follow as bands. */
function BandSwitch() {
  const { view } = useStores();
  const isByClass = useView(({ colorBy }) => colorBy === 'class');
  const stackOrder = useView((state) => state.stackOrder);
  if (!isByClass) return undefined;
  return (
    <Segmented
      label="Order"
      value={stackOrder === 'class' ? 'bands' : 'blocks'}
      options={STACKINGS}
      onChange={(stacking) => view.commit({ stackOrder: stacking === 'bands' ? 'class' : 'time' })}
    />
  );
}

/** Switches the lines, and shows their values and the event at the pointer or the cursor (see writeReadout). */
export function CounterReadout() {
  const { view } = useStores();
  const lines = useView((state) => state.lines);
  const colors = plotStyle(useTheme()).lines;
  const toggle = (name: CounterName) =>
    view.commit({
      lines: lines.includes(name) ? lines.filter((line) => line !== name) : [...lines, name],
    });
  return (
    <div className="row plot-readout">
      {COUNTERS.map(({ name, label, about }) => (
        <button
          key={name}
          type="button"
          className="counter hoverable"
          aria-pressed={lines.includes(name)}
          aria-label={`${label} line`}
          title={about}
          onClick={() => toggle(name)}
        >
          <span className="line-swatch" style={{ background: colors[name] }} aria-hidden />
          <span className="one-line dim counter-name">{label}</span>
          <span className="counter-value" data-readout={name} />
        </button>
      ))}
      <span className="one-line event-readout">
        <span data-readout="event" />
        <span data-readout="time" />
      </span>
    </div>
  );
}
