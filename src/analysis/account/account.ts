/** The memory account of a device: every live block and every free range, each in exactly one entry. */
import { liveAt } from '../../allocator/replay/trace-events.ts';
import type { AllocationIndex } from '../../allocator/replay/types.ts';
import { upperBound } from '../../base/binary-search.ts';
import { addUp, countOne, groupBy, largestFirst, sumBy } from '../../base/collections.ts';
import { type ClassTotal, MemoryClass } from '../../device/classes/types.ts';
import type { FrameView } from '../../device/model/types.ts';
import { waitsFrom } from '../../device/model/waits.ts';
import type { EventIndex, FrameIndex } from '../../format/snapshot/tables.ts';
import type { AnalysisInput } from '../findings/analysis-input.ts';
import { callerOfModel } from '../findings/user-lines.ts';
import { cardOf } from './card.ts';
import { cohortsAt, type Draft, repeats } from './cohorts.ts';
import { endOfRepetition, startOfNextOptimizer } from './end-of-use.ts';
import { pinningSites, type SegmentState, segmentsAt } from './free-space.ts';
import { heldDrafts, holderOf } from './holders.ts';
import { errorDrafts } from './left-by-errors.ts';
import { lineShare, onStack, othersText } from './line-share.ts';
import { limitOf, momentOf, peakWithout } from './moment.ts';
import { linesOfPools } from './private-pools.ts';
import { unitBetween } from './repetitions.ts';
import { isOfWholeRun, type Replaced, replacedAt } from './replacements.ts';
import {
  type Account,
  type AccountEntry,
  type EntryKind,
  type EntryRate,
  isKept,
  type MomentWhy,
} from './types.ts';

/** Share of the peak. Skip counting "the run without this" for anything smaller. */
const NOTABLE_SHARE = 0.02;
/** Lines listed for an entry that many lines contribute to. */
const MAX_LINES = 3;

const KIND_OF_CLASS: Readonly<Record<MemoryClass, EntryKind>> = {
  [MemoryClass.Unknown]: 'unknown',
  [MemoryClass.Parameters]: 'parameters',
  [MemoryClass.Gradients]: 'gradients',
  [MemoryClass.OptimizerState]: 'optimizer-state',
  [MemoryClass.Activations]: 'activations',
  [MemoryClass.Temporaries]: 'temporaries',
  [MemoryClass.Inputs]: 'inputs',
  [MemoryClass.Communication]: 'communication',
  [MemoryClass.Workspaces]: 'workspaces',
  [MemoryClass.GrowingState]: 'kv-cache',
  [MemoryClass.Kept]: 'kept',
};

export function mainAccount(context: AnalysisInput): Account {
  const { event, why } = momentOf(context);
  return accountAt(context, event, why);
}

/** The main account, and that of the end: the same object unless the peak is the moment. */
export function accountsOf(context: AnalysisInput) {
  const account = context.once(mainAccount);
  const atEnd = account.moment.why === 'peak' ? context.once(accountAtEnd) : account;
  return { account, atEnd };
}

export function accountAtEnd(context: AnalysisInput): Account {
  return accountAt(context, context.input.trace.events.length - 1, 'end');
}

/** @param event the state after it; -1 for the state before the first */
export function accountAt(context: AnalysisInput, event: EventIndex, why: MomentWhy): Account {
  const { replay, trace } = context.input;
  const table = replay.allocations;
  const live = liveAt(table, event);
  const drafts = draftsAt(context, live, { event, why });
  const entries = [
    ...drafts.map((draft) => entryOf(context, draft, event, gradientsOf(context, draft, drafts))),
    ...freeEntries(context, event),
  ].sort((a, b) => b.bytes - a.bytes);
  let [allocatedBytes, roundingBytes] = [0, 0];
  for (const id of live) {
    if (table.freeRequested[id] <= event) continue;
    allocatedBytes += table.sizeBytes[id];
    roundingBytes += table.sizeBytes[id] - table.requestedBytes[id];
  }
  const reservedBytes = entries.reduce((sum, { bytes }) => sum + bytes, 0);
  return {
    moment: { event, why },
    allocatedBytes,
    reservedBytes,
    limitBytes: limitOf(context),
    requestedBytes: why === 'oom' ? trace.events.sizeBytes[event] : undefined,
    roundingBytes: Number.isNaN(roundingBytes) ? undefined : roundingBytes,
    entries,
    card: cardOf(context, { event, why }, { allocatedBytes, reservedBytes }),
  };
}

