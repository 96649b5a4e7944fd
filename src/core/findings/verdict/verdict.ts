/** The answer for someone who has ten seconds: what the memory went to, which line to look at, what to try first. */

import type { Account } from '../account/types.ts';
import type { AnalysisContext } from '../analysis-context.ts';
import type { Finding } from '../detectors.ts';
import { type Case, caseOf, caseOfCaught, type Diagnosis, diagnose } from './diagnose.ts';
import { remediesFor } from './remedies.ts';
import { alsoOf, briefOf, textOf } from './sentences.ts';
import type { Forecast, Verdict, VerdictTone } from './types.ts';

export interface Judgement {
  readonly account: Account;
  /** Of the end of the recording; the same one where that is the moment of the account. */
  readonly accountAtEnd: Account;
  readonly verdict: Verdict;
}

/** @param findings of all detectors */
export function judge(context: AnalysisContext, findings: readonly Finding[]): Judgement {
  const { known, diagnosis } = lookedAt(context, findings);
  const forecast = forecastOf(known, diagnosis);
  const needBytes = needOf(known, diagnosis);
  const savedBytes = savedOf(known, diagnosis, needBytes);
  const figures = { known, diagnosis, forecast, needBytes };
  const { cause, pattern, severity, bytes, lines, does, finding } = diagnosis;
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
      also: alsoOf(figures),
      lines,
      does,
      advice: remediesFor(known, diagnosis, savedBytes),
      forecast,
      finding: (finding ?? failureFinding(known))?.fingerprint,
    },
  };
}

/** An OOM that the program caught is spoken of where nothing else is wrong. */
function lookedAt(context: AnalysisContext, findings: readonly Finding[]) {
  const known = caseOf(context, findings);
  const diagnosis = diagnose(known);
  const caught = diagnosis.cause === 'none' ? caseOfCaught(known) : undefined;
  if (caught === undefined) return { known, diagnosis };
  return { known: caught, diagnosis: { ...diagnose(caught), severity: 'medium' as const } };
}

function toneOf({ failure, context }: Case, { cause }: Diagnosis): VerdictTone {
  if (failure !== undefined) return failure.timesCaught > 0 ? 'warning' : 'severe';
  if (cause === 'unknown') return 'unknown';
  if (cause !== 'none') return 'warning';
  return context.input.replay.recording === 'truncated' ? 'unknown' : 'calm';
}

const failureFinding = ({ failure, findings }: Case): Finding | undefined =>
  failure && findings.filter(({ detector }) => detector === 'oom').at(-1);

/** At this rate the memory that is left is full in so many steps. */
function forecastOf(
  { context, account, failure }: Case,
  { entry }: Diagnosis,
): Forecast | undefined {
  if (entry?.rate === undefined || !entry.isGrowing || entry.rate.bytes <= 0) return undefined;
  const { bytes: bytesPerStep, unit } = entry.rate;
  if (failure !== undefined) return { stepsLeft: 0, bytesPerStep, unit };
  const { limitBytes } = account;
  if (limitBytes === undefined) return { stepsLeft: undefined, bytesPerStep, unit };
  const left = Math.max(0, limitBytes - context.input.replay.end.allocatedBytes);
  return { stepsLeft: Math.floor(left / bytesPerStep), bytesPerStep, unit };
}

/** What the run needs without the cause; at an OOM with the request that failed, unless that was of the cause too. */
function needOf({ failure }: Case, { entry, cause }: Diagnosis): number | undefined {
  if (entry?.peakWithoutBytes === undefined) return undefined;
  const request = cause === 'growing' ? 0 : (failure?.requestedBytes ?? 0);
  return entry.peakWithoutBytes + request;
}

function savedOf(
  { account, failure }: Case,
  { bytes }: Diagnosis,
  needBytes: number | undefined,
): number {
  if (needBytes === undefined) return bytes;
  return Math.max(0, account.allocatedBytes + (failure?.requestedBytes ?? 0) - needBytes);
}
