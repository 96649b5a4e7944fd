/**
 * Keeps the address bar and the view store equal. A commit adds a history entry, and so does the first move of a
 * gesture; further moves replace that entry once they pause. So does a file that replaces another. Back and Forward
 * restore an entry's view, and open its file again if another one is open.
 */
import { isRecord } from '../base/collections.ts';
import { startTimer } from '../base/task.ts';
import type { SessionInfo } from '../device/model/device-info.ts';
import type { OpenSource } from '../worker/protocol.ts';
import type { SnapshotLoader } from './snapshot-loader.ts';
import { encodeView, linkMismatch, type ParsedUrl, parseUrl } from './url-codec.ts';
import { openingView, placesBeyond, viewFitting } from './view-fitting.ts';
import type { ViewState, ViewStore } from './view-store.ts';

export type UrlWindow = Pick<
  Window,
  'history' | 'location' | 'addEventListener' | 'removeEventListener'
>;

interface UrlSyncOptions {
  readonly store: ViewStore;
  readonly window: UrlWindow;
  /** The open snapshot. While there is none, the URL stays as it is. */
  readonly openInfo: () => SessionInfo | undefined;
  /** What the user should know about the link; replaces earlier notices. */
  readonly onNotices: (notices: readonly string[]) => void;
  /** Called when the URL starts to lag behind the view; returns what to call once it has caught up. */
  readonly beginLag: () => () => void;
  /** Of {@link SnapshotLoader}. */
  readonly loader: Pick<SnapshotLoader, 'reopen' | 'cancel'>;
}

/** What each history entry carries: its file. */
interface EntryFile {
  readonly key: string;
  readonly name: string;
}

function fileOf(state: unknown): EntryFile | undefined {
  const { key, name } = isRecord(state) ? state : {};
  return typeof key === 'string' && typeof name === 'string' ? { key, name } : undefined;
}

/** What stays in the address whatever file is open: who frames the page, and the folder of the program. */
const OF_THE_PAGE = ['embedder', 'source'];

/** A page in a notebook's cell has no URL of its own. */
export const NO_URL = 'about:srcdoc';

/** Safari refuses more than 100 changes in 30 s. */
const PAUSE_MS = 400;

export type UrlSync = ReturnType<typeof startUrlSync>;

