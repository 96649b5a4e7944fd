/**
 * Where on disk a given file is. Chromium says so for files that are dropped or chosen with its own file chooser: with
 * such a handle the page can read the file again, once its program has written it again. Other browsers give only the
 * content as it was.
 */
import type { OpenSource } from '../worker/protocol.ts';

/** The parts of Chromium's interface that TypeScript does not know. */
export interface DiskHandle extends FileSystemFileHandle {
  requestPermission?(wanted: { readonly mode: 'read' }): Promise<PermissionState>;
}

interface ChromiumItem extends DataTransferItem {
  getAsFileSystemHandle?(): Promise<FileSystemHandle | null>;
}

declare global {
  interface Window {
    showOpenFilePicker?(options: { readonly multiple: boolean }): Promise<DiskHandle[]>;
  }
}

const handles = new WeakMap<Blob, DiskHandle>();

export const handleOf = (file: Blob | undefined): DiskHandle | undefined =>
  file && handles.get(file);

/** The file as it is on disk now. Fails if it is gone, or if the page may not read it any more. */
export async function readHandle(handle: DiskHandle): Promise<File> {
  const file = await handle.getFile();
  handles.set(file, handle);
  return file;
}

/** Call this inside the event handler, as for the files themselves. Each file gets its handle a moment later. */
export function noteDropped(files: readonly File[], items: readonly DataTransferItem[]): void {
  const dropped: readonly ChromiumItem[] = items.filter(({ kind }) => kind === 'file');
  dropped.forEach((item, i) => {
    const file = files[i];
    const note = (handle: FileSystemHandle | null) => {
      const isOfFile = handle?.kind === 'file' && handle.name === file?.name;
      if (file !== undefined && isOfFile) handles.set(file, handle as DiskHandle);
    };
    // A synthetic drop has no handles.
    item.getAsFileSystemHandle?.().then(note, () => undefined);
  });
}

/**
 * Lets the user choose files with handles.
 * @returns none if the user cancels; undefined if this browser or frame can't, and the page must use an input
 */
export async function chooseOnDisk(page: Window = window): Promise<readonly File[] | undefined> {
  try {
    const chosen = await page.showOpenFilePicker?.({ multiple: true });
    return chosen && (await Promise.all(chosen.map(readHandle)));
  } catch (error) {
    // Refused in a frame of another site. Anything else is the user's cancel.
    return (error as DOMException).name === 'SecurityError' ? undefined : [];
  }
}

/** Whether both were read from one place, though perhaps at different times. */
export function isSamePlace(a: OpenSource, b: OpenSource): boolean {
  if (a.kind === 'url' || b.kind === 'url')
    return a.kind === 'url' && b.kind === 'url' && a.url === b.url;
  return a.blob === b.blob || (handleOf(a.blob) ?? a) === handleOf(b.blob);
}
