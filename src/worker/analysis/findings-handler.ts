/** All detectors over one device, reported as they come. */
import { type Analysis, analyse } from '../../analysis/findings/analyse.ts';
import type { Check, Finding } from '../../analysis/findings/detectors.ts';
import type { Query } from '../queries.ts';
import type { AnalysisHandlers } from './analysis-device.ts';

/** Findings of a detector come before its check; the result has all of them again, ranked. */
export type FindingsProgress =
  | { readonly kind: 'finding'; readonly finding: Finding }
  | { readonly kind: 'check'; readonly check: Check };

export interface FindingsQueries {
  readonly findings: Query<object, Analysis, FindingsProgress>;
}

export const findingsHandlers: AnalysisHandlers<FindingsQueries> = {
  findings: ({ input }, _request, { signal, onProgress, pause }) =>
    analyse(input, {
      onFinding: (finding) => onProgress({ kind: 'finding', finding }),
      onCheck: (check) => onProgress({ kind: 'check', check }),
      isCancelled: () => signal.aborted,
      pause,
    }),
};
