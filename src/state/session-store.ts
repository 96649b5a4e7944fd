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

/**
 * Reports of one opening. They are ignored once a later opening begins, so that a replaced opening cannot overwrite
 * what the user sees.
 */
export interface LoadAttempt {
  progress(progress: OpenProgress): void;
  ready(info: SessionInfo): void;
  failed(failure: LoadFailure): void;
  /** Returns to the previous state. */
  cancelled(): void;
  /** False once a later opening has begun. */
  isCurrent(): boolean;
}

export interface SessionStore extends StoreApi<SessionState> {
  begin(name: string): LoadAttempt;
  /**
   * A query about an open snapshot failed. Reported once, not per pending query, and never for a snapshot that was
   * replaced meanwhile.
   */
  broke(info: SessionInfo, failure: LoadFailure): void;
  dismissFailure(): void;
}

export function createSessionStore(): SessionStore {
  const store = createStore<SessionState>(() => ({ phase: 'idle' }));
  // `true` replaces the state: a merge would keep fields of the previous phase.
  const become = (state: SessionState) => store.setState(state, true);
  const settle = (previous: SessionInfo | undefined) =>
    become(previous === undefined ? { phase: 'idle' } : { phase: 'ready', info: previous });
  let openings = 0;

  function begin(name: string): LoadAttempt {
    const number = ++openings;
    const previous = openInfo(store.getState());
    const isCurrent = () => number === openings;
    let partial: PartialState | undefined;
    become({ phase: 'loading', name, progress: undefined, previous });
    return {
      isCurrent,
      progress: (progress) => {
        partial = progress.partial;
        if (isCurrent()) become({ phase: 'loading', name, progress, previous });
      },
      ready: (info) => {
        if (isCurrent()) become({ phase: 'ready', info });
      },
      failed: (failure) => {
        const shown = failure.partialEvents === undefined ? undefined : partial;
        if (isCurrent()) become({ phase: 'failed', name, failure, previous, partial: shown });
      },
      cancelled: () => {
        if (isCurrent()) settle(previous);
      },
    };
  }

  function broke(info: SessionInfo, failure: LoadFailure): void {
    const state = store.getState();
    if (state.phase === 'ready' && state.info === info) begin(info.file.name).failed(failure);
  }

  function dismissFailure(): void {
    const state = store.getState();
    if (state.phase === 'failed') settle(state.previous);
  }

  return Object.assign(store, { begin, broke, dismissFailure });
}

/** The visible part of a file that is being read or failed partway. */
export function partialOf(state: SessionState): PartialState | undefined {
  if (state.phase === 'loading') return state.progress?.partial;
  return state.phase === 'failed' ? state.partial : undefined;
}

/** The snapshot to show, even while another is opening or has failed. */
export function openInfo(state: SessionState): SessionInfo | undefined {
  switch (state.phase) {
    case 'idle':
      return undefined;
    case 'ready':
      return state.info;
    case 'loading':
    case 'failed':
      return state.previous;
  }
}
