/** What the events view lists: its own filter, and what the page's state adds to that. */

import { X } from 'lucide-react';
import type { ReactNode } from 'react';
import { formatCount, formatCountCompact, parseBytes } from '../../../base/format.ts';
import type { ActionCount, EventFacets } from '../../../device/lists/event-list-types.ts';
import { parseSearch } from '../../../device/search/parse-search.ts';
import { useView } from '../../../state/stores.ts';
import type { ViewState } from '../../../state/view-store.ts';
import type { EventChoice } from '../../../worker/handlers/event-list.ts';

/** What is chosen in the view itself. */
export interface EventSettings {
  /** Empty: all. */
  readonly actions: readonly string[];
  /** As typed: '64 MiB'. */
  readonly minSize: string;
  readonly maxSize: string;
  readonly stream: number | undefined;
  readonly pool: string | undefined;
  readonly isWindowOnly: boolean;
  readonly isSelectedOnly: boolean;
}

export const ALL_EVENTS: EventSettings = {
  actions: [],
  minSize: '',
  maxSize: '',
  stream: undefined,
  pool: undefined,
  isWindowOnly: false,
  isSelectedOnly: false,
};

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
    at: asksOfCursor(search) ? cursor : undefined,
    window: settings.isWindowOnly && x !== 'all' ? { axis, ...x } : undefined,
    allocation: settings.isSelectedOnly && selected >= 0 ? selected : undefined,
  };
}

function asksOfCursor(search: string): boolean {
  return parseSearch(search).terms.some(
    ({ condition: { kind } }) => kind === 'age' || kind === 'state',
  );
}

interface EventFilterBarProps {
  readonly settings: EventSettings;
  readonly onChange: (change: Partial<EventSettings>) => void;
  readonly facets: EventFacets | undefined;
  /** Label of the selected allocation. */
  readonly selection: string | undefined;
}

/** Which events are listed, beside the search. */
export function EventFilterBar(props: EventFilterBarProps) {
  const { settings, onChange, facets, selection } = props;
  const isZoomed = useView((view) => view.x !== 'all');
  return (
    <search className="row event-filter" aria-label="Which events">
      <SizeRange settings={settings} onChange={onChange} />
      {facets !== undefined && facets.streams.length > 1 && (
        <Select
          label="Stream"
          value={settings.stream === undefined ? '' : String(settings.stream)}
          onChange={(value) => onChange({ stream: value === '' ? undefined : Number(value) })}
        >
          {facets.streams.map((stream, index) => (
            <option key={stream} value={index}>
              {stream}
            </option>
          ))}
        </Select>
      )}
      {facets !== undefined && (
        <Select
          label="Pool"
          value={settings.pool ?? ''}
          onChange={(value) => onChange({ pool: value === '' ? undefined : value })}
        >
          {facets.pools.map((pool) => (
            <option key={pool} value={pool}>
              {pool}
            </option>
          ))}
        </Select>
      )}
      <Only
        label="Window"
        title={
          isZoomed
            ? 'Only events in the timeline’s window'
            : 'The timeline shows the whole trace. Zoom in first.'
        }
        isOn={settings.isWindowOnly}
        isUseful={isZoomed}
        onChange={(isWindowOnly) => onChange({ isWindowOnly })}
      />
      <Only
        label="Selected"
        title={
          selection === undefined
            ? 'No allocation is selected. Click a row to select one.'
            : `Only events of ${selection}`
        }
        isOn={settings.isSelectedOnly}
        isUseful={selection !== undefined}
        onChange={(isSelectedOnly) => onChange({ isSelectedOnly })}
      />
      {isFiltering(settings) && (
        <button type="button" className="button" onClick={() => onChange(ALL_EVENTS)}>
          <X size={13} aria-hidden />
          Clear
        </button>
      )}
    </search>
  );
}

interface SelectProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly children: ReactNode;
}

function Select({ label, value, onChange, children }: SelectProps) {
  return (
    <label>
      <span className="visually-hidden">{label}</span>
      <select
        className="field"
        value={value}
        onChange={({ currentTarget }) => onChange(currentTarget.value)}
      >
        <option value="">all {label.toLowerCase()}s</option>
        {children}
      </select>
    </label>
  );
}

interface OnlyProps {
  readonly label: string;
  readonly title: string;
  readonly isOn: boolean;
  readonly isUseful: boolean;
  readonly onChange: (isOn: boolean) => void;
}

function Only({ label, title, isOn, isUseful, onChange }: OnlyProps) {
  return (
    <label className="inline-row labelled" title={title}>
      <input
        type="checkbox"
        checked={isOn}
        disabled={!isUseful && !isOn}
        onChange={({ currentTarget }) => onChange(currentTarget.checked)}
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

/** No chip pressed lists every action; pressing one lists only that kind, pressing another adds it. */
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

interface SizeRangeProps {
  readonly settings: EventSettings;
  readonly onChange: (change: Partial<EventSettings>) => void;
}

function SizeRange({ settings, onChange }: SizeRangeProps) {
  return (
    <fieldset className="row event-sizes" aria-label="Size">
      <SizeInput
        label="Smallest size"
        placeholder="min size"
        value={settings.minSize}
        onChange={(minSize) => onChange({ minSize })}
      />
      <SizeInput
        label="Largest size"
        placeholder="max size"
        value={settings.maxSize}
        onChange={(maxSize) => onChange({ maxSize })}
      />
    </fieldset>
  );
}

interface SizeInputProps {
  readonly label: string;
  readonly placeholder: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

function SizeInput({ label, placeholder, value, onChange }: SizeInputProps) {
  const isBad = isBadSize(value);
  return (
    <input
      type="text"
      className="field event-size"
      aria-label={label}
      aria-invalid={isBad}
      placeholder={placeholder}
      title={
        isBad ? `"${value}" is not a size. Write 512, 64KiB or 1.5 GiB.` : `${label}, as 64 MiB`
      }
      value={value}
      onChange={({ currentTarget }) => onChange(currentTarget.value)}
    />
  );
}
