import type { IdleCounter } from '../../../state/page-timings.ts';
import { createSessionStore, type SessionStore } from '../../../state/session-store.ts';
import {
  createSnapshotLoader,
  nameOf,
  type SnapshotLoader,
} from '../../../state/snapshot-loader.ts';
import { createSessionClient, type SessionClient } from '../../../worker/client.ts';
import type { OpenSource } from '../../../worker/protocol.ts';

/** The second file of the comparison, in its own worker. It starts reading at once and closes with the comparison. */
export interface SecondSession {
  readonly name: string;
  readonly session: SessionClient;
  readonly state: SessionStore;
  readonly loader: SnapshotLoader;
}

export function beginSecondSession(source: OpenSource, idle: IdleCounter): SecondSession {
  const session = createSessionClient({ idle });
  const state = createSessionStore();
  const prepare = async () => () => undefined;
  const loader = createSnapshotLoader({ client: session, idle, session: state, prepare });
  void loader.open(source).then(loader.shown);
  return { name: nameOf(source), session, state, loader };
}
