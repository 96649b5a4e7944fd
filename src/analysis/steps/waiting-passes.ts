/**
 * Forward passes whose graphs are live together because one backward serves them all: losses of several batches that are
 * summed first.
 *
 *     for batch in batches: total += model(batch)    ← eight graphs
 *     total.backward()
 */

import type { AllocationIndex } from '../../allocator/replay/types.ts';
import { groupBy, sumBy } from '../../base/collections.ts';
import { highest } from '../../base/extremes.ts';
import type { FrameView } from '../../device/model/types.ts';
import type { Account } from '../account/types.ts';
import type { AnalysisInput } from '../findings/analysis-input.ts';
import { callerOfModel } from '../findings/user-lines.ts';
import { forwardRuns } from './forward-runs.ts';

/** Two may be the two sides of a comparison, which need each other. */
const MIN_PASSES = 3;
/** Share of the allocated bytes: less is not worth a sentence. */
const MIN_SHARE = 0.5;
/** Share of a pass's kept bytes that must still be there. */
const LIVE_SHARE = 0.5;

interface WaitingPasses {
  readonly count: number;
  readonly bytes: number;
  /** What all but the largest of them take. */
  readonly savedBytes: number;
  /** The line that calls the model. */
  readonly call: FrameView | undefined;
}

/** @returns undefined if no line has as many graphs at once at the account's moment, or if they are a small part */
export function waitingPasses(
  context: AnalysisInput,
  { moment: { event }, allocatedBytes }: Pick<Account, 'moment' | 'allocatedBytes'>,
): WaitingPasses | undefined {
  const { start, freeRequested, sizeBytes } = context.input.replay.allocations;
  const liveBytes = (ids: readonly AllocationIndex[]) =>
    sumBy(ids, (id) => (start[id] <= event && freeRequested[id] > event ? sizeBytes[id] : 0));
  const live = context
    .once(forwardRuns)
    .map((run) => ({ ...run, bytes: liveBytes(run.kept) }))
    .filter(({ bytes, keptBytes }) => bytes > 0 && bytes >= LIVE_SHARE * keptBytes);
  const [largest = []] = [...groupBy(live, ({ call }) => call).values()].sort(
    (a, b) => sumBy(b, ({ bytes }) => bytes) - sumBy(a, ({ bytes }) => bytes),
  );
  const bytes = sumBy(largest, (run) => run.bytes);
  if (largest.length < MIN_PASSES || bytes < MIN_SHARE * allocatedBytes) return undefined;
  // A gradient taken in between, as in meta-learning, means that the passes need each other.
  const between = largest.slice(1).map(({ first }, i) => [largest[i].last + 1, first] as const);
  if (between.some(([from, to]) => hasBackward(context, from, to))) return undefined;
  const frame = callerOfModel(context, largest[0].call);
  return {
    count: largest.length,
    bytes,
    savedBytes: bytes - highest(largest.map((run) => run.bytes)),
    call: frame === undefined ? undefined : context.input.stacks.frame(frame),
  };
}

const hasBackward = ({ classifier, input }: AnalysisInput, from: number, to: number): boolean =>
  input.replay.allocations.stack.subarray(from, to).some((own) => classifier.isBackward(own));
