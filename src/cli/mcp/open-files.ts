/** The snapshots that an agent works on, kept open between its questions. */
import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { type Analysis, analyse } from '../../analysis/findings/analyse.ts';
import { LoadError } from '../../base/load-error.ts';
import type { DeviceModel } from '../../device/model/device-model.ts';
import { mainDeviceIndex } from '../../device/model/main-device.ts';
import { citeWhatIf } from '../../output/report/what-if-citation.ts';
import { type OpenedSnapshot, openRegularSnapshot } from '../open-snapshot.ts';

/** A comparison has two; each keeps its tables in memory. */
const KEPT_OPEN = 2;

interface OpenFile {
  readonly path: string;
  /** A file that was written again is another one. */
  readonly version: string;
  readonly opened: Promise<OpenedSnapshot>;
  /** By position of the device. */
  readonly analyses: Map<number, Promise<Analysis>>;
}

export interface OneDevice extends OpenedSnapshot {
  readonly deviceIndex: number;
  readonly context: DeviceModel;
  analysis(): Promise<Analysis>;
}

export class OpenFiles {
  /** The one used last stands last. */
  #files: OpenFile[] = [];

  /**
   * @param device its number in the file; undefined: the one with the most memory
   * @throws LoadError where the file cannot be read or has no such device
   */
  async device(path: string, device: number | undefined): Promise<OneDevice> {
    const file = await this.#file(path);
    const opened = await file.opened;
    const { contexts } = opened;
    const deviceIndex =
      device === undefined
        ? mainOf(contexts)
        : contexts.findIndex((c) => c.trace.device === device);
    const context = contexts[deviceIndex];
    if (context === undefined) throw noDevice(contexts, device);
    return {
      ...opened,
      deviceIndex,
      context,
      analysis: () => {
        const running = file.analyses.get(deviceIndex) ?? analysisOf(context);
        file.analyses.set(deviceIndex, running);
        return running;
      },
    };
  }

  async #file(path: string): Promise<OpenFile> {
    const absolute = resolve(path);
    const version = await versionOf(absolute);
    const known = this.#files.find((file) => file.path === absolute && file.version === version);
    const file = known ?? {
      path: absolute,
      version,
      opened: openRegularSnapshot(absolute, { partial: true }),
      analyses: new Map(),
    };
    const others = this.#files.filter((other) => other.path !== absolute);
    this.#files = [...others, file].slice(-KEPT_OPEN);
    // A file that could not be read is read again the next time: it may have been mended.
    file.opened.catch(() => {
      this.#files = this.#files.filter((other) => other !== file);
    });
    return file;
  }
}

/** Size and time of a change can be set at will; the number of the file and the time of its last change of state cannot. */
async function versionOf(path: string): Promise<string> {
  const stats = await stat(path, { bigint: true }).catch(() => undefined);
  if (stats === undefined) return 'none';
  const { dev, ino, ctimeNs, mtimeNs, size } = stats;
  return [dev, ino, ctimeNs, mtimeNs, size].join(' ');
}

const analysisOf = async (context: DeviceModel): Promise<Analysis> =>
  citeWhatIf(await analyse(context), context);

function mainOf(contexts: readonly DeviceModel[]): number {
  return mainDeviceIndex(
    contexts.map(({ trace, replay }) => ({ kind: trace.kind, peaks: replay.peaks })),
  );
}

function noDevice(contexts: readonly DeviceModel[], device: number | undefined): LoadError {
  const known = contexts.map(({ trace }) => trace.device).join(', ');
  const [message, advice] =
    device === undefined
      ? ['The file holds no device.', 'Check that it is a snapshot of a process that used a GPU.']
      : [`There is no device ${device} in the file.`, `Use one of: ${known || 'none'}.`];
  return new LoadError({ code: 'no-device', message, advice });
}
