import { ChartArea, type LucideIcon } from 'lucide-react';

interface ViewTab {
  readonly id: string;
  readonly label: string;
  readonly icon: LucideIcon;
}

/** One entry and one folder a view. */
const VIEWS: readonly ViewTab[] = [{ id: 'timeline', label: 'Timeline', icon: ChartArea }];

/** The views on a snapshot. */
export function ViewTabs() {
  return (
    <nav className="view-tabs" data-testid="view-tabs" aria-label="Views">
      {VIEWS.map(({ id, label, icon: Icon }) => (
        <button key={id} type="button" className="view-tab" aria-current="page">
          <Icon size={14} aria-hidden />
          {label}
        </button>
      ))}
    </nav>
  );
}
