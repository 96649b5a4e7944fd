import { readFile, stat } from 'node:fs/promises';
import { createDeviceModels, type DeviceModel } from '../device/model/device-model.ts';
import { readSnapshot } from '../format/input/read-snapshot.ts';
import type { ByteSource } from '../format/input/types.ts';
import { withHolders } from '../format/snapshot/from-value.ts';
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
  const names = await namesBeside(path);
  const snapshot = names === undefined ? bare : withHolders(bare, names);
  return { file, snapshot, contexts: createDeviceModels(snapshot) };
}

/** For run.pickle.gz the text of run.holders.json, where vramscope.holders wrote names. */
async function namesBeside(path: string): Promise<string | undefined> {
  if (path === '-') return undefined;
  const beside = path.replace(/(\.(pickle|pkl|pt))?(\.(gz|zst|zip))?$/, '.holders.json');
  const isFile = await stat(beside).then(
    (found) => found.isFile(),
    () => false,
  );
  // Anything but a regular file, such as a pipe, may never end.
  return isFile ? readFile(beside, 'utf8').catch(() => undefined) : undefined;
}
