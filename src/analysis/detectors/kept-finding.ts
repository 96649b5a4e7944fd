/** A cohort of kept tensors as a finding: what the growth check saw of it step by step, and what the account knows of it. */

import { type AllocationIndex, NEVER } from '../../allocator/replay/types.ts';
import { lowerBound } from '../../base/binary-search.ts';
import { sumBy } from '../../base/collections.ts';
import { highest, lowest } from '../../base/extremes.ts';
import { formatBytes, formatCount, formatPercent, plural } from '../../base/format.ts';
import { MemoryClass } from '../../device/classes/types.ts';
import type { FrameView } from '../../device/model/types.ts';
import type { EventIndex, StackIndex } from '../../format/snapshot/tables.ts';
import { accountsOf } from '../account/account.ts';
import { mergedLeaks } from '../account/cohorts.ts';
import { keptInRun } from '../account/kept-entries.ts';
import { lineShare, onStack, othersText } from '../account/line-share.ts';
import { linesFrom, placesOf } from '../account/places.ts';
import { type AccountEntry, moreText } from '../account/types.ts';
import type { AnalysisInput } from '../findings/analysis-input.ts';
import { findingOf, stepSeries, sumBySite } from '../findings/finding-parts.ts';
import type { AnyFinding, Fact } from '../findings/types.ts';
import { userLines } from '../findings/user-lines.ts';
import { passesAmong } from '../steps/forward-runs.ts';
import { patternOfKept } from '../verdict/patterns.ts';
import { adviceFor } from '../verdict/remedy-ideas.ts';
import { otherLines, type Pattern } from '../verdict/types.ts';
import type { GrowthKind } from './growth-groups.ts';
import { beginOf, type GrowthLaw, isMean, isUneven, type Leak } from './growth-leaks.ts';
import { unusedGraphs } from './no-grad.ts';

/** A leak with its account entry, or a cohort that only the account knows. */
export interface Cohort {
  /** The largest first; empty if its growth was not seen step by step. */
  readonly leaks: readonly Leak[];
  readonly entry: AccountEntry | undefined;
}

/** Share of the peak: from here on, a cohort that is no leak is worth a finding. */
const NOTABLE_SHARE = 0.05;

/** Less from a few steps may be anything, such as what a graph beside it saved outside the model. */
const MIN_UNSURE_BYTES = 2 ** 20;

/** All leaks, and the large cohorts beside them: whatever the verdict may name has its finding. */
export function cohortsToTell(context: AnalysisInput): Cohort[] {
  const kept = context.once(keptInRun).map(({ entry }) => entry);
  const { entries } = accountsOf(context).atEnd;
  const least = NOTABLE_SHARE * context.input.replay.peaks.allocatedBytes.bytes;
  const told = new Set<AccountEntry>();
  const leaking = context.once(mergedLeaks).flatMap((leaks): Cohort[] => {
    const own = new Set(keptBy(leaks));
    const isTiny = bytesOf(context, own) < Math.min(MIN_UNSURE_BYTES, least);
    if (isTiny && !leaks.some(({ isSure }) => isSure)) return [];
    const isSame = (entry: AccountEntry) => entry.allocations.some((id) => own.has(id));
    const isMore = ({ bytes }: AccountEntry) => bytes > bytesOf(context, own);
    const entry = kept.find(isSame) ?? entries.find((one) => isMore(one) && isSame(one));
    // Another leak is of the same cohort, and its finding has all of it.
    if (entry !== undefined && told.has(entry)) return [];
    if (entry !== undefined) told.add(entry);
    return [{ leaks, entry }];
  });
  const others = kept.filter((entry) => !told.has(entry) && entry.bytes >= least);
  return [...leaking, ...others.map((entry): Cohort => ({ leaks: [], entry }))];
}

const keptBy = (leaks: readonly Leak[]): AllocationIndex[] =>
  leaks.flatMap(({ group }) => group.sites.flatMap(({ kept }) => kept));

const bytesOf = ({ input }: AnalysisInput, ids: Iterable<AllocationIndex>): number =>
  sumBy(ids, (id) => input.replay.allocations.sizeBytes[id]);

