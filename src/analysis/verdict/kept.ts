/** What a healthy run would not keep: cohorts that grow, graphs without a backward, tensors replaced by larger ones. */

import { keptEntries, placeOf } from '../account/kept-entries.ts';
import { type AccountEntry, isKept } from '../account/types.ts';
import { SURE_STEPS } from '../detectors/growth-leaks.ts';
import type { Finding } from '../findings/detectors.ts';
import type { Severity } from '../findings/types.ts';
import { type Case, type Diagnosis, doesOf, ofEntry, toldBy } from './case.ts';
import { patternOfKept, patternOfReplaced } from './patterns.ts';

/** Share of the peak, without an OOM. Smaller leaks are named only if their growth is certain. */
export const NOTABLE_SHARE = 0.05;
const LEFT_SHARE = 0.01;
const HIGH_SHARE = 0.25;
/** If this many more repetitions would add half the peak or more, the leak is severe. */
const FAR_STEPS = 1000;

/** Cohorts that are still growing, and graphs that no backward uses. */
export function keptCandidates(known: Case): Diagnosis[] {
  const { findings, context, account, atEnd } = known;
  const cohorts = keptEntries(context, account, atEnd).map(({ entry, isOfEnd }): Diagnosis => {
    const finding = findingOf(findings, entry);
    return {
      ...ofEntry(entry, doesOf(finding)),
      isOfEnd,
      severity: severityOfKept(known, entry, finding),
      pattern: finding?.pattern ?? patternOfKept(context, entry),
      finding,
    };
  });
  return [...cohorts, ...toldBy(findings, 'no-grad')];
}

/**
 * What piles up over many repetitions, even if it is dropped in the end. Results computed from all of it have a
 * different size each time, so memory cached for one does not fit the next.
 */
export const pileCandidates = ({ account }: Case): Diagnosis[] =>
  account.entries
    .filter(({ kind, rate }) => isKept(kind) && (rate?.steps ?? 0) >= SURE_STEPS)
    .map((entry) => ofEntry(entry, 'allocates it'));

/** By its share of the peak and by where it leads, never by how few repetitions were seen. */
function severityOfKept(
  { context, atEnd }: Case,
  { kind, bytes, rate, isGrowing, holder }: AccountEntry,
  finding: Finding | undefined,
): Severity {
  const peak = context.input.replay.peaks.allocatedBytes.bytes;
  // Inference has to keep what it returns: count it only if it is a large part of the memory.
  const isSure = context.isTraining && finding?.law !== undefined && finding.severity !== 'low';
  const leadsFar = isSure && rate !== undefined && rate.bytes * FAR_STEPS >= peak / 2;
  const isFatal = isGrowing || kind === 'kept-graph';
  if ((bytes >= HIGH_SHARE * peak && isFatal) || leadsFar) return 'high';
  // A name is proof: then it is worth a line if it is much of what is left at the end.
  const isLeft = holder !== undefined && bytes >= HIGH_SHARE * atEnd.allocatedBytes;
  return bytes >= (isLeft ? LEFT_SHARE : NOTABLE_SHARE) * peak ? 'medium' : 'low';
}

export function replacedCandidates({ account, context, findings }: Case): Diagnosis[] {
  const peak = Math.max(1, context.input.replay.peaks.allocatedBytes.bytes);
  return account.entries
    .filter(({ kind }) => kind === 'growing')
    .map((entry) => ({
      ...ofEntry(entry, 'makes it larger'),
      pattern: patternOfReplaced(context, entry),
      severity: entry.bytes >= HIGH_SHARE * peak ? ('high' as const) : ('medium' as const),
      finding: findings.find(({ kind }) => kind === 'reserved-unused'),
    }));
}

/** What is given back now and then, such as each generation's cache, is harmless. */
export const isLasting = ({ atEnd }: Case, one: Diagnosis): boolean =>
  atEnd.entries.find((other) => other.kind === 'growing' && placeOf(other) === placeOf(one))
    ?.replaced?.isOfWholeRun === true;

/** The growth finding whose tensors are in the cohort. */
function findingOf(
  findings: readonly Finding[],
  { allocations }: AccountEntry,
): Finding | undefined {
  const own = new Set(allocations);
  return findings.find(
    ({ detector, evidence }) =>
      detector === 'growth' && evidence.allocations.some((id) => own.has(id)),
  );
}
