/** A device whose events are still being read: it has more of them each time one looks. */

import type { DeviceInfo } from '../../../device/model/device-info.ts';
import { NO_FOLDS } from '../../../device/model/events.ts';
import type { GrowthInfo } from '../../../worker/live/growing-file.ts';

const NOTHING = {
  requestedBytes: 0,
  allocatedBytes: 0,
  activeBytes: 0,
  reservedBytes: 0,
  inactiveSplitBytes: 0,
};

export class GrowingDevice implements DeviceInfo {
  /** How much of it is there. */
  growth: GrowthInfo;
  /** A picture of it is on its way. */
  isAwaited = false;
  readonly kind = 'cuda';
  readonly actions = {};
  readonly preexisting = 0;
  readonly segmentsAtEnd = 0;
  readonly recording = 'complete';
  readonly recordingReason = '';
  readonly start = NOTHING;
  readonly end = NOTHING;
  readonly anomalies = 0;
  readonly hasCategory = false;
  readonly durationUs = 0;
  readonly folds = NO_FOLDS;
  readonly ooms = [];
  readonly snapshots = [];

  constructor(growth: GrowthInfo) {
    this.growth = growth;
  }

  get index(): number {
    return this.growth.trace;
  }

  get device(): number {
    return this.growth.trace;
  }

  get events(): number {
    return this.growth.events;
  }

  get allocations(): number {
    return this.growth.allocations;
  }

  get peaks(): DeviceInfo['peaks'] {
    return this.growth.peaks;
  }

  get hasTime(): boolean {
    return this.growth.hasTime;
  }
}
