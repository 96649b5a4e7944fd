/** A folder with the program's code on this machine, and which of its files a recorded path stands for. */
import type { SourceText } from '../../format/snapshot/tables.ts';

/** The used part of a File. */
export interface FolderFile {
  /** From the folder on: 'run/models/gpt.py'. */
  readonly path: string;
  readonly size: number;
  /** On this machine, where that is known: '/home/me/run/models/gpt.py'. */
  readonly localPath?: string | undefined;
  readonly bytes: () => Promise<Uint8Array<ArrayBuffer>>;
}

/** More than any source that a person writes. */
const MAX_BYTES = 4e6;

export class SourceFolder {
  readonly name: string;
  readonly #byName = new Map<string, FolderFile[]>();

  constructor(name: string, files: readonly FolderFile[]) {
    this.name = name;
    for (const file of files) {
      if (file.size > MAX_BYTES) continue;
      const last = parts(file.path).at(-1) ?? '';
      this.#byName.set(last, [...(this.#byName.get(last) ?? []), file]);
    }
  }

  /**
   * The file that shares most folders with a recorded path, counted from the end: '/workspace/run/models/gpt.py' is
   * 'run/models/gpt.py' rather than 'old/gpt.py'. Undefined if no file has that name, or if two share equally many.
   */
  find(recorded: string): FolderFile | undefined {
    const wanted = parts(recorded);
    const sharing = (file: FolderFile) => sharedEnd(parts(file.path), wanted);
    const [best, second] = [...(this.#byName.get(wanted.at(-1) ?? '') ?? [])].sort(
      (a, b) => sharing(b) - sharing(a),
    );
    if (best === undefined) return undefined;
    return second !== undefined && sharing(second) === sharing(best) ? undefined : best;
  }
}

const parts = (path: string): string[] => path.split(/[\\/]/);

function sharedEnd(a: readonly string[], b: readonly string[]): number {
  let shared = 0;
  while (shared < Math.min(a.length, b.length) && a.at(-1 - shared) === b.at(-1 - shared)) shared++;
  return shared;
}

/**
 * A file's text.
 * @param filename the recorded path that it stands for
 * @returns with '' for the hash where the browser makes none: on pages from other hosts without HTTPS
 */
export async function folderText(file: FolderFile, filename: string): Promise<SourceText> {
  const bytes = await file.bytes();
  const hash = await crypto.subtle?.digest('SHA-256', bytes);
  const sha256 = Array.from(new Uint8Array(hash ?? new ArrayBuffer(0)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  );
  return {
    filename,
    sha256: sha256.join(''),
    origin: 'folder',
    isWhole: true,
    pieces: [{ line: 1, text: new TextDecoder().decode(bytes) }],
  };
}
