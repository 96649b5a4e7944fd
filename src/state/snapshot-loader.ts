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
  /** Resolves when it is open, has failed or was cancelled; never rejects. */
  open(source: OpenSource, options?: OpenOptions): Promise<void>;
  /** Opens the source that failed last up to its fault. */
  openPartially(): Promise<void>;
  /** Where what is open came from; undefined for nothing. */
  opened(): OpenSource | undefined;
  /** What was opened is on the page: until then the page is not idle. */
  shown(): void;
  cancel(): void;
}

export interface SnapshotLoaderOptions {
  readonly idle: Pick<IdleCounter, 'begin'>;
  readonly client: Pick<SessionClient, 'open'>;
  readonly stores: Pick<Stores, 'session' | 'view'>;
  /** Loads what shows a snapshot, while the snapshot is read. */
  readonly prepare: () => Promise<void>;
  /** What the link says of the view on a snapshot that has just been read. */
  readonly readUrl: (info: SessionInfo) => ParsedUrl;
  /** `?snapshot=` of the page from now on; undefined for a file that has no address. */
  readonly showSource: (url: string | undefined) => void;
  /** What the user should know about the link; replaces what was said before. */
  readonly onNotices: (notices: readonly string[]) => void;
}

export function createSnapshotLoader(options: SnapshotLoaderOptions): SnapshotLoader {
  const { client, idle, stores, prepare, readUrl, showSource, onNotices } = options;
  let controller: AbortController | undefined;
  let latest: OpenSource | undefined;
  let opened: OpenSource | undefined;
  /** The URL that the page was loaded with describes the first snapshot; later ones start afresh. */
  let isFirst = true;
  /** Ends the work of an opening whose snapshot is still to appear. */
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

/** What the user calls it: the file's name, or the last part of a URL's path. */
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

/** The page was loaded, the rest of it can't be: the server is gone or has a newer build. */
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
