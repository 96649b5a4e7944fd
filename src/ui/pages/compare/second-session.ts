/**
 * The file that the open one is compared with, in a worker of its own. It begins to be read as soon as it is
 * given, beside the other one, and ends with the comparison.
 */
import { createStore, type StoreApi } from 'zustand/vanilla';
import { errorText } from '../../../base/errors.ts';
import { LoadError, type LoadFailure } from '../../../base/load-error.ts';
import type { SessionInfo } from '../../../device/model/device-info.ts';
import { nameOf } from '../../../state/snapshot-loader.ts';
import { createSessionClient, type SessionClient } from '../../../worker/client.ts';
import type { IdleCounter } from '../../../worker/instrumentation.ts';
import type { OpenProgress, OpenSource } from '../../../worker/protocol.ts';

export type SecondState =
  | { readonly phase: 'loading'; readonly progress: OpenProgress | undefined }
  | { readonly phase: 'ready'; readonly info: SessionInfo }
  | { readonly phase: 'failed'; readonly failure: LoadFailure };

export interface SecondSession extends StoreApi<SecondState> {
  readonly name: string;
  readonly session: SessionClient;
  /** Reads the same file up to its fault. */
  openPartially(): void;
  /** Ends the worker. */
  close(): void;
}

export function beginSecondSession(source: OpenSource, idle: IdleCounter): SecondSession {
  const store = createStore<SecondState>(() => ({ phase: 'loading', progress: undefined }));
  const session = createSessionClient({ idle });
  let isClosed = false;
  const show = (state: SecondState) => {
    if (!isClosed) store.setState(state, true);
  };
  const open = (allowPartial: boolean) => {
    show({ phase: 'loading', progress: undefined });
    session
      .open(
        source,
        { allowPartial },
        { onProgress: (progress) => show({ phase: 'loading', progress }) },
      )
      .then(
        (info) => show({ phase: 'ready', info }),
        (error: unknown) => show({ phase: 'failed', failure: failureOf(error) }),
      );
  };
  open(false);
  return Object.assign(store, {
    name: nameOf(source),
    session,
    openPartially: () => open(true),
    close() {
      isClosed = true;
      session.close();
    },
  });
}

function failureOf(error: unknown): LoadFailure {
  if (error instanceof LoadError) return error.failure;
  return new LoadError({ code: 'unexpected', message: errorText(error) }).failure;
}
