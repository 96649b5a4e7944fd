import { useEffect } from 'react';
import { useStore } from 'zustand';
import type { FindingsState } from '../../state/findings-store.ts';
import { useDevice } from './device-context.ts';
import { useServices } from './services.ts';

/** What was found on the device so far. */
export function useFindings(): FindingsState {
  const { findings } = useServices();
  const { info, device } = useDevice();
  return useStore(findings.of(info, device.index));
}

/** Has it looked for: once, by who stands for the device on the page. */
export function useFindingsRun(): void {
  const { findings } = useServices();
  const { info, device } = useDevice();
  useEffect(() => findings.show(info, device.index), [findings, info, device]);
}
