/** The ten-second answer: what used the memory, which line to look at, what to try first. */

import type { AllocationIndex } from '../../allocator/replay/types.ts';
import { timeOfEventUs } from '../../device/model/events.ts';
import type { EventIndex } from '../../format/snapshot/tables.ts';
import { holderAtEnd, holderOf } from '../account/holders.ts';
import {
  allocatesText,
  type LargestLine,
  largestLine,
  lineShare,
  othersText,
} from '../account/line-share.ts';
import { peakWithout } from '../account/moment.ts';
import { turnOf } from '../account/repetitions.ts';
import { type Account, isRate } from '../account/types.ts';
import type { AnalysisInput } from '../findings/analysis-input.ts';
import type { Finding } from '../findings/detectors.ts';
import { stepCount } from '../steps/step-sequence.ts';
import { alsoOf } from './also.ts';
import { type Case, caseOf, caseOfCaught, type Diagnosis, DOES, peakLowerBy } from './case.ts';
import { diagnose, isOfModels } from './diagnose.ts';
import { remediesFor } from './remedies.ts';
import { briefOf, textOf } from './sentences.ts';
import {
  type Forecast,
  isOnlyAdvice,
  OF_FUNCTION,
  type Verdict,
  type VerdictTone,
} from './types.ts';

export interface Judgement {
  readonly account: Account;
  /** At the end of the recording; the same object if that is the account's moment. */
  readonly accountAtEnd: Account;
  readonly verdict: Verdict;
  /** Without a problem: the line that allocated most, if one stands out. */
  readonly most: LargestLine | undefined;
  /** What the verdict is about, if neither a finding nor a row of the account lists it. */
  readonly tensors: readonly AllocationIndex[] | undefined;
  /** Where the program's steps begin and end; undefined if none were found. */
  readonly steps: StepMarks | undefined;
}

/** The bounds of a program's steps, few enough to draw. */
export interface StepMarks {
  /** All steps, even if fewer are marked. */
  readonly count: number;
  /** 'step', 'batch' or 'iteration'. */
  readonly noun: string;
  /** The first event after each bound, ascending. */
  readonly events: readonly EventIndex[];
  /** Times of those events since the first event of the trace; NaN without times. */
  readonly timesUs: readonly number[];
}

/** More marks would merge into a line. */
const MAX_MARKS = 240;

export function judge(context: AnalysisInput, findings: readonly Finding[]): Judgement {
  const { known, diagnosis } = lookedAt(context, findings);
  const forecast = forecastOf(known, diagnosis);
  const needBytes = needOf(known, diagnosis);
  const savedBytes = savedOf(known, diagnosis, needBytes);
  const holder = holderFor(known, diagnosis);
  const share = shareFor(known, diagnosis);
  // Where all lines of a function count, each of them has its part.
  const whole = OF_FUNCTION.includes(diagnosis.pattern) ? 1 : undefined;
  const besides = share === undefined ? '' : othersText(share, whole);
  const figures = { known, diagnosis, forecast, needBytes, savedBytes, holder, besides };
  const { cause, pattern, severity, bytes, lines, does, finding, tensors } = diagnosis;
  return {
    account: known.account,
    accountAtEnd: known.atEnd,
    verdict: {
      cause,
      pattern,
      severity,
      bytes,
      tone: toneOf(known, diagnosis),
      text: textOf(figures),
      brief: briefOf(figures),
      isCapped: known.failure?.judged.isCapped ?? false,
      also: alsoOf(figures),
      lines,
      does: share !== undefined && OF_SHARE.includes(does) ? allocatesText(share) : does,
      holder: holder?.text,
      advice: remediesFor(known, diagnosis, savedBytes),
      forecast,
      finding: (finding ?? failureFinding(known, diagnosis))?.fingerprint,
    },
    tensors: finding === undefined ? tensors : undefined,
    most: cause === 'none' ? largestLine(context, known.account) : undefined,
    steps: stepMarks(context),
  };
}

/** What the first line does is then said with how much of it. */
const OF_SHARE: readonly string[] = [DOES['allocated at'], DOES['held by']];

/** How much of the cause its first line allocated; undefined if the cause is no live tensors or has no line. */
function shareFor({ context, account }: Case, { cause, entry, tensors, lines: [line] }: Diagnosis) {
  const entries = cause === 'model-state' ? account.entries.filter(isOfModels) : [entry];
  const ids = tensors ?? entries.flatMap((own) => own?.allocations ?? []);
  return line === undefined || ids.length === 0 ? undefined : lineShare(context, ids, line);
}

/** The variable that holds the cause or, if nothing is wrong, much of what is left at the end. */
function holderFor({ context }: Case, { cause, bytes, entry, finding }: Diagnosis) {
  if (cause === 'none') return holderAtEnd(context);
  if (entry !== undefined)
    return entry.holder === undefined ? undefined : { text: entry.holder, bytes };
  const holder = holderOf(context, finding?.evidence.allocations ?? []);
  return holder !== undefined && holder.bytes >= bytes / 2 ? holder : undefined;
}

