/** What is open, opening, or failed to open. Plain data; the tables stay in the worker. */
import { createStore, type StoreApi } from 'zustand/vanilla';
import type { LoadFailure } from '../base/load-error.ts';
import type { SessionInfo } from '../device/model/device-info.ts';
import type { OpenProgress, PartialState } from '../worker/protocol.ts';

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

export interface SessionStore extends StoreApi<SessionState> {
  /**
   * A query about an open snapshot failed. Reported once, not per pending query, and never for a snapshot that was
   * replaced meanwhile.
   */
  broke(info: SessionInfo, failure: LoadFailure): void;
  dismissFailure(): void;
}

export function createSessionStore(): SessionStore {
  const store = createStore<SessionState>(() => ({ phase: 'idle' }));
  return Object.assign(store, {
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
