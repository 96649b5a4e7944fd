import type { CounterName } from '../../core/replay/types.ts';
import { useStores, useView } from '../../state/stores.ts';
import { COUNTERS } from '../shared/counters.ts';
import { plotStyle } from '../theme/plot-style.ts';
import { useTheme } from '../theme/use-theme.ts';

/** Switches the lines, and says their values at the crosshair (see Readout). */
export function CounterLegend() {
  const { view } = useStores();
  const lines = useView((state) => state.lines);
  const colors = plotStyle(useTheme()).lines;
  const toggle = (name: CounterName) =>
    view.commit({
      lines: lines.includes(name) ? lines.filter((line) => line !== name) : [...lines, name],
    });
  return (
    <div className="toolbar-row counter-legend">
      {COUNTERS.map(({ name, label, about }) => (
        <button
          key={name}
          type="button"
          className="counter"
          aria-pressed={lines.includes(name)}
          aria-label={`${label} line`}
          title={about}
          onClick={() => toggle(name)}
        >
          <span className="counter-swatch" style={{ background: colors[name] }} aria-hidden />
          <span className="counter-name">{label}</span>
          <span className="counter-value" data-readout={name} />
        </button>
      ))}
    </div>
  );
}
