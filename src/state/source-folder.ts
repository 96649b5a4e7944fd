/**
 * The program's source text, from a folder that the user chose or that `vramscope FILE --source DIR` serves. None of
 * it leaves the page or outlives it.
 */

/** The used part of a File. */
export interface SourceFile {
  /** From the chosen folder on: 'run/models/gpt.py'. */
  readonly path: string;
  readonly size: number;
  /** On this machine, where that is known: '/home/me/run/models/gpt.py'. */
  readonly localPath?: string | undefined;
  readonly text: () => Promise<string>;
}

/** More than any source that a person writes. */
const MAX_BYTES = 4e6;

export class SourceFolder {
  readonly name: string;
  readonly #byName = new Map<string, SourceFile[]>();

  constructor(name: string, files: readonly SourceFile[]) {
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
  find(recorded: string): SourceFile | undefined {
    const wanted = parts(recorded);
    const sharing = (file: SourceFile) => sharedEnd(parts(file.path), wanted);
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

/** A list that the local server made of a folder. Files are fetched when they are shown. @param url relative to the page */
export async function servedSource(url: string): Promise<SourceFolder> {
  const { above, files } = (await (await fetchText(url)).json()) as {
    readonly above: string;
    readonly files: readonly { readonly path: string; readonly url: string }[];
  };
  const sources = files.map((file) => ({
    path: file.path,
    size: 0,
    localPath: `${above}/${file.path}`,
    text: async () => (await fetchText(file.url)).text(),
  }));
  return new SourceFolder(sources[0]?.path.split('/')[0] ?? above, sources);
}

async function fetchText(url: string): Promise<Response> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`the server answers ${response.status}`);
  return response;
}
