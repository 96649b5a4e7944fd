/** What belongs to the user and not to a link: kept in localStorage, read with suspicion. */
import { createStore, type StoreApi } from 'zustand/vanilla';

export type Theme = 'system' | 'light' | 'dark';

export interface Preferences {
  readonly theme: Theme;
  /** Share of the width that the details panel takes. */
  readonly detailsPercent: number;
}

export const DEFAULT_PREFERENCES: Preferences = { theme: 'system', detailsPercent: 28 };

/** The part of localStorage that is used; any call may throw (private mode, blocked, full). */
export type PreferenceStorage = Pick<Storage, 'getItem' | 'setItem'>;

export interface PreferencesStore extends StoreApi<Preferences> {
  set(change: Partial<Preferences>): void;
}

const KEY = 'vramscope.preferences';
const MIN_PERCENT = 10;
const MAX_PERCENT = 70;

/** @param storage gives localStorage; reading that property alone throws where it is blocked */
export function createPreferencesStore(
  storage: () => PreferenceStorage = () => localStorage,
): PreferencesStore {
  const store = createStore<Preferences>(() => read(storage));
  function set(change: Partial<Preferences>): void {
    store.setState(change);
    write(storage, store.getState());
  }
  return Object.assign(store, { set });
}

/** Whatever the text holds, each preference is a valid one: its own default where it is not. */
export function parsePreferences(text: string | null): Preferences {
  const { theme, detailsPercent } = parseObject(text);
  return {
    theme: isTheme(theme) ? theme : DEFAULT_PREFERENCES.theme,
    detailsPercent: isPercent(detailsPercent) ? detailsPercent : DEFAULT_PREFERENCES.detailsPercent,
  };
}

function parseObject(text: string | null): { theme?: unknown; detailsPercent?: unknown } {
  try {
    const value: unknown = JSON.parse(text ?? '{}');
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    return {};
  }
}

const isTheme = (value: unknown): value is Theme =>
  value === 'system' || value === 'light' || value === 'dark';

const isPercent = (value: unknown): value is number =>
  typeof value === 'number' && value >= MIN_PERCENT && value <= MAX_PERCENT;

function read(storage: () => PreferenceStorage): Preferences {
  try {
    return parsePreferences(storage().getItem(KEY));
  } catch {
    return DEFAULT_PREFERENCES;
  }
}

function write(storage: () => PreferenceStorage, preferences: Preferences): void {
  try {
    storage().setItem(KEY, JSON.stringify(preferences));
  } catch {
    // Private mode or a full disk: the choice holds until the page is closed, which is all it can.
  }
}