export function keptFinding(
  context: AnalysisInput,
  cohort: Cohort,
): AnyFinding<'growth', GrowthKind> {
  const { leaks, entry } = cohort;
  const [leak] = leaks;
  const { classifier, input } = context;
  const { sizeBytes, start, freeRequested } = input.replay.allocations;
  // The account knows more from the same statements: one cohort has one figure.
  const ids = entry?.allocations ?? keptBy(leaks);
  const bytes = bytesOf(context, ids);
  const liveBytes = sumBy(ids, (id) => (freeRequested[id] === NEVER ? sizeBytes[id] : 0));
  const kind = kindOf(context, leak, entry);
  const pattern = patternOf(context, kind, leak, entry);
  const lines = linesOf(context, leak, entry);
  const stack = stackOf(context, leak, ids, lines[0]);
  const frameIs = leak?.lead.frameIs ?? 'allocated at';
  const isMaker = frameIs === 'allocated at' && lines.length > 0;
  // The count is exact, so is what it counts.
  const besides = isMaker ? othersText(lineShare(context, ids, lines[0]), 1) : '';
  const bounds = (leak?.sequence ?? context.stepSequences[0])?.bounds;
  return findingOf(context, {
    detector: 'growth',
    kind,
    severity: severityOf(leaks),
    bytes,
    stack,
    frameIs,
    lines,
    claim: (where) =>
      `${formatBytes(bytes)} in ${plural(ids.length, 'tensor')}${oldText(context, ids)} from ${kind === 'kept-gradients' ? 'the backward pass, which has no Python stack,' : `${where}${besides}`} is kept, ${rateText(leaks, entry)}and ${leftText(liveBytes, bytes)}.${lawSentence(context, cohort, ids)}`,
    ...(leak !== undefined && { perStep: perStepOf(leaks, entry), law: leak.law.kind }),
    pattern,
    events: {
      first: lowest(ids.map((id) => start[id])),
      last: bounds?.at(-1) ?? input.trace.events.length - 1,
    },
    sites: sumBySite(context, ids),
    shown: Number.POSITIVE_INFINITY,
    note: ({ stack: own }) => {
      if (classifier.isBackward(own)) return 'allocated in backward: no line of Python';
      return classifier.isForward(own) ? 'made in forward' : 'made outside the model';
    },
    facts: factsOf(context, { leaks, entry }, ids, liveBytes),
    ids,
    series: bounds && stepSeries('bytes kept', bounds, liveAtBounds(context, bounds, ids)),
    advice: adviceFor(kind === 'kept-graph' ? 'kept-graph' : 'kept', pattern),
    disproof:
      'If the program frees these later (at the end of an epoch, when a cache is full), a longer recording shows the fall, and it is no leak.',
  });
}

/** ' (21 of them from before the oldest recorded event)': no repetition counts these. */
function oldText({ input }: AnalysisInput, ids: readonly AllocationIndex[]): string {
  const { start } = input.replay.allocations;
  const old = ids.filter((id) => start[id] < 0).length;
  if (old === 0) return '';
  const count = old === ids.length ? '' : `${formatCount(old)} of them `;
  return ` (${count}from before the oldest recorded event)`;
}

/** The lines of the account and the verdict: those that lead to the first, without others that keep something too. */
function linesOf(context: AnalysisInput, leak: Leak | undefined, entry: AccountEntry | undefined) {
  if (entry !== undefined && entry.lines.length > 0) {
    const { callers } = otherLines(entry.kind, entry.lines);
    return [entry.lines[0], ...callers];
  }
  const { stacks } = context.input;
  if (leak === undefined) return [];
  const { frame, stack } = leak.lead;
  const first = frame ?? stacks.topUserFrame(stack);
  return linesFrom(
    first === undefined ? [] : [stacks.frame(first)],
    userLines(context, stack, frame),
  );
}

/** Its stack must have the line that it names: that of the leak or, if it lacks the line, the heaviest one that has it. */
function stackOf(
  context: AnalysisInput,
  leak: Leak | undefined,
  ids: readonly AllocationIndex[],
  line: FrameView | undefined,
): StackIndex {
  const { stack: stacks } = context.input.replay.allocations;
  const places = context.once(placesOf);
  const own = leak?.lead.stack ?? places.heaviest(ids);
  if (line === undefined) return own;
  const hasLine = onStack(context, line);
  const under = hasLine(own) ? [] : ids.filter((id) => hasLine(stacks[id]));
  return under.length === 0 ? own : places.heaviest(under);
}

