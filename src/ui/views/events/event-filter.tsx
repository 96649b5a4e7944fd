/** What the events view lists: its own filter, combined with the page's search and selection. */

import { X } from 'lucide-react';
import { formatCount, formatCountCompact, parseBytes } from '../../../base/format.ts';
import type { ActionCount, EventFacets } from '../../../device/lists/event-list.ts';
import { dependsOnCursor } from '../../../device/search/parse-search.ts';
import { useView } from '../../../state/stores.ts';
import type { ViewState } from '../../../state/view-store.ts';
import type { EventChoice } from '../../../worker/protocol.ts';
import { Button, Select } from '../../shared/buttons.tsx';

export const ALL_EVENTS = {
  /** Empty means all. */
  actions: [] as readonly string[],
  /** As typed: '64 MiB'. */
  minSize: '',
  maxSize: '',
  stream: undefined as number | undefined,
  pool: undefined as string | undefined,
  isWindowOnly: false,
  isSelectedOnly: false,
};

export type EventSettings = Readonly<typeof ALL_EVENTS>;

export function isFiltering(settings: EventSettings): boolean {
  return JSON.stringify(settings) !== JSON.stringify(ALL_EVENTS);
}

/** True for text that is not a size. Empty text means any size. */
export function isBadSize(text: string): boolean {
  return text.trim() !== '' && parseBytes(text) === undefined;
}

/** @param selected the pinned allocation; -1 for none, which lists the events of all */
export function eventChoice(
  settings: EventSettings,
  view: Pick<ViewState, 'search' | 'cursor' | 'axis' | 'x'>,
  selected: number,
): EventChoice {
  const { actions, minSize, maxSize, stream, pool } = settings;
  const { search, cursor, axis, x } = view;
  return {
    actions: actions.length === 0 ? undefined : actions,
    minBytes: parseBytes(minSize),
    maxBytes: parseBytes(maxSize),
    stream,
    pool,
    search,
    // Otherwise each step of the cursor would rebuild the same list.
    at: dependsOnCursor(search) ? cursor : undefined,
    window: settings.isWindowOnly && x !== 'all' ? { axis, ...x } : undefined,
    allocation: settings.isSelectedOnly && selected >= 0 ? selected : undefined,
  };
}

interface EventFilterBarProps {
  readonly settings: EventSettings;
  readonly onChange: (change: Partial<EventSettings>) => void;
  readonly facets: EventFacets | undefined;
  readonly selection: string | undefined;
}

const SIZES = [
  { key: 'minSize', label: 'Smallest size', placeholder: 'min size' },
  { key: 'maxSize', label: 'Largest size', placeholder: 'max size' },
] as const;

export function EventFilterBar({ settings, onChange, facets, selection }: EventFilterBarProps) {
  const isZoomed = useView((view) => view.x !== 'all');
  const { isWindowOnly, isSelectedOnly, stream, pool } = settings;
  return (
    <search className="row event-filter" aria-label="Which events">
      <fieldset className="row event-sizes" aria-label="Size">
        {SIZES.map(({ key, label, placeholder }) => {
          const value = settings[key];
          const isBad = isBadSize(value);
          const advice = `"${value}" is not a size. Write 512, 64KiB or 1.5 GiB.`;
          return (
            <input
              key={key}
              type="text"
              className="field event-size"
              aria-label={label}
              aria-invalid={isBad}
              placeholder={placeholder}
              title={isBad ? advice : `${label}, as 64 MiB`}
              value={value}
              onChange={({ currentTarget }) => onChange({ [key]: currentTarget.value })}
            />
          );
        })}
      </fieldset>
      {facets !== undefined && facets.streams.length > 1 && (
        <Select
          aria-label="Stream"
          value={stream === undefined ? '' : `${stream}`}
          options={[
            { value: '', label: 'all streams' },
            ...facets.streams.map((label, index) => ({ value: `${index}`, label })),
          ]}
          onChoose={(value) => onChange({ stream: value === '' ? undefined : Number(value) })}
        />
      )}
      {facets !== undefined && (
        <Select
          aria-label="Pool"
          value={pool ?? ''}
          options={[
            { value: '', label: 'all pools' },
            ...facets.pools.map((value) => ({ value, label: value })),
          ]}
          onChoose={(value) => onChange({ pool: value || undefined })}
        />
      )}
      <Condition
        label="Window"
        title={
          isZoomed
            ? 'Only events in the timeline’s window'
            : 'The timeline shows the whole trace. Zoom in first.'
        }
        isOn={isWindowOnly}
        isPossible={isZoomed}
        onChange={(isOn) => onChange({ isWindowOnly: isOn })}
      />
      <Condition
        label="Selected"
        title={
          selection === undefined
            ? 'No allocation is selected. Click a row to select one.'
            : `Only events of ${selection}`
        }
        isOn={isSelectedOnly}
        isPossible={selection !== undefined}
        onChange={(isOn) => onChange({ isSelectedOnly: isOn })}
      />
      {isFiltering(settings) && (
        <Button icon={X} onClick={() => onChange(ALL_EVENTS)}>
          Clear
        </Button>
      )}
    </search>
  );
}

interface ConditionProps {
  readonly label: string;
  readonly title: string;
  readonly isOn: boolean;
  /** If not, it can only be switched off. */
  readonly isPossible: boolean;
  readonly onChange: (isOn: boolean) => void;
}

function Condition({ label, title, isOn, isPossible, onChange }: ConditionProps) {
  return (
    <label className="inline-row labeled" title={title}>
      <input
        type="checkbox"
        checked={isOn}
        disabled={!isPossible && !isOn}
        onChange={() => onChange(!isOn)}
      />
      {label}
    </label>
  );
}

interface ActionChipsProps {
  readonly chosen: readonly string[];
  readonly actions: readonly ActionCount[];
  readonly onChange: (chosen: readonly string[]) => void;
}

/** With no chip pressed, every action is listed; each pressed chip adds its kind. */
export function ActionChips({ chosen, actions, onChange }: ActionChipsProps) {
  const toggle = (action: string) =>
    onChange(
      chosen.includes(action) ? chosen.filter((other) => other !== action) : [...chosen, action],
    );
  return (
    <fieldset className="row event-chips" aria-label="Actions">
      {actions.map(({ action, count }) => (
        <button
          key={action}
          type="button"
          className="event-chip hoverable"
          data-action={action}
          aria-pressed={chosen.includes(action)}
          title={`${formatCount(count)} ${action} events match the other filters`}
          onClick={() => toggle(action)}
        >
          {action} <span className="dim">{formatCountCompact(count)}</span>
        </button>
      ))}
    </fieldset>
  );
}
