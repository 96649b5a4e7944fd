import { readFile, stat } from 'node:fs/promises';
import { createDeviceModels, type DeviceModel } from '../device/model/device-model.ts';
import { readSnapshot } from '../format/input/read-snapshot.ts';
import type { ByteSource } from '../format/input/types.ts';
import { BESIDE, type Beside, withBeside } from '../format/snapshot/from-value.ts';
import type { FileInfo, Snapshot } from '../format/snapshot/tables.ts';
import { fileSource, nodePlatform, regularSource, streamSource } from './byte-sources.ts';

export interface OpenedSnapshot {
  readonly file: FileInfo;
  readonly snapshot: Snapshot;
  readonly contexts: readonly DeviceModel[];
}

interface OpenOptions {
  readonly partial?: boolean | undefined;
}

/**
 * Reads and replays a snapshot; '-' is stdin. `partial` reads a broken file up to the damage.
 * @throws LoadError if the file cannot be read
 */
export async function openSnapshot(
  io: { readonly stdin: AsyncIterable<Uint8Array> },
  path: string,
  options: OpenOptions,
): Promise<OpenedSnapshot> {
  const source = path === '-' ? streamSource('stdin', io.stdin) : await fileSource(path);
  return openSource(source, path, options);
}

/** Like {@link openSnapshot}, for a path from a program: refuses pipes and devices, which may never end. */
export async function openRegularSnapshot(
  path: string,
  options: OpenOptions,
): Promise<OpenedSnapshot> {
  return openSource(await regularSource(path), path, options);
}

async function openSource(
  source: ByteSource,
  path: string,
  { partial }: OpenOptions,
): Promise<OpenedSnapshot> {
  const { snapshot: bare, file } = await readSnapshot(source, nodePlatform, {
    allowPartial: partial === true,
  });
  const snapshot = withBeside(bare, await textsBeside(path));
  return { file, snapshot, contexts: createDeviceModels(snapshot) };
}

/** For run.pickle.gz the text of run.holders.json, where vramscope.holders wrote names, and so on. */
async function textsBeside(path: string): Promise<Beside<string>> {
  if (path === '-') return {};
  const texts = BESIDE.map(async (kind) => {
    const beside = path.replace(/(\.(pickle|pkl|pt))?(\.(gz|zst|zip))?$/, `.${kind}.json`);
    const isFile = await stat(beside).then(
      (found) => found.isFile(),
      () => false,
    );
    // Anything but a regular file, such as a pipe, may never end.
    return [kind, isFile ? await readFile(beside, 'utf8').catch(() => undefined) : undefined];
  });
  return Object.fromEntries(await Promise.all(texts));
}
