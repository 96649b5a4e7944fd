/** In which order a text lists a file's devices: the one that the file is about first. */
import type { DeviceModel } from '../../device/model/device-model.ts';
import { isUnusedDevice, mainDeviceIndex } from '../../device/model/main-device.ts';

export interface DeviceOrder {
  /** Positions of the devices to list, the main one first. */
  readonly shown: readonly number[];
  /** Names those that are left out; undefined where none is. */
  readonly note: string | undefined;
}

/** All of them, as they stand in the file. */
export const fileOrder = (devices: readonly unknown[]): DeviceOrder => ({
  shown: devices.map((_, i) => i),
  note: undefined,
});

/** Devices that the process did not use are named in one line; a file without any other keeps them. */
export function deviceOrder(
  contexts: readonly Pick<DeviceModel, 'trace' | 'replay'>[],
): DeviceOrder {
  const devices = contexts.map(({ trace, replay }) => ({
    name: trace.kind === 'host' ? 'pinned host memory' : `device ${trace.device}`,
    kind: trace.kind,
    events: trace.events.length,
    segmentsAtEnd: trace.segments.length,
    end: replay.end,
    peaks: replay.peaks,
  }));
  const main = mainDeviceIndex(devices);
  const unused = devices.filter((device, i) => i !== main && isUnusedDevice(device));
  const shown = devices.flatMap((device, i) => (unused.includes(device) ? [] : [i]));
  return {
    shown: shown.sort((a, b) => Number(b === main) - Number(a === main) || a - b),
    note:
      unused.length === 0
        ? undefined
        : `Not used by this process: ${unused.map(({ name }) => name).join(', ')}.`,
  };
}
