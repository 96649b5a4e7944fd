import { useEffect, useSyncExternalStore } from 'react';
import { usePreferences } from '../../state/stores.ts';
import type { ThemeName } from './palette.ts';

const darkQuery = window.matchMedia('(prefers-color-scheme: dark)');

function subscribeToSystem(onChange: () => void): () => void {
  darkQuery.addEventListener('change', onChange);
  return () => darkQuery.removeEventListener('change', onChange);
}

export function useTheme(): ThemeName {
  const choice = usePreferences((preferences) => preferences.theme);
  const systemIsDark = useSyncExternalStore(subscribeToSystem, () => darkQuery.matches);
  if (choice !== 'system') return choice;
  return systemIsDark ? 'dark' : 'light';
}

/** Tells the style sheets the user's choice; used once, at the top. */
export function useThemeAttribute(): void {
  const choice = usePreferences((preferences) => preferences.theme);
  useEffect(() => {
    const { dataset } = document.documentElement;
    if (choice === 'system') delete dataset.theme;
    else dataset.theme = choice;
  }, [choice]);
}