function kindOf(
  { classification }: AnalysisInput,
  leak: Leak | undefined,
  entry: AccountEntry | undefined,
): GrowthKind {
  if (entry?.kind === 'kept-graph') return 'kept-graph';
  if (leak !== undefined) return leak.group.kind;
  const [largest] = entry?.allocations ?? [];
  const isOptimizer = classification.classOf[largest] === MemoryClass.OptimizerState;
  return isOptimizer ? 'kept-optimizer' : 'kept-tensor';
}

/** What keeps the memory, judged by the code on the stack and by how it grows. */
function patternOf(
  context: AnalysisInput,
  kind: GrowthKind,
  leak: Leak | undefined,
  entry: AccountEntry | undefined,
): Pattern | undefined {
  if (leak?.law.kind === 'by-key') return 'unbounded-cache';
  if (leak?.lead.frameIs === 'kept by backward at') return 'created-graph';
  if (kind === 'kept-hook') return 'kept-by-hook';
  if (kind === 'kept-optimizer')
    return entry === undefined ? 'kept-optimizers' : patternOfKept(context, entry);
  if (kind === 'kept-scalar') return 'kept-numbers';
  if (entry === undefined) return undefined;
  if (kind === 'kept-graph' && isUnusedGraph(context, entry)) return 'evaluation-without-no-grad';
  if (kind === 'kept-graph' && isRetained(context, entry)) return 'retained-graph';
  return patternOfKept(context, entry);
}

/**
 * Whether passes of one call whose graphs no backward used made most of it, and the program does not collect their
 * outputs: if it does, detaching those is enough.
 */
function isUnusedGraph(context: AnalysisInput, { allocations, bytes }: AccountEntry): boolean {
  const own = new Set(allocations);
  return context.once(unusedGraphs).some(({ ids, runs }) => {
    const shared = ids.filter((id) => own.has(id));
    const collected = runs.filter(({ output }) => own.has(output));
    return bytesOf(context, shared) > bytes / 2 && collected.length <= runs.length / 2;
  });
}

/**
 * Backward frees what the forward pass saved for it, unless it was called with retain_graph=True (or create_graph=True):
 * whether most passes behind it stayed although their own backward ran, before any other forward pass.
 */
function isRetained(context: AnalysisInput, { allocations }: AccountEntry): boolean {
  const { freeRequested } = context.input.replay.allocations;
  const passes = passesAmong(context, allocations);
  const retained = passes.filter(
    ({ kept, ownBackward }) =>
      ownBackward !== undefined &&
      kept.filter((id) => freeRequested[id] > ownBackward).length > kept.length / 2,
  );
  return retained.length >= MIN_RETAINED && retained.length > passes.length / 2;
}
const MIN_RETAINED = 2;

function severityOf(leaks: readonly Leak[]) {
  if (leaks.length === 0) return 'medium';
  if (!leaks.some(({ isSure }) => isSure)) return 'low';
  return leaks.some(({ isCostly }) => isCostly) ? 'high' : 'medium';
}

const perStepOf = (leaks: readonly Leak[], entry: AccountEntry | undefined) => {
  const [{ perStep }] = leaks;
  const bytes = sumBy(leaks, (leak) => leak.perStep.bytes);
  const isSameUnit = entry?.rate?.unit === perStep.unit;
  return {
    ...perStep,
    bytes: isSameUnit ? (entry?.rate?.bytes ?? bytes) : bytes,
    count: sumBy(leaks, (leak) => leak.perStep.count),
  };
};

/** 'on average 97.58 MiB more each iteration in evaluate, ', or '' if no rate is known. */
function rateText(leaks: readonly Leak[], entry: AccountEntry | undefined): string {
  if (entry?.rate !== undefined) return `${moreText(entry.rate)}, `;
  if (leaks.length === 0) return '';
  const { bytes, steps, unit } = perStepOf(leaks, entry);
  const rate = { bytes: Math.round(bytes), steps, unit, isMean: isMean(leaks[0].law) };
  return `${moreText({ ...rate, varies: false })}, `;
}

/** What an error or the end of a function gives back after the last step was not kept for good. */
const leftText = (liveBytes: number, bytes: number): string =>
  liveBytes === bytes
    ? 'all of it is still there at the end'
    : `${liveBytes === 0 ? 'none' : formatBytes(liveBytes)} of it was still live at the end`;

