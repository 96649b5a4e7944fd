import { useEffect, useState } from 'react';
import type { OpenSource } from '../../engine/protocol.ts';

/**
 * Files dropped or pasted anywhere on the page. Returns whether a drag with files is over it.
 * A folder arrives as a file too; reading it fails with a message of its own.
 */
export function useIncomingFiles(onFile: (source: OpenSource) => void): boolean {
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
    const open = (file: File | undefined) => {
      if (file !== undefined) onFile({ kind: 'blob', blob: file, name: file.name });
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
        open(event.dataTransfer?.files[0]);
      },
      { signal },
    );
    window.addEventListener('paste', (event) => open(event.clipboardData?.files[0]), { signal });
    return () => stop.abort();
  }, [onFile]);
  return isDragging;
}

function hasFiles(transfer: DataTransfer | null): boolean {
  return transfer?.types.includes('Files') ?? false;
}
