/**
 * What stays longer than it is used, and sets the peak of a run that works: piles that the program gives back at once, and
 * graphs that outlive their own backward.
 */
import { type AllocationIndex, NEVER } from '../../allocator/replay/types.ts';
import { upperBound } from '../../base/binary-search.ts';
import { addUp, groupBy, largestFirst, memoized, sumBy } from '../../base/collections.ts';
import { Evidence, MemoryClass } from '../../device/classes/types.ts';
import type { FrameView } from '../../device/model/types.ts';
import {
  type EventIndex,
  type FrameIndex,
  type StackIndex,
  TraceAction,
} from '../../format/snapshot/tables.ts';
import { peakWithout } from '../account/moment.ts';
import { wasDrained, wasGivenBack } from '../account/repetitions.ts';
import { type Account, type AccountEntry, isKept } from '../account/types.ts';
import type { AnalysisInput } from '../findings/analysis-input.ts';
import { callerOfModel, innermostOwn } from '../findings/user-lines.ts';
import { type ForwardRun, passesAmong } from '../steps/forward-runs.ts';
import { beginOfBackward, evidentRuns, madeInBackward } from '../steps/pass-graphs.ts';
import { type Case, type Diagnosis, DOES, ofEntry, plain } from './case.ts';

/** Less is not worth a change of the program. */
export const MIN_BYTES = 2 ** 27;
/** Of the peak. */
const PILED_SHARE = 0.25;
const MIN_PILED = 10;

/** What many repetitions keep and the program gives back at once: an epoch's outputs, a rollout. */
export function piledUp({ context, account, findings }: Case): Diagnosis | undefined {
  const { entries, allocatedBytes } = account;
  const loweredBy = ({ without }: AccountEntry) =>
    allocatedBytes - (without?.peakBytes ?? allocatedBytes);
  const entry = entries.find(
    (one) =>
      isKept(one.kind) &&
      one.count >= MIN_PILED &&
      loweredBy(one) >= Math.max(MIN_BYTES, PILED_SHARE * allocatedBytes) &&
      isGivenBack(context, allOf(context, one)),
  );
  if (entry === undefined) return undefined;
  return {
    ...ofEntry(entry, DOES['allocated at']),
    ...{ pattern: 'piled-up', severity: 'low', lowersPeakBytes: loweredBy(entry) },
    finding: findings.find(({ kind }) => kind === 'freed-in-bursts'),
  };
}

/** At once, or one by one, as from a queue. */
const isGivenBack = (context: AnalysisInput, all: readonly AllocationIndex[]): boolean =>
  wasGivenBack(context, all) || wasDrained(context, all);

/** What its lines ever kept, in order of allocation. */
function allOf({ classification, input }: AnalysisInput, { allocations }: AccountEntry) {
  const { stack, length } = input.replay.allocations;
  const stacks = new Set(allocations.map((id) => stack[id]));
  return Array.from({ length }, (_, id) => id).filter(
    (id) => stacks.has(stack[id]) && classification.classOf[id] === MemoryClass.Kept,
  );
}

/** A single pass may be a special case. */
const MIN_RETAINED = 2;
const RETAINED_SHARE = 0.2;
/**
 * Of what a pass keeps: its outputs are few. `autograd.grad(loss, some)` leaves what the other parameters would need, while
 * `loss` is there.
 */
const PASS_SHARE = 0.2;
const MIN_TENSORS = 16;
/** Of what the passes of one call retain: the outer backward of second-order training frees a part of it. */
const MOST_USED = 0.05;

/**
 * Graphs that outlive their own backward, because it was called with create_graph=True or retain_graph=True or for a part of
 * the parameters, and that no other backward uses: of a fine-tuning's steps. Second-order training needs those of its inner steps.
 */
