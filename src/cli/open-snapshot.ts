import { createDeviceContexts, type DeviceContext } from '../core/device/device-context.ts';
import { readSnapshot } from '../core/input/read-snapshot.ts';
import type { ByteSource } from '../core/input/types.ts';
import { replayDevice } from '../core/replay/replay.ts';
import type { FileInfo, Snapshot } from '../core/snapshot/tables.ts';
import { fileSource, regularSource } from './file-source.ts';
import { nodePlatform } from './node-platform.ts';
import { streamSource } from './stream-source.ts';

export interface OpenedSnapshot {
  readonly file: FileInfo;
  readonly snapshot: Snapshot;
  readonly contexts: readonly DeviceContext[];
}

interface OpenOptions {
  readonly partial?: boolean | undefined;
}

/**
 * Reads and replays a snapshot; '-' is stdin. `partial`: what comes before the damage of a broken file.
 * @throws LoadError for what cannot be read
 */
export async function openSnapshot(
  io: { readonly stdin: AsyncIterable<Uint8Array> },
  path: string,
  options: OpenOptions,
): Promise<OpenedSnapshot> {
  return openSource(
    path === '-' ? streamSource('stdin', io.stdin) : await fileSource(path),
    options,
  );
}

/** As {@link openSnapshot}, for a path that a program gave: a pipe or a device, which may never end, is refused. */
export async function openRegularSnapshot(
  path: string,
  options: OpenOptions,
): Promise<OpenedSnapshot> {
  return openSource(await regularSource(path), options);
}

async function openSource(source: ByteSource, { partial }: OpenOptions): Promise<OpenedSnapshot> {
  const { snapshot, file } = await readSnapshot(source, nodePlatform, {
    allowPartial: partial === true,
  });
  const replays = snapshot.devices.map((trace) => replayDevice(trace, snapshot.settings));
  return { file, snapshot, contexts: createDeviceContexts(snapshot, replays) };
}