export function startUrlSync(options: UrlSyncOptions) {
  const { store, window, openInfo, onNotices, beginLag, loader } = options;
  let stopTimer: (() => void) | undefined;
  let endLag: (() => void) | undefined;
  /** The gesture of the current history entry; undefined once its moves have paused. */
  let gesture: number | undefined;
  /** True while the store takes over what the URL already says. */
  let isRestoring = false;
  /** The open file. The page's original URL describes the first one; later ones start afresh. */
  let file: EntryFile | undefined;
  let { search } = window.location;
  /** The file of the current history entry, while it is being opened again. */
  let awaited: EntryFile | undefined;

  /** The view that the URL describes. */
  const read = (info: SessionInfo | undefined): ParsedUrl =>
    parseUrl(window.location.hash, info && openingView(info));

  /** Gives a newly read snapshot its view, and its place in the history. */
  function take(info: SessionInfo, source: OpenSource, key: string): void {
    const isOther = file !== undefined && file.key !== key && awaited === undefined;
    // Back must return to how the file before was seen last.
    if (isOther && stopTimer !== undefined) write(store.getState().view, 'replaceState');
    const { view, madeFor, problems } = read(info);
    const mismatch = linkMismatch(madeFor, info.file);
    const isOfUrl = file === undefined || awaited !== undefined;
    store.restore(viewFitting(isOfUrl ? view : openingView(info), info));
    onNotices(
      isOfUrl
        ? [...problems, ...placesBeyond(view, info), ...(mismatch === undefined ? [] : [mismatch])]
        : [],
    );
    file = { key, name: info.file.name };
    awaited = undefined;
    search = searchOf(source);
    const { href, pathname, hash } = window.location;
    if (href === NO_URL) return;
    if (isOther) window.history.pushState(file, '', pathname + search);
    else window.history.replaceState(file, '', pathname + search + hash);
  }

  /** With `?snapshot=` if the file has a URL. */
  function searchOf(source: OpenSource): string {
    const given = new URLSearchParams(window.location.search);
    // Written by hand, because URLSearchParams would escape the slashes of samples/x.pickle.
    const params = [
      ...(source.kind === 'url'
        ? [`snapshot=${encodeURIComponent(source.url).replace(/%2F/g, '/')}`]
        : []),
      ...OF_THE_PAGE.filter((key) => given.has(key)).map(
        (key) => `${key}=${encodeURIComponent(given.get(key) ?? '')}`,
      ),
    ];
    return params.length === 0 ? '' : `?${params.join('&')}`;
  }

  function cancelTimer(): void {
    stopTimer?.();
    stopTimer = undefined;
    endLag?.();
    endLag = undefined;
  }

  function write(view: ViewState, how: 'pushState' | 'replaceState'): void {
    cancelTimer();
    const info = openInfo();
    const { href, pathname, hash } = window.location;
    if (info === undefined || awaited !== undefined || href === NO_URL) return;
    const encoded = encodeView(view, info.file, openingView(info));
    const wanted = encoded === '' ? '' : `#${encoded}`;
    const isOwn = fileOf(window.history.state)?.key === file?.key;
    if (wanted !== hash || !isOwn) window.history[how](file, '', pathname + search + wanted);
  }

  /** Writes once the view rests. A drag remains one gesture, however long it rests. */
  function writeLater(): void {
    stopTimer?.();
    endLag ??= beginLag();
    stopTimer = startTimer(PAUSE_MS, () => {
      const { view, isDragging } = store.getState();
      write(view, 'replaceState');
      if (!isDragging) gesture = undefined;
    });
  }

  const unsubscribe = store.subscribe((now, before) => {
    if (isRestoring || now.view === before.view) return;
    const isMove = now.moves !== before.moves;
    const isCommit = now.commits !== before.commits;
    if (!isCommit && (!isMove || now.gesture === gesture)) {
      writeLater();
      return;
    }
    // Back must return to the view just before, even in the middle of a pan.
    if (stopTimer !== undefined) write(before.view, 'replaceState');
    write(now.view, 'pushState');
    gesture = isMove ? now.gesture : undefined;
    if (isMove) writeLater();
  });

  function restore({ state }: Pick<PopStateEvent, 'state'>): void {
    cancelTimer();
    gesture = undefined;
    const entry = fileOf(state);
    if (entry !== undefined && file !== undefined && entry.key !== file.key) void reopen(entry);
    else {
      if (awaited !== undefined) loader.cancel();
      awaited = undefined;
      restoreView();
    }
  }

  async function reopen(entry: EntryFile): Promise<void> {
    awaited = entry;
    const url = new URLSearchParams(window.location.search).get('snapshot');
    const isTried = await loader.reopen(entry.key, url);
    if (awaited !== entry) return;
    awaited = undefined;
    // The page says why it failed. This entry becomes another one of the file that stays open.
    if (isTried) write(store.getState().view, 'replaceState');
    else
      restoreView(
        `${entry.name} was opened before this page was reloaded. To see it, open it again.`,
      );
  }

  /** @param notice why the entry's file is not open */
  function restoreView(notice?: string): void {
    const info = openInfo();
    const { view, madeFor, problems } = read(info);
    const mismatch = notice ?? (info && linkMismatch(madeFor, info.file));
    isRestoring = true;
    store.restore(info && mismatch !== undefined ? viewFitting(view, info) : view);
    isRestoring = false;
    const notices = mismatch === undefined ? problems : [...problems, mismatch];
    if (notices.length > 0) onNotices(notices);
  }

  window.addEventListener('popstate', restore);
  return {
    take,
    stop() {
      cancelTimer();
      unsubscribe();
      window.removeEventListener('popstate', restore);
    },
  };
}