type Ids = readonly AllocationIndex[];

/** The first claimant of a block gets it: streams, failed calls, cohorts, chains of replaced tensors, then its class. */
function draftsAt(
  context: AnalysisInput,
  live: Int32Array,
  { event, why }: Account['moment'],
): Draft[] {
  const { freeRequested, end } = context.input.replay.allocations;
  const taken = new Set<AllocationIndex>();
  const drafts: Draft[] = [];
  const claim = (draft: Draft) => {
    const ids = draft.ids.filter((id) => !taken.has(id));
    for (const id of ids) taken.add(id);
    // What is left of a cohort that a variable's owner claimed does not grow as the whole does.
    const rate = 2 * ids.length < draft.ids.length ? undefined : draft.rate;
    if (ids.length > 0) drafts.push({ ...draft, ids, rate });
  };
  // At a cursor, what the next event gives back counts as what it was, as it is drawn.
  const waits = (id: AllocationIndex) =>
    why === 'cursor' ? waitsFrom(freeRequested[id], end[id]) : freeRequested[id];
  const pending = Array.from(live).filter((id) => waits(id) <= event);
  claim(plainDraft(context, 'pending-free', pending));
  const { leaks, others } = cohortsAt(context, live);
  for (const draft of errorDrafts(context, live)) claim(draft);
  for (const draft of heldDrafts(context, [...leaks, ...others], live))
    claim({ ...plainDraft(context, 'kept', draft.ids), ...draft });
  for (const draft of [...leaks, ...replacedDrafts(context, live, event), ...others]) claim(draft);
  const rest = Array.from(live).filter((id) => !taken.has(id));
  for (const [kind, ids] of groupBy(rest, (id) => kindOf(context, id)))
    claim(plainDraft(context, kind, ids));
  return drafts;
}

function kindOf(context: AnalysisInput, id: AllocationIndex): EntryKind {
  const { classOf, copies } = context.classification;
  if (classOf[id] === MemoryClass.Parameters && copies.has(id)) return 'second-model';
  if (classOf[id] === MemoryClass.Kept && !repeats(context)) return 'activations';
  return KIND_OF_CLASS[classOf[id] as MemoryClass];
}

const plainDraft = (
  context: AnalysisInput,
  kind: EntryKind,
  ids: readonly AllocationIndex[],
): Draft => ({
  kind,
  ids,
  all: undefined,
  lines: largestLines(context, ids),
  rate: undefined,
  isGrowing: false,
});

/** One entry per function that replaces its tensors with larger ones: a cache's keys and values go together. */
function replacedDrafts(context: AnalysisInput, live: Int32Array, event: EventIndex): Draft[] {
  const { stack } = context.input.replay.allocations;
  const byFunction = groupBy(replacedAt(context, live, event), ({ id }) => {
    const line = context.input.stacks.topUserFrameView(stack[id]);
    return `${line?.filename} ${line?.name}`;
  });
  return [...byFunction.values()].map((chains) => ({
    ...plainDraft(
      context,
      'growing',
      chains.map(({ id }) => id),
    ),
    all: chains.flatMap(({ made }) => made),
    rate: growthRate(context, chains),
    replaced: {
      tensors: latestOf(chains).length,
      isOfWholeRun: isOfWholeRun(context, largestOf(context, chains)),
    },
    isGrowing: true,
  }));
}

function largestOf({ input }: AnalysisInput, chains: readonly Replaced[]): Replaced {
  const { sizeBytes } = input.replay.allocations;
  return chains.reduce((a, b) => (sizeBytes[b.id] > sizeBytes[a.id] ? b : a));
}

/** While a tensor is copied into a larger one, both are live: they are one. */
function latestOf(chains: readonly Replaced[]): Replaced[] {
  const replaced = new Set(chains.flatMap((chain) => chain.links));
  return chains.filter((chain) => !replaced.has(chain.id));
}

