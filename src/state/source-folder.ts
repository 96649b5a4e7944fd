/**
 * The folder with the program's code that `vramscope FILE --source DIR` serves. None of it outlives the page, and it
 * leaves the page only in reports that are to hold some lines of it.
 */
import { SourceFolder } from '../device/model/source-folder.ts';

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
    bytes: async () => new Uint8Array(await (await fetchText(file.url)).arrayBuffer()),
  }));
  return new SourceFolder(sources[0]?.path.split('/')[0] ?? above, sources);
}

async function fetchText(url: string): Promise<Response> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`the server answers ${response.status}`);
  return response;
}
