/**
 * The messages between the page and the analysis worker. The handlers, findings-handler.ts and
 * what-if-handler.ts, read a copy of the device (clone-device.ts), so that frames and hovers never
 * wait for them.
 */
import type { QueryClient } from '../queries.ts';
import type { Method } from '../rpc.ts';
import type { FindingsQueries } from './findings-handler.ts';
import type { WhatIfQueries } from './what-if-handler.ts';

export interface AnalysisQueries extends FindingsQueries, WhatIfQueries {}

/** What the page calls. Rejects with LoadError (a crash of the worker too) or an AbortError. */
export type AnalysisApi = QueryClient<AnalysisQueries>;

/** All messages from the page to the analysis worker. */
export interface AnalysisMethods extends AnalysisQueries {
  /** The user zooms or pans: see interaction-throttle.ts. */
  readonly yieldToInteraction: Method<undefined, undefined>;
}