export function retainedGraphs(
  context: AnalysisInput,
  { moment, allocatedBytes }: Account,
): Diagnosis | undefined {
  const { freeRequested, sizeBytes, stack } = context.input.replay.allocations;
  const { evidenceOf } = context.classification;
  const isUsed = (id: AllocationIndex) => evidenceOf[id] === Evidence.FreedInBackward;
  const ends = new Map<AllocationIndex, EventIndex>();
  const calls: StackIndex[] = [];
  /** By the end of a pass's own backward: the first allocation after the pass. */
  const firstAfter = new Map<EventIndex, AllocationIndex>();
  const backwards = context.once(ownBackwards);
  for (const runs of groupBy(context.once(evidentRuns), ({ call }) => call).values()) {
    const own = runs.flatMap((run) => {
      const { kept, last } = run;
      const ownBackward = backwards.get(run);
      const isLeft = (id: AllocationIndex) => freeRequested[id] > (ownBackward ?? NEVER);
      const left = kept.filter(isLeft);
      const isMuch = left.length >= Math.max(MIN_TENSORS, PASS_SHARE * kept.length);
      if (ownBackward === undefined || !isMuch) return [];
      // With create_graph=True the gradients have a graph too, which stays as long.
      const ofGradients = madeInBackward(context, last + 1, ownBackward).filter(isLeft);
      firstAfter.set(ownBackward, last + 1);
      return { ownBackward, retained: [...left, ...ofGradients] };
    });
    const all = own.flatMap(({ retained }) => retained);
    if (all.filter(isUsed).length > MOST_USED * all.length) continue;
    if (own.length < MIN_RETAINED) continue;
    calls.push(runs[0].call);
    for (const { ownBackward, retained } of own)
      for (const id of retained) ends.set(id, ownBackward);
  }
  const live = [...ends].flatMap(([id, end]) =>
    end < moment.event && freeRequested[id] > moment.event ? [id] : [],
  );
  const bytes = sumBy(live, (id) => sizeBytes[id]);
  const least = Math.max(MIN_BYTES, RETAINED_SHARE * allocatedBytes);
  if (bytes < least) return undefined;
  const lineOf = linesOfCalls(context, new Set(calls));
  const byLine = new Map<FrameIndex, number>();
  const byBackward = new Map<FrameIndex, number>();
  const lineOfEnd = memoized((end: EventIndex) =>
    lineOfBackward(context, firstAfter.get(end) ?? 0, end),
  );
  for (const id of live) {
    const line = lineOf(context.classifier.moduleCall(stack[id]));
    if (line !== undefined) addUp(byLine, line, sizeBytes[id]);
    const backward = lineOfEnd(ends.get(id) ?? -1);
    if (backward !== undefined) addUp(byBackward, backward, sizeBytes[id]);
  }
  const [lines, ranBy] = [byLine, byBackward].map((by) =>
    largestFirst(by).map(([line]) => context.input.stacks.frame(line)),
  );
  const rest = peakWithout(context.input, ends.keys(), (id) => ends.get(id) ?? -1);
  return {
    ...plain(
      'activations',
      bytes,
      [...ranBy, ...lines],
      DOES[ranBy.length > 0 ? 'kept by backward at' : 'called by'],
    ),
    ...{ pattern: 'retained-graph', severity: 'low', tensors: live, ranBy },
    lowersPeakBytes: allocatedBytes - rest,
  };
}

/** The lines whose backward left most of an entry's passes, each once. */
export function linesOfBackwards(
  context: AnalysisInput,
  { allocations }: AccountEntry,
): FrameView[] {
  const lines = passesAmong(context, allocations).flatMap(({ last, ownBackward }) =>
    ownBackward === undefined ? [] : (lineOfBackward(context, last + 1, ownBackward) ?? []),
  );
  return [...new Set(lines)].map((line) => context.input.stacks.frame(line));
}

/** The user's line of the last backward() between an allocation and an event: it makes the gradient that it begins with. */
function lineOfBackward(
  context: AnalysisInput,
  first: AllocationIndex,
  end: EventIndex,
): FrameIndex | undefined {
  const { start, stack } = context.input.replay.allocations;
  const begin = beginOfBackward(context, upperBound(start, end) - 1);
  return begin === undefined || begin < first
    ? undefined
    : context.input.stacks.topUserFrame(stack[begin]);
}

/**
 * By the pass: the last event of the backward that its graph was for. Passes that come one after another have a backward
 * in common if their graphs are dropped in one go: of a loss that sums the outputs of several models.
 *
 *     pass 1 | pass 2 | backward | … | frees of pass 1 and of pass 2, with nothing in between
 */
function ownBackwards(context: AnalysisInput): ReadonlyMap<ForwardRun, EventIndex> {
  const { freeRequested } = context.input.replay.allocations;
  const { action } = context.input.trace.events;
  const isInOneGo = (a: ForwardRun, b: ForwardRun) => {
    const [from, to] = [a, b].map(({ kept }) => median(kept.map((id) => freeRequested[id])));
    return (
      to !== NEVER &&
      !action.subarray(Math.min(from, to), Math.max(from, to)).includes(TraceAction.Alloc)
    );
  };
  const found = new Map<ForwardRun, EventIndex>();
  let next: ForwardRun | undefined;
  for (const run of context.once(evidentRuns).toReversed()) {
    const shared = next !== undefined && isInOneGo(run, next) ? found.get(next) : undefined;
    const end = run.ownBackward ?? shared;
    if (end !== undefined) found.set(run, end);
    next = run;
  }
  return found;
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? NEVER;

/** The innermost line that no other calls go through: `loss()` may call the model for all of them. Else the one that does. */
function linesOfCalls(context: AnalysisInput, calls: ReadonlySet<StackIndex>) {
  const { stacks, snapshot } = context.input;
  const { parent, frame } = snapshot.stacks;
  const others = new Set(
    context
      .once(evidentRuns)
      .flatMap(({ call }) => (calls.has(call) ? [] : [...stacks.frames(parent[call])])),
  );
  return memoized((call: StackIndex) => {
    const row = innermostOwn(context, parent[call], (own) => !others.has(own));
    return row === undefined ? callerOfModel(context, call) : frame[row];
  });
}
