/** A device of 100 events without times or peaks, except as given. */

import type { Counters, Peak } from '../allocator/replay/types.ts';
import type { DeviceInfo, SessionInfo } from '../device/model/device-info.ts';
import { type Crosshair, NO_FOLDS } from '../device/model/events.ts';

const ZERO: Counters = {
  requestedBytes: 0,
  allocatedBytes: 0,
  activeBytes: 0,
  reservedBytes: 0,
  inactiveSplitBytes: 0,
};
const NO_PEAK: Peak = { bytes: 0, event: 0 };

export const NO_PEAKS: DeviceInfo['peaks'] = {
  requestedBytes: NO_PEAK,
  allocatedBytes: NO_PEAK,
  activeBytes: NO_PEAK,
  reservedBytes: NO_PEAK,
  inactiveSplitBytes: NO_PEAK,
};

export function deviceInfo(given: Partial<DeviceInfo> = {}): DeviceInfo {
  return {
    index: 0,
    device: 0,
    kind: 'cuda',
    accelerator: undefined,
    events: 100,
    actions: {},
    allocations: 0,
    preexisting: 0,
    preexistingWithoutStack: 0,
    segmentsAtEnd: 0,
    recording: 'complete',
    recordingReason: '',
    start: ZERO,
    end: ZERO,
    peaks: NO_PEAKS,
    anomalies: 0,
    hasTime: false,
    hasCategory: false,
    hasHolders: false,
    hasSource: false,
    durationUs: 0,
    folds: NO_FOLDS,
    ooms: [],
    snapshots: [],
    ...given,
  };
}

/** Information about an open file without devices, for tests of what surrounds them. */
export function sessionInfoOf(name: string): SessionInfo {
  return {
    file: {
      name,
      bytes: 9,
      container: 'pickle',
      protocol: 4,
      decoder: 'columnar',
      partial: undefined,
    },
    devices: [],
    settings: {},
    warnings: [],
  };
}

/** The crosshair at an event of a device whose counters are all 0. */
export function crosshairOf(event: number): Crosshair {
  return { event, action: 'alloc', timeUs: 0, counters: ZERO };
}
