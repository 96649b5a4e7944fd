/** What a healthy run would not keep: cohorts that grow, graphs without a backward, tensors replaced by larger ones. */

import { NEVER } from '../../allocator/replay/types.ts';
import { groupBy } from '../../base/collections.ts';
import { MemoryClass } from '../../device/classes/types.ts';
import { frameLocation } from '../../device/model/frame-text.ts';
import { isOfOneRepetition } from '../account/repetitions.ts';
import type { AccountEntry, EntryKind } from '../account/types.ts';
import { SURE_STEPS } from '../detectors/growth-leaks.ts';
import { agedOutOf } from '../detectors/growth-sites.ts';
import type { Finding } from '../findings/detectors.ts';
import type { Severity } from '../findings/types.ts';
import { type Case, type Diagnosis, doesOf, ofEntry, toldBy } from './case.ts';
import { patternOfKept, patternOfReplaced } from './patterns.ts';

/** Share of the peak, without an OOM. Smaller leaks are named only if their growth is certain. */
export const NOTABLE_SHARE = 0.05;
const LEFT_SHARE = 0.01;
const HIGH_SHARE = 0.25;
const OLD_SHARE = 0.5;
/** If this many more repetitions would add half the peak or more, the leak is severe. */
const FAR_STEPS = 1000;

const KEPT: readonly EntryKind[] = ['kept', 'kept-graph'];

/** Cohorts that are still growing, and graphs that no backward uses. */
export function keptCandidates(known: Case): Diagnosis[] {
  const { findings, context } = known;
  const cohorts = growingEntries(known).map(({ entry, isOfEnd }): Diagnosis => {
    const finding = findingOf(findings, entry);
    return {
      ...ofEntry(entry, doesOf(finding)),
      isOfEnd,
      severity: severityOfKept(known, entry, finding),
      pattern: patternOfKept(context, entry, finding),
      finding,
    };
  });
  return [...cohorts, ...toldBy(findings, 'no-grad')];
}

/** Cohorts that are still growing, each at the moment when it is larger: the peak or the end. */
function growingEntries(known: Case) {
  const { account, atEnd } = known;
  const entries = [...new Set([account, atEnd])].flatMap((of) =>
    of.entries
      .filter((entry) => KEPT.includes(entry.kind) && (entry.isGrowing || isHoard(known, entry)))
      .map((entry) => ({ entry, isOfEnd: of !== account })),
  );
  const byPlace = groupBy(entries, ({ entry }) => placeOf(entry));
  return [...byPlace.values()].map((same) =>
    same.reduce((a, b) => (b.entry.bytes > a.entry.bytes ? b : a)),
  );
}

/** The first of its lines, as text. */
const placeOf = ({ lines: [line] }: Pick<AccountEntry, 'lines'>): string | undefined =>
  line && frameLocation(line);

/**
 * What piles up over many repetitions, even if it is dropped in the end. Results computed from all of it have a
 * different size each time, so memory cached for one does not fit the next.
 */
export const pileCandidates = ({ account }: Case): Diagnosis[] =>
  account.entries
    .filter(({ kind, rate }) => KEPT.includes(kind) && (rate?.steps ?? 0) >= SURE_STEPS)
    .map((entry) => ofEntry(entry, 'allocates it'));

/**
 * Even without growth, memory from many steps that fills a large part of the peak is a fault. Healthy programs need no
 * such graphs, and bound what they keep by design: the oldest goes as the newest comes.
 */
function isHoard({ context, failure }: Case, { kind, bytes, allocations }: AccountEntry): boolean {
  const { stack, start, freeRequested } = context.input.replay.allocations;
  const { classOf } = context.classification;
  // What nothing was added to since before a ring's oldest event may be a cache that is full. Old optimizers are none.
  const isOptimizer = classOf[allocations[0]] === MemoryClass.OptimizerState;
  const isOld = kind === 'kept' && !isOptimizer && allocations.every((id) => start[id] < 0);
  const share = isOld ? OLD_SHARE : HIGH_SHARE;
  if (bytes < share * context.input.replay.peaks.allocatedBytes.bytes) return false;
  if (isOfOneRepetition(context, allocations, stack[allocations[0]])) return false;
  if (kind === 'kept-graph') return true;
  // A pile that was already full when memory ran out did not cause it.
  if (failure !== undefined) return false;
  const sites = new Set(allocations.map((id) => stack[id]));
  if (agedOutOf(context, allocations).length > 0) return false;
  return stack.every(
    (site, id) =>
      classOf[id] !== MemoryClass.Kept || !sites.has(site) || freeRequested[id] === NEVER,
  );
}

/** By its share of the peak and by where it leads, never by how few repetitions were seen. */
function severityOfKept(
  { context, atEnd }: Case,
  { kind, bytes, rate, isGrowing, holder }: AccountEntry,
  finding: Finding | undefined,
): Severity {
  const peak = context.input.replay.peaks.allocatedBytes.bytes;
  // Inference has to keep what it returns: count it only if it is a large part of the memory.
  const isSure = context.isTraining && finding !== undefined && finding.severity !== 'low';
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
export function isLasting({ context, atEnd }: Case, one: Diagnosis): boolean {
  const { length, stack, sizeBytes } = context.input.replay.allocations;
  const isSame = (other: AccountEntry) =>
    other.kind === 'growing' && placeOf(other) === placeOf(one);
  const [largest] = atEnd.entries.find(isSame)?.allocations ?? [];
  if (largest === undefined) return false;
  let highest = 0;
  for (let id = 0; id < length; id++) {
    if (stack[id] !== stack[largest]) continue;
    if (sizeBytes[id] < highest / 2) return false;
    highest = Math.max(highest, sizeBytes[id]);
  }
  return true;
}

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
