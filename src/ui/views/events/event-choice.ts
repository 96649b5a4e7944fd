/** What the events view lists: its own filter, and what the page's state adds to that. */
import { parseBytes } from '../../../base/format.ts';
import { parseSearch } from '../../../device/search/parse-search.ts';
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
