/** The snapshots an agent works on, kept open between questions. */
import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { LoadError } from '../../base/load-error.ts';
import type { DeviceModel } from '../../device/model/device-model.ts';
import { mainDeviceIndex } from '../../device/model/main-device.ts';
import type { FindingsReport } from '../../output/report/findings.ts';
import { findingsOf } from '../commands/analyze.ts';
import { type OpenedSnapshot, openRegularSnapshot } from '../open-snapshot.ts';

/** A comparison needs two; each keeps its tables in memory. */
const KEPT_OPEN = 2;

interface OpenFile extends OpenedSnapshot {
  /** Computed on the first call. */
  findings(): Promise<FindingsReport>;
}

/** By path and version, so a rewritten file counts as a new one. The most recently used is last. */
const kept = new Map<string, Promise<OpenFile>>();

async function openFile(path: string): Promise<OpenFile> {
  const absolute = resolve(path);
  const key = `${await versionOf(absolute)} ${absolute}`;
  const file = kept.get(key) ?? readFile(absolute);
  kept.delete(key);
  kept.set(key, file);
  for (const old of [...kept.keys()].slice(0, -KEPT_OPEN)) kept.delete(old);
  // Retry a failed file the next time: someone may have fixed it.
  file.catch(() => kept.delete(key));
  return file;
}

async function readFile(path: string): Promise<OpenFile> {
  const opened = await openRegularSnapshot(path, { partial: true });
  let report: Promise<FindingsReport> | undefined;
  return {
    ...opened,
    findings: () => {
      report ??= findingsOf(opened);
      return report;
    },
  };
}

/** Includes the inode and ctime, since anyone can set a file's size and mtime at will. */
async function versionOf(path: string): Promise<string> {
  const stats = await stat(path, { bigint: true }).catch(() => undefined);
  if (stats === undefined) return 'none';
  const { dev, ino, ctimeNs, mtimeNs, size } = stats;
  return [dev, ino, ctimeNs, mtimeNs, size].join(' ');
}

export interface OpenDevice {
  readonly file: OpenFile;
  readonly device: DeviceModel;
  readonly position: number;
}

/**
 * @param number of the device; undefined means the one with the most memory
 * @throws LoadError if the file cannot be read or has no such device
 */
export async function openDevice(path: string, number: number | undefined): Promise<OpenDevice> {
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
