import { COLORINGS, type ColorBy } from '../../core/raster/types.ts';
import { useStores, useView } from '../../state/stores.ts';
import { useColorings } from './use-legend.ts';

const LABELS: Readonly<Record<ColorBy, string>> = {
  stack: 'call stack',
  site: 'top sites',
  size: 'size',
  stream: 'stream',
  pool: 'pool',
  phase: 'phase',
  category: 'category',
  compile: 'compiled region',
};

/** What the colours of the allocations tell apart; what a snapshot does not record is said, not hidden. */
export function ColorSelect() {
  const { view } = useStores();
  const current = useView((state) => state.colorBy);
  const choices = useColorings();
  const reasonOf = (colorBy: ColorBy) => choices.find((one) => one.colorBy === colorBy)?.reason;
  const choose = (value: string) => {
    const colorBy = COLORINGS.find((one) => one === value);
    if (colorBy !== undefined) view.commit({ colorBy });
  };
  return (
    <label className="labelled">
      <span className="dim">Colour by</span>
      <select
        className="select"
        value={current}
        onChange={({ currentTarget }) => choose(currentTarget.value)}
      >
        {COLORINGS.map((colorBy) => {
          const reason = reasonOf(colorBy);
          return (
            <option key={colorBy} value={colorBy} disabled={reason !== undefined}>
              {LABELS[colorBy]}
              {reason !== undefined && ` (${reason})`}
            </option>
          );
        })}
      </select>
    </label>
  );
}
