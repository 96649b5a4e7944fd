/** What is open, what is being opened and what failed to open. Plain data; the tables stay in the worker. */
import { createStore, type StoreApi } from 'zustand/vanilla';
import type { LoadFailure } from '../base/load-error.ts';
import type { SessionInfo } from '../device/model/device-info.ts';
import type { OpenProgress, PartialState } from '../worker/protocol.ts';

/** `previous` is the snapshot that stays open (and visible) until another has been read. */
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
      /** What was read of it before, which can still be seen. */
      readonly partial: PartialState | undefined;
    };

/**
 * Reports of one opening. All are ignored once a later opening has begun, so that the end of a
 * replaced opening cannot overwrite what the user sees.
 */
export interface LoadAttempt {
  progress(progress: OpenProgress): void;
  ready(info: SessionInfo): void;
  failed(failure: LoadFailure): void;
  /** Back to what was there before. */
  cancelled(): void;
  /** False once a later opening has begun. */
  isCurrent(): boolean;
}

export interface SessionStore extends StoreApi<SessionState> {
  /** A file was given. */
  begin(name: string): LoadAttempt;
  /**
   * A question about an open snapshot failed. Said once, not for every question that was under way,
   * and not of a snapshot that another one has replaced meanwhile.
   */
  broke(info: SessionInfo, failure: LoadFailure): void;
  /** The user has read the failure. */
  dismissFailure(): void;
}

export function createSessionStore(): SessionStore {
  const store = createStore<SessionState>(() => ({ phase: 'idle' }));
  // `true` replaces: a merge would leave the fields of the phase before.
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

/** What can be seen of a file that is read, or was read up to a fault; undefined for none. */
export function partialOf(state: SessionState): PartialState | undefined {
  if (state.phase === 'loading') return state.progress?.partial;
  return state.phase === 'failed' ? state.partial : undefined;
}

/** The snapshot that can be looked at, also while another is being opened or has failed. */
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
