/** What components use besides the stores; made once in main.tsx. */
import { createContext, useDeferredValue, useEffect } from 'react';
import { useStore } from 'zustand';
import type { StoreApi } from 'zustand/vanilla';
import type { DeviceInfo, SessionInfo } from '../../device/model/device-info.ts';
import type { ReportHead } from '../../output/report/report-page.ts';
import type { FindingsState, FindingsStore } from '../../state/findings-store.ts';
import type { IdleCounter, Timings } from '../../state/page-timings.ts';
import type { SnapshotLoader } from '../../state/snapshot-loader.ts';
import { useProvided } from '../../state/stores.ts';
import type { AnalysisClient } from '../../worker/analysis/client.ts';
import type { SessionApi } from '../../worker/protocol.ts';

export interface Services {
  readonly session: SessionApi;
  readonly loader: SnapshotLoader;
  readonly timings: Timings;
  readonly idle: IdleCounter;
  /** Set if this page is a report: its author's notes. */
  readonly report: ReportHead | undefined;
  /** Problems with the opened link, until the user dismisses them. */
  readonly notices: StoreApi<readonly string[]>;
}

/** Made by the workbench, once there is a snapshot to analyze. */
export interface AnalysisServices {
  /** Detectors and simulator, in a worker of their own. */
  readonly analysis: AnalysisClient;
  readonly findings: FindingsStore;
}

export const ServicesContext = createContext<Services | undefined>(undefined);

export const useServices = (): Services => useProvided(ServicesContext);

export const AnalysisServicesContext = createContext<AnalysisServices | undefined>(undefined);

export const useAnalysis = (): AnalysisServices => useProvided(AnalysisServicesContext);

export interface DeviceInView {
  /** The same object for as long as the snapshot is open. */
  readonly info: SessionInfo;
  readonly device: DeviceInfo;
}

export const CurrentDeviceContext = createContext<DeviceInView | undefined>(undefined);

export const useDevice = (): DeviceInView => useProvided(CurrentDeviceContext);

/** What was found on the device in view. */
export const FindingsContext = createContext<FindingsState | undefined>(undefined);

export const useFindings = (): FindingsState => useProvided(FindingsContext);

/** For {@link FindingsContext}. Its changes are rendered in slices: all findings at once are a task of 50 ms and more. */
export function useFindingsInView(): FindingsState {
  const { findings } = useAnalysis();
  const { info, device } = useDevice();
  return useDeferredValue(useStore(findings.of(info, device.index)));
}

/** Runs the detectors on the device in view. Use it in one component only. */
export function useFindingsRun(): void {
  const { findings } = useAnalysis();
  const { info, device } = useDevice();
  useEffect(() => findings.show(info, device.index), [findings, info, device]);
}
