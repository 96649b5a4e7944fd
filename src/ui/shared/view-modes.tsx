import { useStores, useView } from '../../state/stores.ts';
import { Segmented } from './buttons.tsx';
import { digitOf, VIEW_LABELS, viewsOfTab } from './view-names.ts';

/** Switches between the views of one tab, which show the same event. First in the toolbar of each. */
export function ViewModes() {
  const { view } = useStores();
  const current = useView((state) => state.view);
  const modes = viewsOfTab(current);
  if (modes.length < 2) return undefined;
  const options = modes.map((value) => {
    const { label, about = label } = VIEW_LABELS[value];
    return { value, label, about: `${about} (${digitOf(value)})` };
  });
  return (
    <div className="view-modes">
      <Segmented
        label="Allocator view"
        value={current}
        options={options}
        onChange={(name) => view.commit({ view: name })}
      />
    </div>
  );
}
