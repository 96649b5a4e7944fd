/** The page's stores, made once in main.tsx and passed by React context; tests make their own. */
import { type Context, createContext, useContext } from 'react';
import { useStore } from 'zustand';
import { createStore } from 'zustand/vanilla';
import { isRecord } from '../base/collections.ts';
import type { LoadFailure } from '../base/load-error.ts';
import type { SessionInfo } from '../device/model/device-info.ts';
import type { SourceFolder } from '../device/model/source-folder.ts';
import type { OpenProgress, PartialState } from '../worker/protocol.ts';
import { NO_EDITOR, parseEditor } from './editor-choice.ts';
import { createViewStore, type ViewState } from './view-store.ts';

export const createStores = () => ({
  session: createSessionStore(),
  view: createViewStore(),
  preferences: createPreferencesStore(),
  source: createSourceStore(),
});

export type Stores = Readonly<ReturnType<typeof createStores>>;

export const StoresContext = createContext<Stores | undefined>(undefined);

/** @throws Error if nothing above the component provides it */
export function useProvided<T>(context: Context<T | undefined>): T {
  const value = useContext(context);
  if (value === undefined) throw new Error('A context is missing above this component');
  return value;
}

export const useStores = (): Stores => useProvided(StoresContext);

const createSourceStore = () =>
  createStore<{ readonly folder: SourceFolder | undefined }>(() => ({ folder: undefined }));

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

const THEMES = ['system', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

export const DEFAULT_PREFERENCES = {
  theme: 'system' as Theme,
  /** The details panel's share of the width. */
  detailsPercent: 28,
  editor: NO_EDITOR,
  /** Lists opened files on the page before a file: see recent-files.ts. */
  remembersFiles: false,
};
export type Preferences = Readonly<typeof DEFAULT_PREFERENCES>;

/** The used part of localStorage. Any call may throw (private mode, blocked, full). */
export type PreferenceStorage = Pick<Storage, 'getItem' | 'setItem'>;

const KEY = 'vramscope.preferences';
const MIN_PERCENT = 10;
const MAX_PERCENT = 70;

/** @param storage returns localStorage, since merely reading that property throws if it is blocked */
export function createPreferencesStore(storage: () => PreferenceStorage = () => localStorage) {
  /** Undefined if the storage is blocked. */
  function stored(): Preferences | undefined {
    try {
      return parsePreferences(storage().getItem(KEY));
    } catch {
      return undefined;
    }
  }
  const store = createStore<Preferences>(() => stored() ?? DEFAULT_PREFERENCES);
  return {
    ...store,
    /** Another tab has changed a preference: what is switched off there must not go on here. */
    refresh: () => store.setState(stored() ?? {}),
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
  const value = parsed(text);
  const { theme, detailsPercent: percent, editor, remembersFiles } = isRecord(value) ? value : {};
  const isPercent = typeof percent === 'number' && percent >= MIN_PERCENT && percent <= MAX_PERCENT;
  return {
    theme: THEMES.find((one) => one === theme) ?? DEFAULT_PREFERENCES.theme,
    detailsPercent: isPercent ? percent : DEFAULT_PREFERENCES.detailsPercent,
    editor: parseEditor(editor),
    remembersFiles: remembersFiles === true,
  };
}

function parsed(text: string | null): unknown {
  try {
    return JSON.parse(text ?? '{}');
  } catch {
    return undefined;
  }
}

/** `previous` is the snapshot that stays open and visible until the next one is read. */
export type SessionState =
  | { readonly phase: 'idle' }
  | {
      readonly phase: 'loading';
      readonly name: string;
      readonly progress: OpenProgress | undefined;
      readonly previous: SessionInfo | undefined;
    }
  | { readonly phase: 'ready'; readonly info: SessionInfo }
  | {
      readonly phase: 'failed';
      readonly name: string;
      readonly failure: LoadFailure;
      readonly previous: SessionInfo | undefined;
      /** The part read before the failure, which can still be viewed. */
      readonly partial: PartialState | undefined;
    };

export type SessionStore = ReturnType<typeof createSessionStore>;

export function createSessionStore() {
  const store = createStore<SessionState>(() => ({ phase: 'idle' }));
  return Object.assign(store, {
    /**
     * A query about an open snapshot failed. Reported once, not per pending query, and never for a snapshot that was
     * replaced meanwhile.
     */
    broke(info: SessionInfo, failure: LoadFailure): void {
      const state = store.getState();
      if (state.phase !== 'ready' || state.info !== info) return;
      const { name } = info.file;
      store.setState({ phase: 'failed', name, failure, previous: info, partial: undefined }, true);
    },
    dismissFailure(): void {
      const state = store.getState();
      if (state.phase === 'failed') store.setState(withOpen(state.previous), true);
    },
  });
}

/** The state with nothing under way. */
export const withOpen = (info: SessionInfo | undefined): SessionState =>
  info === undefined ? { phase: 'idle' } : { phase: 'ready', info };

/** The visible part of a file that is being read or failed partway. */
export function partialOf(state: SessionState): PartialState | undefined {
  if (state.phase === 'loading') return state.progress?.partial;
  return state.phase === 'failed' ? state.partial : undefined;
}

/** The snapshot to show, even while another is opening or has failed. */
export function openInfo(state: SessionState): SessionInfo | undefined {
  if (state.phase === 'idle') return undefined;
  return state.phase === 'ready' ? state.info : state.previous;
}
