import { useEffect } from 'react';
import { useStore } from 'zustand';
import type { DeviceInfo, SessionInfo } from '../../core/device/types.ts';
import type { FindingsState } from '../../state/findings-store.ts';
import { useServices } from './services.ts';

/** What was found on a device so far. */
export function useFindings(info: SessionInfo, device: DeviceInfo): FindingsState {
  const { findings } = useServices();
  return useStore(findings.of(info, device.index));
}

/** Has it looked for: once, by who stands for the device on the page. */
export function useFindingsRun(info: SessionInfo, device: DeviceInfo): void {
  const { findings } = useServices();
  useEffect(() => findings.show(info, device.index), [findings, info, device]);
}
