import { useEffect, useMemo, useState } from 'react';
import { filesOfTransfer, type GivenFiles, type GivenRoutes } from '../../../state/given-files.ts';
import { openInfo } from '../../../state/session-store.ts';
import { useStores } from '../../../state/stores.ts';
import type { OpenSource } from '../../../worker/protocol.ts';
import { useServices } from '../../shared/services.ts';
import type { SecondSession } from '../compare/second-session.ts';
import { loadedWorkbench, loadWorkbench } from './lazy-chunks.tsx';

/** Files dropped or pasted anywhere on the page. Returns whether a drag with files is over it. */
export function useIncomingFiles(onFiles: (given: GivenFiles) => void): boolean {
  const [isDragging, setIsDragging] = useState(false);
  useEffect(() => {
    const stop = new AbortController();
    const { signal } = stop;
    // dragenter and dragleave fire for every element passed: the page is left when they are even.
    let depth = 0;
    const setDepth = (value: number) => {
      depth = Math.max(0, value);
      setIsDragging(depth > 0);
    };
    const listen = <K extends 'dragenter' | 'dragleave' | 'dragover' | 'drop' | 'paste'>(
      type: K,
      listener: (event: WindowEventMap[K]) => void,
    ) => window.addEventListener(type, listener, { signal });
    listen('dragenter', ({ dataTransfer }) => hasFiles(dataTransfer) && setDepth(depth + 1));
    listen('dragleave', () => setDepth(depth - 1));
    listen('dragover', (event) => {
      const { dataTransfer } = event;
      if (dataTransfer === null || !hasFiles(dataTransfer)) return;
      event.preventDefault();
      dataTransfer.dropEffect = 'copy';
    });
    listen('drop', (event) => {
      setDepth(0);
      if (!hasFiles(event.dataTransfer)) return;
      event.preventDefault();
      onFiles(filesOfTransfer(event.dataTransfer));
    });
    listen('paste', ({ clipboardData }) => onFiles(filesOfTransfer(clipboardData)));
    return () => stop.abort();
  }, [onFiles]);
  return isDragging;
}

function hasFiles(transfer: DataTransfer | null): boolean {
  return transfer?.types.includes('Files') ?? false;
}

interface SecondFile {
  /** The file that the open one is compared with. */
  readonly second: SecondSession | undefined;
  readonly routes: Pick<GivenRoutes, 'open' | 'compare'> & {
    /** With the one that is open. */
    compareWith(b: OpenSource): void;
    /** The next file is the second of a comparison. */
    isAwaited(): boolean;
  };
  readonly setSecond: (second: SecondSession | undefined) => void;
}

/** What becomes of files that are given: opened, or compared with the one that is open. */
export function useSecondFile(): SecondFile {
  const { loader, idle } = useServices();
  const { session, view } = useStores();
  const [second, setSecond] = useState<SecondSession>();
  useEffect(() => () => second?.close(), [second]);
  const routes = useMemo((): SecondFile['routes'] => {
    const begin = (source: OpenSource) => {
      const show = async () => {
        await loadWorkbench();
        setSecond(await loadedWorkbench()?.beginSecondSession(source, idle));
      };
      idle.during(show).catch(() => undefined);
    };
    const isAwaited = () =>
      view.getState().view.comparison !== undefined &&
      second === undefined &&
      openInfo(session.getState()) !== undefined;
    return {
      isAwaited,
      compareWith: begin,
      open(source) {
        if (isAwaited()) begin(source);
        else {
          setSecond(undefined);
          view.adjust({ comparison: undefined });
          void loader.open(source);
        }
      },
      compare(a, b) {
        // Both are read at once, each by a worker of its own.
        begin(b);
        void loader.open(a);
      },
    };
  }, [loader, idle, session, view, second]);
  return { second, routes, setSecond };
}
