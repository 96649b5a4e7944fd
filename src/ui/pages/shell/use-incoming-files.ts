import { useEffect, useState } from 'react';
import { filesOfTransfer, type GivenFiles } from '../../../state/given-files.ts';

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
    window.addEventListener(
      'dragenter',
      (event) => {
        if (hasFiles(event.dataTransfer)) setDepth(depth + 1);
      },
      { signal },
    );
    window.addEventListener('dragleave', () => setDepth(depth - 1), { signal });
    window.addEventListener(
      'dragover',
      (event) => {
        if (!hasFiles(event.dataTransfer)) return;
        event.preventDefault();
        if (event.dataTransfer !== null) event.dataTransfer.dropEffect = 'copy';
      },
      { signal },
    );
    window.addEventListener(
      'drop',
      (event) => {
        setDepth(0);
        if (!hasFiles(event.dataTransfer)) return;
        event.preventDefault();
        onFiles(filesOfTransfer(event.dataTransfer));
      },
      { signal },
    );
    window.addEventListener('paste', (event) => onFiles(filesOfTransfer(event.clipboardData)), {
      signal,
    });
    return () => stop.abort();
  }, [onFiles]);
  return isDragging;
}

function hasFiles(transfer: DataTransfer | null): boolean {
  return transfer?.types.includes('Files') ?? false;
}
