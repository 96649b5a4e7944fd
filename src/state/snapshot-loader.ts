/** Opens what the user gave, one file at a time. The newest wins; the stores show progress. */
import { errorText } from '../base/errors.ts';
import { LoadError, type LoadFailure } from '../base/load-error.ts';
import type { SessionInfo } from '../device/model/device-info.ts';
import type { SessionClient } from '../worker/client.ts';
import type { OpenOptions, OpenSource } from '../worker/protocol.ts';
import type { IdleCounter } from './page-timings.ts';
import type { Stores } from './stores.ts';
import { linkMismatch, type ParsedUrl } from './url-codec.ts';
import { openingView, placesBeyond, viewFitting } from './view-fitting.ts';

export interface SnapshotLoader {
  /** Resolves once the file is open, has failed or was cancelled; never rejects. */
  open(source: OpenSource, options?: OpenOptions): Promise<void>;
  /** Reopens the source that failed last, up to its damage. */
  openPartially(): Promise<void>;
  /** Source of the open file, if any. */
  opened(): OpenSource | undefined;
  /** The page shows the opened file. Until this call, the page is not idle. */
  shown(): void;
  cancel(): void;
}

export interface SnapshotLoaderOptions {
  readonly idle: Pick<IdleCounter, 'begin'>;
  readonly client: Pick<SessionClient, 'open'>;
  readonly stores: Pick<Stores, 'session' | 'view'>;
  /** Loads the code that shows a snapshot, in parallel with reading. */
  readonly prepare: () => Promise<void>;
  /** The view that the link describes, applied to a newly read snapshot. */
  readonly readUrl: (info: SessionInfo) => ParsedUrl;
  /** Sets the page's `?snapshot=`; undefined for a file without a URL. */
  readonly showSource: (url: string | undefined) => void;
  /** What the user should know about the link; replaces earlier notices. */
  readonly onNotices: (notices: readonly string[]) => void;
}

export function createSnapshotLoader(options: SnapshotLoaderOptions): SnapshotLoader {
  const { client, idle, stores, prepare, readUrl, showSource, onNotices } = options;
  let controller: AbortController | undefined;
  let latest: OpenSource | undefined;
  let opened: OpenSource | undefined;
  /** The page's original URL describes the first snapshot; later ones start afresh. */
  let isFirst = true;
  /** Ends the idle-tracking of an opening whose snapshot is not on screen yet. */
  let endShowing: (() => void) | undefined;

  function showView(info: SessionInfo): void {
    const { view, madeFor, problems } = readUrl(info);
    const mismatch = linkMismatch(madeFor, info.file);
    stores.view.restore(viewFitting(isFirst ? view : openingView(info), info));
    onNotices(noticesOf(isFirst, [...problems, ...placesBeyond(view, info)], mismatch));
    isFirst = false;
  }

  async function open(source: OpenSource, openOptions: OpenOptions = {}): Promise<void> {
    controller?.abort();
    const current = new AbortController();
    controller = current;
    latest = source;
    const opening = stores.session.begin(nameOf(source));
    const end = idle.begin();
    let isToBeShown = false;
    try {
      const reading = client.open(source, openOptions, {
        signal: current.signal,
        onProgress: opening.progress,
      });
      const [info] = await Promise.all([reading, prepare().catch(tellOffline)]);
      if (!opening.isCurrent()) return;
      showView(info);
      showSource(source.kind === 'url' ? source.url : undefined);
      isToBeShown = true;
      endShowing = end;
      opened = source;
      opening.ready(info);
    } catch (error) {
      if (current.signal.aborted) opening.cancelled();
      else opening.failed(failureOf(error));
    } finally {
      if (!isToBeShown) end();
    }
  }

  return {
    open,
    openPartially: async () => {
      if (latest !== undefined) await open(latest, { allowPartial: true });
    },
    opened: () => opened,
    shown: () => endShowing?.(),
    cancel: () => controller?.abort(),
  };
}

/** The file's name, or the last part of a URL's path. */
export function nameOf(source: OpenSource): string {
  switch (source.kind) {
    case 'blob':
      return source.name;
    case 'url': {
      const path = source.url.replace(/[?#].*$/s, '');
      return path.slice(path.lastIndexOf('/') + 1) || source.url;
    }
  }
}

/** The page loaded but the rest cannot: the server is gone or has a newer build. */
function tellOffline(): never {
  throw new LoadError({
    code: 'views-unreachable',
    message: 'Part of the page could not be loaded.',
    advice: 'Reload the page and open the file again.',
  });
}

function noticesOf(
  isFirst: boolean,
  problems: readonly string[],
  mismatch: string | undefined,
): readonly string[] {
  if (!isFirst) return [];
  return mismatch === undefined ? problems : [...problems, mismatch];
}

function failureOf(error: unknown): LoadFailure {
  if (error instanceof LoadError) return error.failure;
  const reason = errorText(error);
  return new LoadError({
    code: 'unexpected',
    message: `vramscope failed while reading this file: ${reason}`,
    advice: 'This is a bug in vramscope, not a problem with your file. Please report it.',
  }).failure;
}
