/** The device that the page shows: the workbench provides it, everything below reads it here. */
import { createContext, useContext, useEffect } from 'react';
import { useStore } from 'zustand';
import type { DeviceInfo, SessionInfo } from '../../device/model/types.ts';
import type { FindingsState } from '../../state/findings-store.ts';
import { useAnalysis } from './services.ts';

export interface DeviceInView {
  /** The open snapshot; the same object for as long as it is open. */
  readonly info: SessionInfo;
  readonly device: DeviceInfo;
}

export const CurrentDeviceContext = createContext<DeviceInView | undefined>(undefined);

export function useDevice(): DeviceInView {
  const shown = useContext(CurrentDeviceContext);
  if (shown === undefined) throw new Error('No CurrentDeviceContext above this component');
  return shown;
}

/** What was found on the device so far. */
export function useFindings(): FindingsState {
  const { findings } = useAnalysis();
  const { info, device } = useDevice();
  return useStore(findings.of(info, device.index));
}

/** Has it looked for: once, by who stands for the device on the page. */
export function useFindingsRun(): void {
  const { findings } = useAnalysis();
  const { info, device } = useDevice();
  useEffect(() => findings.show(info, device.index), [findings, info, device]);
}
