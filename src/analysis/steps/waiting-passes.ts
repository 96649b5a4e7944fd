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
import type { EventIndex, StackIndex } from '../../format/snapshot/tables.ts';
import type { Account } from '../account/types.ts';
import type { AnalysisInput } from '../findings/analysis-input.ts';
import { callerOfModel } from '../findings/user-lines.ts';
import { evidentRuns, madeInBackward } from './pass-graphs.ts';

/** Two may be the two sides of a comparison, which need each other. */
const MIN_PASSES = 3;
/** Share of the allocated bytes: less is not worth a sentence. */
const MIN_SHARE = 0.5;
/** Share of a pass's kept bytes that must still be there. */
const LIVE_SHARE = 0.5;

export interface WaitingPasses {
  readonly count: number;
  readonly bytes: number;
  readonly tensors: readonly AllocationIndex[];
  /** What all but the largest of them take. */
  readonly savedBytes: number;
  /** When what passes of these calls kept would be freed if backward came right after each: as the pass ends. */
  readonly ends: ReadonlyMap<AllocationIndex, EventIndex>;
  /** The lines that call the model, that of the most bytes first. */
  readonly lines: readonly FrameView[];
  /** A backward ran between them, as in meta-learning or an attack: with create_graph=True, or for a part of them. */
  readonly hadBackward: boolean;
}

/** @returns undefined if no function has as many graphs at once at the account's moment, or if they are a small part */
export function waitingPasses(
  context: AnalysisInput,
  { moment: { event }, allocatedBytes }: Pick<Account, 'moment' | 'allocatedBytes'>,
): WaitingPasses | undefined {
  const { start, freeRequested, sizeBytes } = context.input.replay.allocations;
  const isLive = (id: AllocationIndex) => start[id] <= event && freeRequested[id] > event;
  const liveBytes = (ids: readonly AllocationIndex[]) =>
    sumBy(ids.filter(isLive), (id) => sizeBytes[id]);
  const live = context
    .once(evidentRuns)
    .filter(({ isCutOff }) => !isCutOff)
    .map((run) => ({ ...run, bytes: liveBytes(run.kept) }))
    .filter(({ bytes, keptBytes }) => bytes > 0 && bytes >= LIVE_SHARE * keptBytes);
  const bytesOf = (runs: typeof live) => sumBy(runs, ({ bytes }) => bytes);
  const ofCalls = [...groupBy(live, ({ call }) => call).values()]
    .filter((runs) => runs.length >= MIN_PASSES)
    .sort((a, b) => bytesOf(b) - bytesOf(a));
  // `kl(model(x_adv), model(x))` calls it in two lines of one function.
  const [calls = []] = [
    ...groupBy(ofCalls, ([{ call }]) => functionOf(context, call)).values(),
  ].sort((a, b) => bytesOf(b.flat()) - bytesOf(a.flat()));
  const runs = calls.flat();
  const own = bytesOf(runs);
  if (own === 0 || own < MIN_SHARE * allocatedBytes) return undefined;
  const [largest] = calls;
  const between = largest.slice(1).map(({ first }, i) => [largest[i].last + 1, first] as const);
  const hadBackward = between.some(([from, to]) => hasBackwardIn(context, from, to));
  // With create_graph=True the gradients have a graph too, which stays as long.
  const ofGradients = hadBackward
    ? madeInBackward(context, runs[0].first, event).filter(isLive)
    : [];
  const bytes = own + liveBytes(ofGradients);
  const frames = calls.flatMap(([{ call }]) => callerOfModel(context, call) ?? []);
  const bytesOfLargest = highest(runs.map((run) => run.bytes));
  const inCalls = new Set(runs.map(({ call }) => call));
  const ofCallsEver = context.once(evidentRuns).filter(({ call }) => inCalls.has(call));
  // Backward may have used up a part of the last ones.
  const waited = ofCallsEver.filter(({ first }) => first >= runs[0].first && start[first] <= event);
  return {
    count: hadBackward ? runs.length : waited.length,
    bytes,
    tensors: [...runs.flatMap(({ kept }) => kept.filter(isLive)), ...ofGradients],
    savedBytes: (bytes * (own - bytesOfLargest)) / own,
    ends: new Map(ofCallsEver.flatMap(({ kept, close }) => kept.map((id) => [id, close] as const))),
    lines: [...new Set(frames)].map((frame) => context.input.stacks.frame(frame)),
    hadBackward,
  };
}

function functionOf(context: AnalysisInput, call: StackIndex): string {
  const frame = callerOfModel(context, call);
  const view = frame === undefined ? undefined : context.input.stacks.frame(frame);
  return view === undefined ? `${call}` : `${view.filename} ${view.name}`;
}

const hasBackwardIn = ({ classifier, input }: AnalysisInput, from: number, to: number): boolean =>
  input.replay.allocations.stack.subarray(from, to).some((own) => classifier.isBackward(own));
