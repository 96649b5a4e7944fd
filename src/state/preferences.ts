/** What belongs to the user and not to a link. Kept in localStorage, whose content is never trusted. */
import { createStore } from 'zustand/vanilla';

const THEMES = ['system', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

export interface Preferences {
  readonly theme: Theme;
  /** Share of the width that the details panel takes. */
  readonly detailsPercent: number;
}

export const DEFAULT_PREFERENCES: Preferences = { theme: 'system', detailsPercent: 28 };

/** The part of localStorage that is used; any call may throw (private mode, blocked, full). */
export type PreferenceStorage = Pick<Storage, 'getItem' | 'setItem'>;

const KEY = 'vramscope.preferences';
const MIN_PERCENT = 10;
const MAX_PERCENT = 70;

/** @param storage gives localStorage; reading that property alone throws where it is blocked */
export function createPreferencesStore(storage: () => PreferenceStorage = () => localStorage) {
  const store = createStore<Preferences>(() => {
    try {
      return parsePreferences(storage().getItem(KEY));
    } catch {
      return DEFAULT_PREFERENCES;
    }
  });
  return {
    ...store,
    set(change: Partial<Preferences>): void {
      store.setState(change);
      try {
        storage().setItem(KEY, JSON.stringify(store.getState()));
      } catch {
        // Private mode or a full disk: the choice lasts until the page is closed.
      }
    },
  };
}

/** Reads any text. A preference that is missing or invalid has its default. */
export function parsePreferences(text: string | null): Preferences {
  const { theme, detailsPercent: percent } = parseObject(text);
  const isPercent = typeof percent === 'number' && percent >= MIN_PERCENT && percent <= MAX_PERCENT;
  return {
    theme: THEMES.find((one) => one === theme) ?? DEFAULT_PREFERENCES.theme,
    detailsPercent: isPercent ? percent : DEFAULT_PREFERENCES.detailsPercent,
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
