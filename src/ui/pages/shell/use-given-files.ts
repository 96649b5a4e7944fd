import { useEffect, useEffectEvent, useState } from 'react';
import { filesOfTransfer, type GivenFiles } from '../../../state/given-files.ts';
import { openInfo } from '../../../state/session-store.ts';
import { useStores } from '../../../state/stores.ts';
import type { OpenSource } from '../../../worker/protocol.ts';
import { useServices } from '../../shared/services.ts';
import { beginSecondSession, type SecondSession } from '../compare/second-session.ts';

/** Files dropped or pasted anywhere on the page. Returns whether files are being dragged over it. */
export function useIncomingFiles(onFiles: (given: GivenFiles) => void): boolean {
  const [isDragging, setIsDragging] = useState(false);
  const take = useEffectEvent(onFiles);
  useEffect(() => {
    const stop = new AbortController();
    const { signal } = stop;
    // dragenter and dragleave fire for every element passed: the drag has left when the count is 0.
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
      take(filesOfTransfer(event.dataTransfer));
    });
    listen('paste', ({ clipboardData }) => take(filesOfTransfer(clipboardData)));
    return () => stop.abort();
  }, []);
  return isDragging;
}

function hasFiles(transfer: DataTransfer | null): boolean {
  return transfer?.types.includes('Files') ?? false;
}

/** Decides whether given files are opened or compared with the open one. */
export function useSecondFile() {
  const { loader, idle } = useServices();
  const { session, view } = useStores();
  const [second, setSecond] = useState<SecondSession>();
  useEffect(() => () => second?.session.close(), [second]);
  const compareWith = (source: OpenSource) => setSecond(beginSecondSession(source, idle));
  const isAwaited = () =>
    view.getState().view.comparison !== undefined &&
    (second === undefined || second.state.getState().phase === 'failed') &&
    openInfo(session.getState()) !== undefined;
  const routes = {
    /** The next file is the second of a comparison. */
    isAwaited,
    compareWith,
    open(source: OpenSource): void {
      if (isAwaited()) compareWith(source);
      else {
        setSecond(undefined);
        view.adjust({ comparison: undefined });
        void loader.open(source);
      }
    },
    compare(a: OpenSource, b: OpenSource): void {
      // Both files are read at once, each in its own worker.
      compareWith(b);
      void loader.open(a);
    },
  };
  return { second, routes, setSecond };
}