function lawSentence(
  context: AnalysisInput,
  { leaks: [leak], entry }: Cohort,
  ids: readonly AllocationIndex[],
): string {
  // Its rate says it.
  if (entry?.rate?.bursts !== undefined) return '';
  if (leak !== undefined) return ` It grows ${lawText(context, leak.law, ids)}.`;
  const { input } = context;
  const starts = ids.map((id) => input.replay.allocations.start[id]);
  const [first, last] = [lowest(starts), highest(starts)];
  const isOver = input.trace.events.length - last > last - first;
  return entry?.isGrowing || !isOver ? '' : ' Nothing more was added to it in what is recorded.';
}

function factsOf(
  context: AnalysisInput,
  { leaks: [leak] }: Cohort,
  ids: readonly AllocationIndex[],
  liveBytes: number,
): Fact[] {
  const { requestedBytes, start } = context.input.replay.allocations;
  const bytes = bytesOf(context, ids);
  const sequence = leak?.sequence ?? context.stepSequences.at(0);
  const madeAt = leak?.lead.madeAt;
  const isOld = ids.some((id) => start[id] < 0);
  return [
    ...(madeAt === undefined ? [] : [{ label: 'allocated at', text: madeAt }]),
    ...(sequence === undefined ? [] : [{ label: 'steps are', text: sequence.description }]),
    ...(isOld
      ? [{ label: 'began', text: 'before the oldest recorded event' }]
      : leak === undefined
        ? []
        : [{ label: 'began at', text: numbered(leak.perStep.unit, beginOf(leak.group.sites)) }]),
    { label: liveBytes === bytes ? 'kept by the end' : 'kept at its highest', bytes },
    {
      label: 'of the peak of allocated memory',
      text: formatPercent(bytes / context.input.replay.peaks.allocatedBytes.bytes),
    },
    ...(leak === undefined
      ? []
      : [{ label: 'how it grows', text: lawText(context, leak.law, ids) }]),
    { label: 'requested, before rounding', bytes: sumBy(ids, (id) => requestedBytes[id]) },
  ];
}

/** 'iteration 7 in get_returns' */
function numbered(unit: string, n: number): string {
  const [noun = unit] = unit.split(' ');
  return `${noun} ${formatCount(n)}${unit.slice(noun.length)}`;
}

/** What of these allocations is live after each bound, the last of which also counts what came after it. */
export function liveAtBounds(
  { input }: AnalysisInput,
  bounds: ArrayLike<EventIndex>,
  ids: Iterable<AllocationIndex>,
): Float64Array {
  const { start, freeRequested, sizeBytes } = input.replay.allocations;
  // By step the change, then the total.
  const bytes = new Float64Array(bounds.length);
  for (const id of ids) {
    const made = Math.min(lowerBound(bounds, start[id]), bounds.length - 1);
    const freed = lowerBound(bounds, freeRequested[id]);
    if (made === freed) continue;
    bytes[made] += sizeBytes[id];
    if (freed < bounds.length) bytes[freed] -= sizeBytes[id];
  }
  for (let i = 1; i < bytes.length; i++) bytes[i] += bytes[i - 1];
  return bytes;
}

/** How many times the smallest piece the largest is: then they are not about the same. */
const VERY_UNEVEN = 4;

/**
 * 'by about the same each time'.
 * @param ids of the whole cohort: its other lines may keep larger pieces
 */
function lawText(
  { input }: AnalysisInput,
  law: GrowthLaw,
  ids: readonly AllocationIndex[],
): string {
  const { kind, keptBytes } = law;
  const pieceBytes = ids.map((id) => input.replay.allocations.sizeBytes[id]);
  const pieces = [lowest(pieceBytes), highest(pieceBytes)] as const;
  const sizes = new Set(pieceBytes).size;
  const [least, most] = pieces.map(formatBytes);
  const range = least === most ? least : `${least} to ${most}`;
  switch (kind) {
    case 'growing':
      return `by more each time: ${formatBytes(keptBytes[0])} at first, ${formatBytes(keptBytes[keptBytes.length - 1])} at last`;
    case 'by-key':
      return `by one piece for each new key, as a cache without a limit does: ${plural(sizes, 'size')}, ${range}`;
    case 'in-bursts':
      return 'in some steps, and not in the others';
    case 'flat':
      if (!isUneven(law)) return 'by about the same each time';
      return pieces[1] >= VERY_UNEVEN * pieces[0]
        ? `by pieces of ${range}, on average as much late as early`
        : `by about the same each time on average, in pieces of ${range}`;
  }
}
