import './color-legend.css';
import { CATEGORIES } from '../../core/timeline/classes.ts';
import type { ColorBy } from '../../core/timeline/types.ts';
import { useView } from '../../state/stores.ts';
import { classColors, plotColors, type ThemeName } from '../theme/palette.ts';
import { useTheme } from '../theme/use-theme.ts';

interface LegendEntry {
  readonly label: string;
  /** One swatch, or several side by side for a group. */
  readonly colors: readonly string[];
}

/** What the colours of the blocks mean. */
export function ColorLegend() {
  const colorBy = useView((state) => state.colorBy);
  const theme = useTheme();
  return (
    <ul className="color-legend" aria-label="Colours">
      {entriesOf(theme, colorBy).map(({ label, colors }) => (
        <li key={label}>
          <span className="swatches" aria-hidden>
            {colors.map((color) => (
              <span key={color} style={{ background: color }} />
            ))}
          </span>
          {label}
        </li>
      ))}
    </ul>
  );
}

function entriesOf(theme: ThemeName, colorBy: ColorBy): readonly LegendEntry[] {
  const { pending, thin } = plotColors(theme);
  return [
    ...classEntries(theme, colorBy),
    { label: 'thinner than a pixel', colors: [thin] },
    { label: 'freed, awaiting a stream', colors: [pending] },
  ];
}

/** Edges of the nine size classes of core/timeline/classes.ts, three powers of two each. */
const SIZE_EDGES = ['4 KiB', '32 KiB', '256 KiB', '2 MiB', '16 MiB', '128 MiB', '1 GiB', '8 GiB'];

function classEntries(theme: ThemeName, colorBy: ColorBy): readonly LegendEntry[] {
  const colors = classColors(theme, colorBy);
  switch (colorBy) {
    case 'stack':
      return [
        { label: 'one colour a call stack', colors: colors.slice(3) },
        { label: 'no stack known', colors: colors.slice(0, 3) },
      ];
    case 'size':
      return [
        { label: `below ${SIZE_EDGES[0]}`, colors: colors.slice(0, 1) },
        { label: `up to ${SIZE_EDGES.at(-1)}`, colors: colors.slice(1, -1) },
        { label: 'above', colors: colors.slice(-1) },
      ];
    case 'category':
      return [
        { label: 'none', colors: colors.slice(0, 1) },
        ...CATEGORIES.map((category, index) => ({
          label: category.replaceAll('_', ' '),
          colors: colors.slice(index + 1, index + 2),
        })),
        { label: 'other', colors: colors.slice(CATEGORIES.length + 1) },
      ];
  }
}
