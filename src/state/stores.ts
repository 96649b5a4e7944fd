/** The page's stores, made once in main.tsx and passed by React context; tests make their own. */
import { createContext, useContext } from 'react';
import { useStore } from 'zustand';
import { createPreferencesStore, type Preferences } from './preferences.ts';
import { createSessionStore, type SessionState } from './session-store.ts';
import { createViewStore, type ViewState } from './view-store.ts';

export const createStores = () => ({
  session: createSessionStore(),
  view: createViewStore(),
  preferences: createPreferencesStore(),
});

export type Stores = Readonly<ReturnType<typeof createStores>>;

export const StoresContext = createContext<Stores | undefined>(undefined);

export function useStores(): Stores {
  const stores = useContext(StoresContext);
  if (stores === undefined) throw new Error('No StoresContext above this component');
  return stores;
}

/** Selectors must return the same reference for the same state: fields, not new objects. */
export function useSession<T>(select: (state: SessionState) => T): T {
  return useStore(useStores().session, select);
}

export function useView<T>(select: (view: ViewState) => T): T {
  return useStore(useStores().view, (state) => select(state.view));
}

export function usePreferences<T>(select: (preferences: Preferences) => T): T {
  return useStore(useStores().preferences, select);
}
