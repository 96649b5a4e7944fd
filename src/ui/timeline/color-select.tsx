import type { DeviceInfo } from '../../core/query/types.ts';
import type { ColorBy } from '../../core/timeline/types.ts';
import { useStores, useView } from '../../state/stores.ts';

const COLORINGS: readonly { readonly colorBy: ColorBy; readonly label: string }[] = [
  { colorBy: 'stack', label: 'call stack' },
  { colorBy: 'size', label: 'size' },
  { colorBy: 'category', label: 'category' },
];

/** What the colours of the allocations tell apart. */
export function ColorSelect({ device }: { readonly device: DeviceInfo }) {
  const { view } = useStores();
  const current = useView((state) => state.colorBy);
  const isKnown = ({ colorBy }: { readonly colorBy: ColorBy }) =>
    colorBy !== 'category' || device.hasCategory;
  const choose = (value: string) => {
    const chosen = COLORINGS.find(({ colorBy }) => colorBy === value);
    if (chosen !== undefined) view.commit({ colorBy: chosen.colorBy });
  };
  return (
    <label className="labelled">
      <span className="dim">Colour by</span>
      <select
        className="select"
        value={current}
        onChange={({ currentTarget }) => choose(currentTarget.value)}
      >
        {COLORINGS.map((coloring) => (
          <option key={coloring.colorBy} value={coloring.colorBy} disabled={!isKnown(coloring)}>
            {coloring.label}
            {isKnown(coloring) ? '' : ' (not recorded)'}
          </option>
        ))}
      </select>
    </label>
  );
}
