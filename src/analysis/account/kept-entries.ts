/** The cohorts of an account that a healthy run would not keep: what the growth check reports and the verdict judges. */

import { type AllocationIndex, NEVER } from '../../allocator/replay/types.ts';
import { groupBy } from '../../base/collections.ts';
import { MemoryClass } from '../../device/classes/types.ts';
import { frameLocation } from '../../device/model/frame-text.ts';
import type { EventIndex } from '../../format/snapshot/tables.ts';
import { goesOn } from '../detectors/growth-leaks.ts';
import { agedOutOf } from '../detectors/growth-sites.ts';
import { unusedGraphs } from '../detectors/no-grad.ts';
import type { AnalysisInput } from '../findings/analysis-input.ts';
import { accountsOf } from './account.ts';
import { isOfOneRepetition, isPiledAfterSteps } from './repetitions.ts';
import { type Account, type AccountEntry, isKept } from './types.ts';

/** Share of the peak: a pile without growth is a fault only if it is this large. */
const HOARD_SHARE = 0.25;
const OLD_HOARD_SHARE = 0.5;

export interface KeptEntry {
  readonly entry: AccountEntry;
  /** Whether the entry is of the end, where it was larger than at the account's moment. */
  readonly isOfEnd: boolean;
}

/** Of the whole run. Computed once for the growth check and the verdict. */
export function keptInRun(context: AnalysisInput): KeptEntry[] {
  const { account, atEnd } = accountsOf(context);
  return keptEntries(context, account, atEnd);
}

/** Cohorts that are still growing or are a hoard, each at the moment when it is larger: the account's or the end. */
export function keptEntries(context: AnalysisInput, account: Account, atEnd: Account): KeptEntry[] {
  const { event, why } = account.moment;
  const failedAt = why === 'oom' ? event : undefined;
  const entries = [...new Set([account, atEnd])].flatMap((of) =>
    of.entries
      .filter(
        (entry) => isKept(entry.kind) && (entry.isGrowing || isHoard(context, entry, failedAt)),
      )
      .map((entry) => ({ entry, isOfEnd: of !== account })),
  );
  const byPlace = groupBy(entries, ({ entry }) => placeOf(entry));
  return [...byPlace.values()].map((same) =>
    same.reduce((a, b) => (b.entry.bytes > a.entry.bytes ? b : a)),
  );
}

/** The first of its lines, as text. */
export const placeOf = ({ lines: [line] }: Pick<AccountEntry, 'lines'>): string | undefined =>
  line && frameLocation(line);

/**
 * A pile that was full long before memory ran out did not cause it. Most of the graphs of passes without a backward are
 * told as those.
 */
function isCauseOfOom(context: AnalysisInput, allocations: readonly AllocationIndex[]): boolean {
  const own = new Set(allocations);
  const isOfGraphs = context
    .once(unusedGraphs)
    .some(({ ids }) => 2 * ids.filter((id) => own.has(id)).length > own.size);
  const inOrder = allocations.toSorted((a, b) => a - b);
  return !isOfGraphs && goesOn(context, { kept: inOrder });
}

/**
 * Even without growth, memory from many steps that fills a large part of the peak is a fault. Healthy programs need no
 * such graphs, and bound what they keep by design: the oldest goes as the newest comes.
 */
function isHoard(
  context: AnalysisInput,
  { kind, bytes, allocations }: AccountEntry,
  failedAt: EventIndex | undefined,
): boolean {
  const { stack, start, freeRequested } = context.input.replay.allocations;
  const { classOf } = context.classification;
  // What nothing was added to since before a ring's oldest event may be a cache that is full. Old optimizers are none.
  const isOptimizer = classOf[allocations[0]] === MemoryClass.OptimizerState;
  const isOld = kind === 'kept' && !isOptimizer && allocations.every((id) => start[id] < 0);
  const share = isOld ? OLD_HOARD_SHARE : HOARD_SHARE;
  if (bytes < share * context.input.replay.peaks.allocatedBytes.bytes) return false;
  const made = stack[allocations[0]];
  const isPile = failedAt !== undefined && isPiledAfterSteps(context, allocations, made);
  if (!isPile && isOfOneRepetition(context, allocations, made)) return false;
  if (kind === 'kept-graph') return true;
  if (failedAt !== undefined && !isCauseOfOom(context, allocations)) return false;
  const sites = new Set(allocations.map((id) => stack[id]));
  if (agedOutOf(context, allocations).length > 0) return false;
  return stack.every(
    (site, id) =>
      classOf[id] !== MemoryClass.Kept ||
      !sites.has(site) ||
      freeRequested[id] > (failedAt ?? NEVER - 1),
  );
}
