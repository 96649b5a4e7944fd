/** What answering a question in the analysis worker is. */
import type { Queries, QueryCall } from '../queries.ts';
import type { AnalysisDevice } from './analysis-device.ts';

/** What an answer gets beside its request. */
export interface AnalysisCall<Progress> extends QueryCall<Progress> {
  /** Lets messages in and the user's movements go first. Rejects with CancelledError once the page does not want the answer any more. */
  readonly pause: () => Promise<void>;
}

/** One function a question; runs in the analysis worker. */
export type AnalysisAnswers<Q extends Queries<Q>> = {
  readonly [K in keyof Q]: (
    device: AnalysisDevice,
    request: Q[K]['request'],
    call: AnalysisCall<Q[K]['progress']>,
  ) => Q[K]['result'] | Promise<Q[K]['result']>;
};
