/**
 * Keeps the address bar and the view store equal. A commit adds a history entry, and so does the first move of a
 * gesture; further moves replace that entry once they pause. Back and Forward restore an entry's view.
 */
import { startTimer } from '../base/task.ts';
import type { SessionInfo } from '../device/model/device-info.ts';
import type { OpenSource } from '../worker/protocol.ts';
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
}

/** What stays in the address whatever file is open: who frames the page, and the folder of the program. */
const OF_THE_PAGE = ['embedder', 'source'];

/** Safari refuses more than 100 changes in 30 s. */
const PAUSE_MS = 400;

export type UrlSync = ReturnType<typeof startUrlSync>;

export function startUrlSync(options: UrlSyncOptions) {
  const { store, window, openInfo, onNotices, beginLag } = options;
  let stopTimer: (() => void) | undefined;
  let endLag: (() => void) | undefined;
  /** The gesture of the current history entry; undefined once its moves have paused. */
  let gesture: number | undefined;
  /** True while the store takes over what the URL already says. */
  let isRestoring = false;
  /** The page's original URL describes the first snapshot; later ones start afresh. */
  let isFirst = true;

  /** The view that the URL describes. */
  const read = (info: SessionInfo | undefined): ParsedUrl =>
    parseUrl(window.location.hash, info && openingView(info));

  /** Gives a newly read snapshot its view, and its place in the address bar. */
  function take(info: SessionInfo, source: OpenSource): void {
    const { view, madeFor, problems } = read(info);
    const mismatch = linkMismatch(madeFor, info.file);
    store.restore(viewFitting(isFirst ? view : openingView(info), info));
    onNotices(
      isFirst
        ? [...problems, ...placesBeyond(view, info), ...(mismatch === undefined ? [] : [mismatch])]
        : [],
    );
    isFirst = false;
    showSource(source.kind === 'url' ? source.url : undefined);
  }

  /** Sets `?snapshot=`; undefined for a file without a URL. */
  function showSource(url: string | undefined): void {
    const { pathname, search, hash } = window.location;
    const given = new URLSearchParams(search);
    // Written by hand, because URLSearchParams would escape the slashes of samples/x.pickle.
    const params = [
      ...(url === undefined ? [] : [`snapshot=${encodeURIComponent(url).replace(/%2F/g, '/')}`]),
      ...OF_THE_PAGE.filter((key) => given.has(key)).map(
        (key) => `${key}=${encodeURIComponent(given.get(key) ?? '')}`,
      ),
    ];
    const wanted = params.length === 0 ? '' : `?${params.join('&')}`;
    if (wanted !== search) window.history.replaceState(null, '', pathname + wanted + hash);
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
    if (info === undefined) return;
    const { href, pathname, search, hash } = window.location;
    // A page in a notebook's cell has no URL of its own.
    if (href === 'about:srcdoc') return;
    const encoded = encodeView(view, info.file, openingView(info));
    const wanted = encoded === '' ? '' : `#${encoded}`;
    if (wanted !== hash) window.history[how](null, '', pathname + search + wanted);
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

  function restore(): void {
    cancelTimer();
    gesture = undefined;
    const info = openInfo();
    const { view, madeFor, problems } = read(info);
    // Back may lead to a view of the file that the open one replaced.
    const mismatch = info && linkMismatch(madeFor, info.file);
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
