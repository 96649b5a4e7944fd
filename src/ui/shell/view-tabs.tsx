import { useEffect } from 'react';
import { useStores, useView } from '../../state/stores.ts';
import { isTextField } from '../shared/use-shortcut.ts';
import { VIEW_LABELS } from '../shared/view-names.ts';
import { VIEWS } from './views.tsx';

/** The views on a snapshot, also by the digits 1 to 9. */
export function ViewTabs() {
  const { view } = useStores();
  const current = useView((state) => state.view);
  useDigits();
  return (
    <nav className="view-tabs" data-testid="view-tabs" aria-label="Views">
      {VIEWS.map(({ name }, index) => {
        const { label, icon: Icon } = VIEW_LABELS[name];
        return (
          <button
            key={name}
            type="button"
            className="view-tab"
            aria-current={name === current ? 'page' : undefined}
            title={`${label} (${index + 1})`}
            onClick={() => view.commit({ view: name })}
          >
            <Icon size={14} aria-hidden />
            {label}
          </button>
        );
      })}
    </nav>
  );
}

function useDigits(): void {
  const { view } = useStores();
  useEffect(() => {
    function onKeyDown(event: KeyboardEvent) {
      if (event.ctrlKey || event.altKey || event.metaKey || isTextField(event.target)) return;
      const chosen = /^[1-9]$/.test(event.key) ? VIEWS[Number(event.key) - 1] : undefined;
      if (chosen === undefined) return;
      event.preventDefault();
      view.commit({ view: chosen.name });
    }
    window.addEventListener('keydown', onKeyDown);
    return () => window.removeEventListener('keydown', onKeyDown);
  }, [view]);
}
