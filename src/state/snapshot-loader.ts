/** Opens what the user gave, one file at a time. The newest wins; the store shows progress. */
import { failureOf, LoadError } from '../base/load-error.ts';
import type { SessionInfo } from '../device/model/device-info.ts';
import { createSessionClient, type SessionClient } from '../worker/client.ts';
import type { OpenOptions, OpenProgress, OpenSource } from '../worker/protocol.ts';
import { isSamePlace } from './disk-files.ts';
import type { IdleCounter } from './page-timings.ts';
import {
  createSessionStore,
  openInfo,
  type SessionState,
  type SessionStore,
  withOpen,
} from './stores.ts';
import type { ViewState, ViewStore } from './view-store.ts';

export type SnapshotLoader = ReturnType<typeof createSnapshotLoader>;

export interface SnapshotLoaderOptions {
  readonly idle: Pick<IdleCounter, 'begin'>;
  readonly client: Pick<SessionClient, 'open' | 'expectFile'>;
  readonly session: SessionStore;
  /** What the page shows of the open file, for {@link SnapshotLoader.goBack}. */
  readonly view?: Pick<ViewStore, 'getState' | 'restore'>;
  /** Names the content of a source, so that the page can see when it changes on disk. */
  readonly versionOf?: (source: OpenSource) => Promise<string | undefined>;
  /** Loads the code that shows a snapshot, in parallel with reading. Resolves to what comes before it is shown. */
  readonly prepare: () => Promise<(info: SessionInfo, source: OpenSource, key: string) => void>;
}

interface Opened {
  /** Of its place, for {@link SnapshotLoader.reopen}. */
  readonly key: string;
  readonly source: OpenSource;
  readonly options: OpenOptions;
  /** When it began to be read. */
  readonly version: Promise<string | undefined> | undefined;
}

/** A file that another one replaced, as the page showed it last. */
interface Replaced extends Opened {
  readonly view: ViewState | undefined;
}

/** Of the files opened before, these many can be opened again. A dropped one is kept by reference, not read. */
const MOST_KNOWN = 20;

const REPORT_IT = 'This is a bug in vramscope, not a problem with your file. Please report it.';

export function createSnapshotLoader(given: SnapshotLoaderOptions) {
  const { client, idle, session, view, versionOf, prepare } = given;
  let controller: AbortController | undefined;
  let latest: OpenSource | undefined;
  let opened: Opened | undefined;
  let replaced: Replaced | undefined;
  /** All that were opened, the latest last. */
  let known: readonly Opened[] = [];
  /** Ends the idle-tracking of an opening whose snapshot is not on screen yet. */
  let endShowing: (() => void) | undefined;

  /** Resolves once the file is open, has failed or was cancelled; never rejects. */
  async function open(source: OpenSource, options: OpenOptions = {}): Promise<void> {
    controller?.abort();
    const own = new AbortController();
    controller = own;
    latest = source;
    const name = nameOf(source);
    const previous = openInfo(session.getState());
    // `true` replaces the state: a merge would keep fields of the previous phase.
    const become = (state: SessionState) => controller === own && session.setState(state, true);
    let progress: OpenProgress | undefined;
    const onProgress = (now: OpenProgress | undefined) => {
      progress = now;
      become({ phase: 'loading', name, progress, previous });
    };
    onProgress(undefined);
    const end = idle.begin();
    let isToBeShown = false;
    // A file that can't be looked at is not watched.
    const version = versionOf?.(source).catch(() => undefined);
    try {
      const reading = client.open({ source, ...options }, { signal: own.signal, onProgress });
      const [info, take] = await Promise.all([reading, prepare().catch(tellOffline)]);
      if (controller !== own) return;
      const same = known.find((one) => isSamePlace(one.source, source));
      // History entries outlive the page, so no other page may use the same key.
      const key = same?.key ?? `${performance.timeOrigin} ${performance.now()}`;
      if (opened !== undefined && opened.key !== key)
        replaced = { ...opened, view: view?.getState().view };
      take(info, source, key);
      isToBeShown = true;
      endShowing = end;
      opened = { key, source, options, version };
      known = [...known.filter((one) => one !== same), opened].slice(-MOST_KNOWN);
      become({ phase: 'ready', info });
    } catch (error) {
      const failure = failureOf(error, 'vramscope failed while reading this file', REPORT_IT);
      const partial = failure.partialEvents === undefined ? undefined : progress?.partial;
      if (own.signal.aborted) become(withOpen(previous));
      else become({ phase: 'failed', name, failure, previous, partial });
    } finally {
      if (!isToBeShown) end();
    }
  }

  return {
    open,
    /** Reopens the source that failed last, up to its damage. */
    openPartially: async () => {
      if (latest !== undefined) await open(latest, { allowPartial: true });
    },
    opened: () => opened?.source,
    openedVersion: async () => opened?.version,
    /** The file that the open one replaced. */
    replaced: () => replaced?.source,
    /** Opens that file again, as it was shown. The file open until then takes its place. */
    goBack: async () => {
      if (replaced === undefined) return;
      const before = replaced;
      await open(before.source, before.options);
      if (opened?.source === before.source && before.view !== undefined) view?.restore(before.view);
    },
    /** Opens the file of a key again; if another page opened it, from its URL. False if it has none either. */
    reopen: async (key: string, url: string | null): Promise<boolean> => {
      const { source, options } = known.find((one) => one.key === key) ?? {};
      const again: OpenSource | null = source ?? ((url && { kind: 'url', url }) || null);
      if (again !== null) await open(again, options);
      return again !== null;
    },
    /** The page shows the opened file. Until this call, the page is not idle. */
    shown: () => endShowing?.(),
    cancel: () => controller?.abort(),
    /** A file may be given soon: loads what it will need. Call the result if it is no longer expected. */
    expectFile(): () => void {
      // A failure is reported when the code is needed.
      prepare().catch(() => undefined);
      return client.expectFile();
    },
  };
}

/** The file's name, or the last part of a URL's path. */
export function nameOf(source: OpenSource): string {
  if (source.kind === 'blob') return source.name;
  const path = source.url.replace(/[?#].*$/s, '');
  return path.slice(path.lastIndexOf('/') + 1) || source.url;
}

/** The page loaded but the rest cannot: the server is gone or has a newer build. */
function tellOffline(): never {
  throw new LoadError({
    code: 'views-unreachable',
    message: 'Part of the page could not be loaded.',
    advice: 'Reload the page and open the file again.',
  });
}

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
