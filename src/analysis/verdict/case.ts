/** The case that a verdict judges, and what a diagnosis of it consists of. */

import type { AllocationIndex } from '../../allocator/replay/types.ts';
import type { FrameView } from '../../device/model/types.ts';
import type { EventIndex } from '../../format/snapshot/tables.ts';
import { accountAt, accountsOf } from '../account/account.ts';
import { fatalOom, judgeOomAt, seenOoms } from '../account/moment.ts';
import type { Account, AccountEntry, EntryKind } from '../account/types.ts';
import {
  type LargerRequest,
  largerRequest,
  type RequestOrigin,
  requestOrigin,
} from '../detectors/oom.ts';
import type { AnalysisInput } from '../findings/analysis-input.ts';
import type { DetectorId, Finding } from '../findings/detectors.ts';
import type { OomVerdict } from '../findings/oom-verdict.ts';
import type { Severity } from '../findings/types.ts';
import { userLines } from '../findings/user-lines.ts';
import type { LargerPass } from '../steps/forward-runs.ts';
import { isInference } from '../steps/pass-graphs.ts';
import type { WaitingPasses } from '../steps/waiting-passes.ts';
import { patternOfRequest } from './patterns.ts';
import type { Cause, Pattern } from './types.ts';
import { type Unfinished, unfinishedAt } from './unfinished.ts';

export interface Diagnosis {
  readonly cause: Cause;
  readonly pattern: Pattern | undefined;
  readonly severity: Severity | 'none';
  readonly bytes: number;
  /** The account entry, if a single one is the cause. */
  readonly entry: AccountEntry | undefined;
  /** What the bytes are, if neither an entry nor a finding lists it. */
  readonly tensors?: readonly AllocationIndex[];
  /** Of a pass that keeps more than all passes of its call before. */
  readonly larger?: LargerPass | undefined;
  /** Graphs of passes that are there at once. */
  readonly waiting?: WaitingPasses | undefined;
  /** The lines whose backward was to free these graphs, the one with most of them first. */
  readonly ranBy?: readonly FrameView[];
  /** Gradients that no optimizer uses. */
  readonly idle?: { readonly count: number; readonly bytes: number };
  /** How often a loop in the forward pass turns. */
  readonly turns?: number;
  /** How much lower the run's peak would be without it, if neither an entry nor a finding says so. */
  readonly lowersPeakBytes?: number;
  /** Whether `bytes` are from the end of the run, where far more had accumulated than at the peak. */
  readonly isOfEnd: boolean;
  readonly lines: readonly FrameView[];
  readonly does: string;
  /** The finding with more details. */
  readonly finding: Finding | undefined;
}

export interface Failure {
  readonly requestedBytes: number;
  /** How many times the program caught such an error and continued; 0 if it ended the program. */
  readonly timesCaught: number;
  readonly judged: OomVerdict;
  /** The lines that requested it, the innermost first. */
  readonly lines: readonly FrameView[];
  /** Backward requested it: 'same-size' if the first line made in forward what it is for. */
  readonly source: RequestOrigin['source'];
  readonly larger: LargerRequest | undefined;
  readonly pattern: Pattern | undefined;
  /** It was under no_grad() or the like, or the program runs no backward pass. */
  readonly isInference: boolean;
  /** The phase that it was in, if that had never been completed before. */
  readonly unfinished: Unfinished | undefined;
}

export interface Case {
  readonly context: AnalysisInput;
  readonly account: Account;
  /** The account at the end; the same object as `account` if that is the moment. */
  readonly atEnd: Account;
  readonly findings: readonly Finding[];
  readonly failure: Failure | undefined;
}

export function caseOf(context: AnalysisInput, findings: readonly Finding[]): Case {
  const { account, atEnd } = accountsOf(context);
  const event = fatalOom(context);
  const failure = event === undefined ? undefined : failureAt(context, event, 0);
  return { context, account, atEnd, findings, failure };
}

/** The last OOM that the program caught, for programs without another problem; undefined if there was none. */
export function caseOfCaught(known: Case): Case | undefined {
  const { context } = known;
  const ooms = seenOoms(context);
  const event = ooms.at(-1);
  if (event === undefined) return undefined;
  const account = accountAt(context, event, 'oom');
  return { ...known, account, failure: failureAt(context, event, ooms.length) };
}

function failureAt(context: AnalysisInput, event: EventIndex, timesCaught: number): Failure {
  const requestedBytes = context.input.trace.events.sizeBytes[event];
  const { stack, source } = requestOrigin(context, event);
  const pattern = patternOfRequest(context, event, stack);
  const unfinished = unfinishedAt(context, event, pattern);
  return {
    requestedBytes,
    timesCaught,
    judged: judgeOomAt(context, event),
    lines: userLines(context, stack),
    source,
    // A server's batches differ by design, and the last line before a backward did not ask for what that asks for.
    larger:
      context.isServerAt(event) || source === 'last-line'
        ? undefined
        : largerRequest(context, stack, event, requestedBytes),
    pattern,
    isInference: unfinished?.isOfOtherCall === true || isInference(context, event),
    unfinished,
  };
}

/** Causes that are not account entries: their detector describes them. */
const CAUSE_OF: Partial<Record<DetectorId, Cause>> = {
  'no-grad': 'kept-graph',
  'pending-free': 'pending-free',
  'segment-thrashing': 'cached',
  'level-shift': 'activations',
};

/** How much lower the run's peak would be without it; undefined if nothing says so. */
export const peakLowerBy = ({ lowersPeakBytes, finding }: Diagnosis): number | undefined =>
  lowersPeakBytes ?? finding?.lowersPeakBytes;

export const toldBy = (
  findings: readonly Finding[],
  ...detectors: readonly DetectorId[]
): Diagnosis[] =>
  findings
    .filter(({ detector }) => detectors.includes(detector))
    .map((finding) => ({
      ...plain(
        CAUSE_OF[finding.detector] ?? 'unknown',
        finding.bytes,
        finding.userLines,
        doesOf(finding),
      ),
      pattern: finding.pattern,
      severity: finding.severity,
      finding,
    }));

export const plain = (
  cause: Cause,
  bytes: number,
  lines: readonly FrameView[],
  does: string,
): Diagnosis => ({
  cause,
  pattern: undefined,
  severity: 'none',
  bytes,
  entry: undefined,
  isOfEnd: false,
  lines,
  does: lines.length === 0 ? '' : does,
  finding: undefined,
});

export const ofEntry = (entry: AccountEntry, does: string): Diagnosis => ({
  ...plain(entry.kind, entry.bytes, entry.lines, does),
  entry,
});

export function largestOf(
  { entries }: Account,
  kinds: readonly EntryKind[],
): AccountEntry | undefined {
  return entries.find(({ kind }) => kinds.includes(kind));
}

/** What a finding's line does, by how it relates to the memory. */
export const DOES = {
  // The recording doesn't say who holds it: a stack only shows where it was allocated.
  'allocated at': 'allocates it',
  'stored at': 'stores it',
  'started at': 'starts it',
  'held by': 'holds most',
  'pinned by': 'pins memory',
  'requested by': 'asked for it',
  'kept by backward at': 'runs their backward',
  'called by': 'calls the model',
  'in it': 'is in that loop',
} as const;

export const doesOf = (finding: Finding | undefined): string =>
  DOES[finding?.frameIs ?? 'allocated at'];
