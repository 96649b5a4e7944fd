/** All detectors over one device, reported as they come; and the account of any moment. */
import { accountAt } from '../../analysis/account/account.ts';
import type { Account } from '../../analysis/account/types.ts';
import { type Analysis, analyse } from '../../analysis/findings/analyse.ts';
import { AnalysisInput } from '../../analysis/findings/analysis-input.ts';
import type { Check, Finding } from '../../analysis/findings/detectors.ts';
import type { EventIndex } from '../../format/snapshot/tables.ts';
import type { Query } from '../queries.ts';
import type { AnalysisDevice, AnalysisHandlers } from './analysis-device.ts';

/** Findings of a detector come before its check; the result has all of them again, ranked. */
export type FindingsProgress =
  | { readonly kind: 'finding'; readonly finding: Finding }
  | { readonly kind: 'check'; readonly check: Check };

export interface FindingsQueries {
  readonly findings: Query<object, Analysis, FindingsProgress>;
  /** The state after `event`. What the account of one moment needs of the whole run is kept for the next. */
  readonly account: Query<{ readonly event: EventIndex }, Account>;
}

const inputOf = ({ input }: AnalysisDevice) => new AnalysisInput(input);

export const findingsHandlers: AnalysisHandlers<FindingsQueries> = {
  findings: ({ input }, _request, { signal, onProgress, pause }) =>
    analyse(input, {
      onFinding: (finding) => onProgress({ kind: 'finding', finding }),
      onCheck: (check) => onProgress({ kind: 'check', check }),
      isCancelled: () => signal.aborted,
      pause,
    }),
  account: (device, { event }) => accountAt(device.once(inputOf), event, 'cursor'),
};
