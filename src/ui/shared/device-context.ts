/** The device that the page shows: the workbench provides it, everything below reads it here. */
import { createContext, useContext } from 'react';
import type { DeviceInfo, SessionInfo } from '../../core/device/types.ts';

export interface DeviceInView {
  /** The open snapshot; the same object for as long as it is open. */
  readonly info: SessionInfo;
  readonly device: DeviceInfo;
}

export const DeviceContext = createContext<DeviceInView | undefined>(undefined);

export function useDevice(): DeviceInView {
  const shown = useContext(DeviceContext);
  if (shown === undefined) throw new Error('No DeviceContext above this component');
  return shown;
}
