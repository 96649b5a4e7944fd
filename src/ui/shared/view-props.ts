import type { DeviceInfo, SessionInfo } from '../../core/device/types.ts';

/** What every view is given. */
export interface ViewProps {
  readonly info: SessionInfo;
  readonly device: DeviceInfo;
  /** The pinned allocation, -1 for none. */
  readonly selected: number;
}