function stepMarks(context: AnalysisInput): StepMarks | undefined {
  const steps = context.findPrimarySteps();
  if (steps === undefined) return undefined;
  const { events: table } = context.input.trace;
  const every = Math.ceil(steps.bounds.length / MAX_MARKS);
  const events = [...steps.bounds.filter((_, i) => i % every === 0)]
    .map((bound) => bound + 1)
    .filter((event) => event < table.length);
  const timesUs = events.map((event) => timeOfEventUs(table, event));
  return { count: stepCount(steps), noun: turnOf(context), events, timesUs };
}

/** Mentions an OOM that the program caught only if nothing else is wrong. */
function lookedAt(context: AnalysisInput, findings: readonly Finding[]) {
  const known = caseOf(context, findings);
  const diagnosis = diagnose(known);
  const caught = diagnosis.cause === 'none' ? caseOfCaught(known) : undefined;
  if (caught === undefined) return { known, diagnosis };
  return { known: caught, diagnosis: { ...diagnose(caught), severity: 'medium' as const } };
}

function toneOf({ failure, context, findings }: Case, diagnosis: Diagnosis): VerdictTone {
  const { cause } = diagnosis;
  if (failure !== undefined) return failure.timesCaught > 0 ? 'warning' : 'severe';
  if (cause === 'unknown') return 'unknown';
  const isAdvice = isOnlyAdvice(diagnosis);
  if ((cause !== 'none' && !isAdvice) || findings.some(doesHarm)) return 'warning';
  return context.input.replay.recording === 'truncated' ? 'unknown' : 'calm';
}

const doesHarm = ({ severity }: Finding): boolean => severity !== 'low';

/** The OOM that ended the program or, if nothing else is wrong, one that it caught. */
const failureFinding = ({ failure, findings }: Case, { cause }: Diagnosis): Finding | undefined =>
  failure !== undefined || cause === 'none'
    ? findings.filter((one) => one.detector === 'oom' && doesHarm(one)).at(-1)
    : undefined;

function forecastOf(
  { context, account, failure }: Case,
  { entry }: Diagnosis,
): Forecast | undefined {
  if (entry?.rate === undefined || !entry.isGrowing || entry.rate.bytes <= 0) return undefined;
  const { bytes: bytesPerStep, unit, varies } = entry.rate;
  if (varies || !isRate(entry.rate)) return undefined;
  if (failure !== undefined) return { stepsLeft: 0, bytesPerStep, unit };
  const { limitBytes } = account;
  if (limitBytes === undefined) return { stepsLeft: undefined, bytesPerStep, unit };
  const left = Math.max(0, limitBytes - context.input.replay.end.allocatedBytes);
  return { stepsLeft: Math.floor(left / bytesPerStep), bytesPerStep, unit };
}

/**
 * What the run needs without the cause: its highest peak before or, at an OOM, what is left then with the failed request,
 * unless the cause made it.
 */
function needOf(
  { context, account, failure }: Case,
  { entry, cause, pattern, bytes }: Diagnosis,
): number | undefined {
  if (entry?.without === undefined) return undefined;
  const peakBytes = isAllGone(pattern)
    ? peakWithout(context.input, entry.allocations)
    : entry.without.peakBytes;
  if (failure === undefined || cause === 'growing') return peakBytes;
  const left = account.allocatedBytes - whatGoes({ entry, pattern, bytes });
  return Math.max(peakBytes, left + failure.requestedBytes);
}

/** Under no_grad() the graphs would not exist, not even while their pass runs. */
const isAllGone = (pattern: Diagnosis['pattern']) => pattern === 'evaluation-without-no-grad';

/** What would not be there at the account's moment without the cause. */
const whatGoes = ({ entry, pattern, bytes }: Pick<Diagnosis, 'entry' | 'pattern' | 'bytes'>) =>
  isAllGone(pattern) ? bytes : (entry?.without?.goneBytes ?? bytes);

function savedOf(
  { account, failure }: Case,
  diagnosis: Diagnosis,
  needBytes: number | undefined,
): number {
  const { bytes, cause, pattern } = diagnosis;
  const lower = peakLowerBy(diagnosis);
  const isOfPasses = diagnosis.cause === 'activations';
  if (lower !== undefined && (failure === undefined || isOfPasses)) return lower;
  // The calls that failed before had a peak of their own, which is not this request's.
  if (pattern === 'kept-exceptions') return bytes;
  if (needBytes === undefined) return bytes;
  // An earlier peak may need as much without the cause: it fitted, as when cuDNN tried what fits.
  if (failure !== undefined && cause !== 'growing') return whatGoes(diagnosis);
  return Math.max(0, account.allocatedBytes + (failure?.requestedBytes ?? 0) - needBytes);
}
