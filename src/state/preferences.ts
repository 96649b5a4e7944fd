/** What belongs to the user rather than a link. Stored in localStorage, whose content is never trusted. */
import { createStore } from 'zustand/vanilla';

const THEMES = ['system', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

export interface Preferences {
  readonly theme: Theme;
  /** The details panel's share of the width. */
  readonly detailsPercent: number;
}

export const DEFAULT_PREFERENCES: Preferences = { theme: 'system', detailsPercent: 28 };

/** The used part of localStorage. Any call may throw (private mode, blocked, full). */
export type PreferenceStorage = Pick<Storage, 'getItem' | 'setItem'>;

const KEY = 'vramscope.preferences';
const MIN_PERCENT = 10;
const MAX_PERCENT = 70;

/** @param storage returns localStorage, since merely reading that property throws if it is blocked */
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
        // In private mode or on a full disk, the choice lasts until the page closes.
      }
    },
  };
}

/** Accepts any text. A missing or invalid preference gets its default. */
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