/** Average bytes that the tensors of a repetition have, all together, beyond those they replaced. */
function growthRate(context: AnalysisInput, chains: readonly Replaced[]): EntryRate | undefined {
  const { start, stack, sizeBytes } = context.input.replay.allocations;
  const [longest] = [...chains].sort((a, b) => b.links.length - a.links.length);
  const { id, links } = longest;
  const first = links[links.length - 1];
  const unit = unitBetween(context, stack[id], [start[first], start[id]], links.length);
  if (unit === undefined) return undefined;
  const bytes = sumBy(latestOf(chains), (chain) => {
    const oldest = chain.links[chain.links.length - 1];
    return (sizeBytes[chain.id] - sizeBytes[oldest]) / chain.links.length;
  });
  return { bytes: Math.round(bytes), steps: links.length, unit, isMean: false, varies: false };
}

/** The user's lines that hold the most bytes, largest first; none if most of the bytes are of no line, as in backward. */
function largestLines(context: AnalysisInput, ids: readonly AllocationIndex[]): FrameView[] {
  const { stack, sizeBytes } = context.input.replay.allocations;
  const sums = new Map<FrameIndex, number>();
  let rest = 0;
  for (const id of ids) {
    const line = context.input.stacks.topUserFrame(stack[id]);
    if (line === undefined) rest += sizeBytes[id];
    else addUp(sums, line, sizeBytes[id]);
  }
  if (rest > sumBy([...sums.values()], (bytes) => bytes)) return [];
  const largest = largestFirst(sums).slice(0, MAX_LINES);
  return largest.map(([line]) => context.input.stacks.frame(line));
}

/** What backward made for these tensors, which are parameters then: `model.weight.grad` stays as long as the model. */
function gradientsOf(context: AnalysisInput, draft: Draft, drafts: readonly Draft[]): Draft[] {
  if (!isKept(draft.kind) || draft.all === undefined) return [];
  const { requestedBytes } = context.input.replay.allocations;
  const { classOf } = context.classification;
  const countsOf = (ids: Ids) => {
    const counts = new Map<number, number>();
    for (const id of ids) countOne(counts, requestedBytes[id]);
    return counts;
  };
  const counts = countsOf(draft.ids);
  return drafts.filter(
    ({ kind, ids, all, lines }) =>
      isKept(kind) &&
      all !== undefined &&
      lines.length === 0 &&
      ids.every((id) => classOf[id] === MemoryClass.Gradients) &&
      [...countsOf(ids)].every(([bytes, count]) => count <= (counts.get(bytes) ?? 0)),
  );
}

function entryOf(
  context: AnalysisInput,
  { ids, all, ...draft }: Draft,
  event: EventIndex,
  gradients: readonly Draft[],
): AccountEntry {
  const { sizeBytes } = context.input.replay.allocations;
  const bytes = ids.reduce((sum, id) => sum + sizeBytes[id], 0);
  const isNotable = bytes >= NOTABLE_SHARE * context.input.replay.peaks.allocatedBytes.bytes;
  const holder = holderOf(context, ids);
  return {
    ...draft,
    // A name is proof; many call sites are only a hint.
    kind: holder !== undefined && isKept(draft.kind) ? holder.kind : draft.kind,
    bytes,
    count: ids.length,
    callers: callersAmong(context, ids, draft.lines),
    besides:
      (all === undefined && draft.kind !== 'second-model') || draft.lines[0] === undefined
        ? ''
        : othersText(lineShare(context, ids, draft.lines[0])),
    holder: holder?.text,
    without:
      all !== undefined && isNotable
        ? withoutIt(context, draft, { ids, all, event, gradients })
        : undefined,
    gradientBytes: sumBy(gradients, (own) => sumBy(own.ids, (id) => sizeBytes[id])),
    classes: otherClasses(context, draft.kind, ids),
    allocations: [...ids].sort((a, b) => sizeBytes[b] - sizeBytes[a]),
  };
}

/** Those that are on a stack with the first. */
function callersAmong(
  context: AnalysisInput,
  ids: Ids,
  [first, ...others]: readonly FrameView[],
): FrameView[] {
  if (others.length === 0) return [];
  const { stack } = context.input.replay.allocations;
  const isOnFirst = onStack(context, first);
  const stacks = [...new Set(ids.map((id) => stack[id]))].filter(isOnFirst);
  return others.filter((line) => stacks.some(onStack(context, line)));
}

