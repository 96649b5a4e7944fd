import { formatCount, formatCountCompact } from '../../core/base/format.ts';
import type { ActionCount } from '../../core/lists/event-list-types.ts';

interface ActionChipsProps {
  readonly chosen: readonly string[];
  readonly actions: readonly ActionCount[];
  readonly onChange: (chosen: readonly string[]) => void;
}

/** None chosen is all: one click leaves one kind, another adds a second. */
export function ActionChips({ chosen, actions, onChange }: ActionChipsProps) {
  const toggle = (action: string) =>
    onChange(
      chosen.includes(action) ? chosen.filter((other) => other !== action) : [...chosen, action],
    );
  return (
    <fieldset className="event-chips" aria-label="Actions">
      {actions.map(({ action, count }) => (
        <button
          key={action}
          type="button"
          className="event-chip"
          data-action={action}
          aria-pressed={chosen.includes(action)}
          title={`${formatCount(count)} ${action} events pass the rest of the filter`}
          onClick={() => toggle(action)}
        >
          {action} <span className="dim">{formatCountCompact(count)}</span>
        </button>
      ))}
    </fieldset>
  );
}
