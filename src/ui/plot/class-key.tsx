import { classLabels } from '../../device/classes/types.ts';
import { classColors } from '../theme/palette.ts';
import { useTheme } from '../theme/use-theme.ts';
import { ColorKey } from './plot-controls.tsx';

type ClassLabel = ReturnType<typeof classLabels>[number];

/** The colors of the classes that there are. */
export function ClassKey({ has }: { readonly has: (one: ClassLabel) => boolean }) {
  const colors = classColors(useTheme(), 'class');
  const entries = classLabels()
    .filter(has)
    .map((one) => ({ label: one.label, title: one.about, color: colors[one.class] ?? '' }));
  return <ColorKey label="Colors" entries={entries} />;
}
