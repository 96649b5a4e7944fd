/** The snapshots an agent works on, kept open between questions. */
import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { LruCache, onceFor } from '../../base/collections.ts';
import { LoadError } from '../../base/load-error.ts';
import { mainDeviceIndex } from '../../device/model/main-device.ts';
import { type OpenedSnapshot, openRegularSnapshot } from '../open-snapshot.ts';

/** A comparison needs two; each keeps its tables in memory. */
const KEPT_OPEN = 2;

/** By path and version, so a rewritten file counts as a new one. */
const kept = new LruCache<ReturnType<typeof readFile>>(KEPT_OPEN);

async function readFile(path: string) {
  const opened = await openRegularSnapshot(path, { partial: true });
  return { ...opened, once: onceFor<OpenedSnapshot>(opened) };
}

async function openFile(path: string) {
  const absolute = resolve(path);
  // Anyone can set a file's size and mtime at will, but not its inode and ctime.
  const stats = await stat(absolute, { bigint: true }).catch(() => undefined);
  const version = stats && [stats.dev, stats.ino, stats.ctimeNs, stats.mtimeNs, stats.size];
  return kept.getOrMake(`${version} ${absolute}`, () => readFile(absolute));
}

/**
 * @param number of the device; undefined means the one with the most memory
 * @throws LoadError if the file cannot be read or has no such device
 */
export async function openDevice(path: string, number: number | undefined) {
  const file = await openFile(path);
  const devices = file.contexts.map(({ trace, replay }) => ({ ...trace, peaks: replay.peaks }));
  const position =
    number === undefined
      ? mainDeviceIndex(devices)
      : devices.findIndex(({ device }) => device === number);
  const device = file.contexts[position];
  if (device !== undefined) return { file, device, position };
  const known = devices.map((one) => one.device).join(', ');
  const [message, advice] =
    number === undefined
      ? ['The file holds no device.', 'Check that it is a snapshot of a process that used a GPU.']
      : [`There is no device ${number} in the file.`, `Use one of: ${known || 'none'}.`];
  throw new LoadError({ code: 'no-device', message, advice });
}
