/**
 * Keeps the address bar and the view store equal. A commit adds a history entry, and so does the first move of a
 * gesture; further moves replace that entry once they pause. Back and Forward restore an entry's view.
 */
import { startTimer } from '../base/task.ts';
import type { SessionInfo } from '../device/model/device-info.ts';
import { encodeView, type ParsedUrl, parseUrl } from './url-codec.ts';
import { openingView } from './view-fitting.ts';
import { DEFAULT_VIEW, type ViewState, type ViewStore } from './view-store.ts';

export type UrlWindow = Pick<
  Window,
  'history' | 'location' | 'addEventListener' | 'removeEventListener'
>;

interface UrlSyncOptions {
  readonly store: ViewStore;
  readonly window: UrlWindow;
  /** The open snapshot. While there is none, the URL stays as it is. */
  readonly openInfo: () => Pick<SessionInfo, 'file' | 'devices'> | undefined;
  /** Back or Forward led to a URL with something unreadable. */
  readonly onProblems?: (problems: readonly string[]) => void;
  /** Called when the URL starts to lag behind the view; returns what to call once it has caught up. */
  readonly beginLag?: () => () => void;
}

/** Safari refuses more than 100 changes in 30 s. */
const PAUSE_MS = 400;

export function startUrlSync(options: UrlSyncOptions) {
  const { store, window, openInfo, onProblems, beginLag } = options;
  let stopTimer: (() => void) | undefined;
  let endLag: (() => void) | undefined;
  /** The gesture of the current history entry; undefined once its moves have paused. */
  let gesture: number | undefined;
  /** True while the store takes over what the URL already says. */
  let isRestoring = false;

  /** The view that the URL describes for `info`, by default the open snapshot. */
  const read = (info: Pick<SessionInfo, 'devices'> | undefined = openInfo()): ParsedUrl => {
    const opening = info === undefined ? DEFAULT_VIEW : openingView(info);
    return parseUrl(window.location.search, window.location.hash, opening);
  };

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
    endLag ??= beginLag?.();
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
    const { view, problems } = read();
    isRestoring = true;
    store.restore(view);
    isRestoring = false;
    if (problems.length > 0) onProblems?.(problems);
  }

  window.addEventListener('popstate', restore);
  return {
    read,
    stop() {
      cancelTimer();
      unsubscribe();
      window.removeEventListener('popstate', restore);
    },
  };
}
