/**
 * What the page and the analysis worker say to each other, and the analysis worker and the session
 * worker. Answers are made in findings-handler.ts and what-if-handler.ts, of a copy of the device
 * (device-copy.ts), so that frames and hovers never wait for them.
 */
import type { DeviceRequest, Query, QueryClient } from '../queries.ts';
import type { DeviceCopy } from './clone-device.ts';
import type { FindingsQueries } from './findings-handler.ts';
import type { WhatIfQueries } from './what-if-handler.ts';

export interface AnalysisQueries extends FindingsQueries, WhatIfQueries {}

/** What the page calls. Rejects with LoadError (a crash of the worker too) or an AbortError. */
export type AnalysisApi = QueryClient<AnalysisQueries>;

/** All that the page says to the analysis worker. */
export interface AnalysisMethods extends AnalysisQueries {
  /** The user moves: see courtesy.ts. */
  readonly yieldToInteraction: {
    readonly request: undefined;
    readonly progress: never;
    readonly result: undefined;
  };
}

/** What the analysis worker asks of the session worker. */
export interface CopyMethods {
  readonly copy: Query<DeviceRequest, DeviceCopy>;
}
