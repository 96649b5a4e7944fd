/**
 * Forward passes whose graphs are live together because one backward serves them all: losses of several batches that are
 * summed first.
 *
 *     for batch in batches: total += model(batch)    ← eight graphs
 *     total.backward()
 */

import { groupBy, largestFirst, sumBy } from '../../base/collections.ts';
import type { FrameView } from '../../device/model/types.ts';
import type { EventIndex } from '../../format/snapshot/tables.ts';
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
  /** The line that calls the model. */
  readonly call: FrameView | undefined;
}

/** @returns undefined if no line has as many graphs at once after `event`, or if they are a small part */
export function waitingPasses(
  context: AnalysisInput,
  event: EventIndex,
): WaitingPasses | undefined {
  const { start, freeRequested, sizeBytes } = context.input.replay.allocations;
  const bytesOf = (ids: readonly number[]) =>
    sumBy(ids, (id) => (start[id] <= event && freeRequested[id] > event ? sizeBytes[id] : 0));
  const live = context
    .once(forwardRuns)
    .map(({ call, kept, keptBytes }) => ({ call, keptBytes, bytes: bytesOf(kept) }))
    .filter(({ bytes, keptBytes }) => bytes > 0 && bytes >= LIVE_SHARE * keptBytes);
  const byCall = groupBy(live, ({ call }) => call);
  const sums = new Map(
    [...byCall].map(([call, own]) => [call, sumBy(own, ({ bytes }) => bytes)] as const),
  );
  const [[call, bytes] = [0, 0]] = largestFirst(sums);
  const count = byCall.get(call)?.length ?? 0;
  const all = sumBy(start.keys(), (id) =>
    start[id] <= event && freeRequested[id] > event ? sizeBytes[id] : 0,
  );
  if (count < MIN_PASSES || bytes < MIN_SHARE * all) return undefined;
  const frame = callerOfModel(context, call);
  return {
    count,
    bytes,
    call: frame === undefined ? undefined : context.input.stacks.frame(frame),
  };
}
