import { useEffect, useEffectEvent, useState } from 'react';
import { filesOfTransfer, type GivenFiles } from '../../../state/given-files.ts';
import { openInfo } from '../../../state/session-store.ts';
import { useStores } from '../../../state/stores.ts';
import type { OpenSource } from '../../../worker/protocol.ts';
import { useServices } from '../../shared/services.ts';
import type { SecondSession } from '../compare/sides.tsx';
import { loadedWorkbench, loadWorkbench } from './lazy-chunks.tsx';

/** Files dropped or pasted anywhere on the page. Returns whether a drag with files is over it. */
export function useIncomingFiles(onFiles: (given: GivenFiles) => void): boolean {
  const [isDragging, setIsDragging] = useState(false);
  const take = useEffectEvent(onFiles);
  useEffect(() => {
    const stop = new AbortController();
    const { signal } = stop;
    // dragenter and dragleave fire for every element on the way: the drag has left when they are even.
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

/** What becomes of files that are given: opened, or compared with the one that is open. */
export function useSecondFile() {
  const { loader, idle } = useServices();
  const { session, view } = useStores();
  /** The file that the open one is compared with. */
  const [second, setSecond] = useState<SecondSession>();
  useEffect(() => () => second?.close(), [second]);
  function compareWith(source: OpenSource): void {
    const show = async () => {
      await loadWorkbench();
      setSecond(await loadedWorkbench()?.beginSecondSession(source, idle));
    };
    idle.during(show).catch(() => undefined);
  }
  const isAwaited = () =>
    view.getState().view.comparison !== undefined &&
    second === undefined &&
    openInfo(session.getState()) !== undefined;
  const routes = {
    /** The next file is the second of a comparison. */
    isAwaited,
    /** With the one that is open. */
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
      // Both are read at once, each by a worker of its own.
      compareWith(b);
      void loader.open(a);
    },
  };
  return { second, routes, setSecond };
}