interface Without {
  /** Live at the moment. */
  readonly ids: Ids;
  readonly all: Ids;
  readonly event: EventIndex;
  readonly gradients: readonly Draft[];
}

/**
 * What is kept by mistake would have been freed when its repetition was over; a tensor that grows need not exist. Those
 * that it replaced before a ring's oldest event have no stack, so they can't be left out: then undefined.
 */
function withoutIt(
  context: AnalysisInput,
  { kind }: Pick<Draft, 'kind'>,
  { ids, all, event, gradients }: Without,
): AccountEntry['without'] {
  const { input, classification } = context;
  if (!isKept(kind) && input.replay.recording === 'truncated') return undefined;
  const isOptimizer = classification.classOf[all[0]] === MemoryClass.OptimizerState;
  const inOrder = all.toSorted((a, b) => a - b);
  const endOf = isOptimizer ? startOfNextOptimizer : endOfRepetition;
  const freedAt = isKept(kind) ? endOf(context, inOrder) : () => -1;
  // A gradient goes with its parameter: when the parameters that were made before it go.
  const { start } = input.replay.allocations;
  const ends = new Map<AllocationIndex, EventIndex>();
  for (const id of gradients.flatMap((own) => own.all ?? [])) {
    const before = upperBound(inOrder, id) - 1;
    if (before >= 0 && start[id] >= 0) ends.set(id, freedAt(inOrder[before]));
  }
  const endOfAny = (id: AllocationIndex) => ends.get(id) ?? freedAt(id);
  const live = [...ids, ...gradients.flatMap((own) => own.ids.filter((id) => ends.has(id)))];
  const gone = live.filter((id) => endOfAny(id) <= event);
  return {
    peakBytes: peakWithout(input, [...all, ...ends.keys()], endOfAny),
    goneBytes: sumBy(gone, (id) => input.replay.allocations.sizeBytes[id]),
  };
}

/** A cohort also takes blocks of other classes; the legend lists those under their own class. */
function otherClasses(
  { classification, input }: AnalysisInput,
  kind: EntryKind,
  ids: readonly AllocationIndex[],
): ClassTotal[] {
  const { sizeBytes } = input.replay.allocations;
  const byClass = groupBy(ids, (id) => classification.classOf[id] as MemoryClass);
  if ([...byClass.keys()].every((own) => KIND_OF_CLASS[own] === kind)) return [];
  return [...byClass]
    .map(([own, members]) => ({
      class: own,
      bytes: members.reduce((sum, id) => sum + sizeBytes[id], 0),
      count: members.length,
    }))
    .sort((a, b) => b.bytes - a.bytes);
}

/** Free ranges next to live blocks, with what pins them; empty segments; what is free in private pools. */
function freeEntries(context: AnalysisInput, event: EventIndex): AccountEntry[] {
  const all = segmentsAt(context, event);
  const segments = all.filter(({ isPrivate }) => !isPrivate);
  const frames = pinningSites(context, segments).flatMap(
    ({ part: { stack } }) => callerOfModel(context, stack) ?? [],
  );
  const pins = [...new Set(frames)]
    .slice(0, MAX_LINES)
    .map((frame) => context.input.stacks.frame(frame));
  const entry = (kind: EntryKind, of: typeof all, lines: readonly FrameView[]): AccountEntry => ({
    kind,
    bytes: of.reduce((sum, { freeBytes }) => sum + freeBytes, 0),
    count: of.reduce((sum, { gaps }) => sum + gaps.length, 0),
    lines,
    callers: [],
    gradientBytes: 0,
    besides: '',
    holder: undefined,
    rate: undefined,
    isGrowing: false,
    without: undefined,
    classes: [],
    allocations: [],
  });
  const isPinned = ({ live }: SegmentState) => live.length > 0;
  const own = all.filter(({ isPrivate }) => isPrivate);
  return [
    entry('gaps', segments.filter(isPinned), pins),
    entry(
      'cached',
      segments.filter((one) => !isPinned(one)),
      [],
    ),
    entry('pools', own, own.length === 0 ? [] : context.once(linesOfPools)),
  ].filter(({ bytes }) => bytes > 0);
}
