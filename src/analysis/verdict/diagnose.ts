/**
 * Finds the cause in the account. First, whatever a healthy run would not have, by bytes: kept tensors, graphs that no
 * backward uses, tensors replaced by larger ones, gaps. Otherwise, whatever there is most of.
 */

import { addUp, largestFirst, sumBy } from '../../base/collections.ts';
import { knownBytes } from '../../device/model/card.ts';
import type { LedgerRow } from '../../device/model/ledger.ts';
import type { FrameView } from '../../device/model/types.ts';
import { overheadOf } from '../account/free-space.ts';
import { peakWithout } from '../account/moment.ts';
import { poolsOfGraphs } from '../account/private-pools.ts';
import {
  type Account,
  type AccountEntry,
  allocationsOf,
  type EntryKind,
  isFree,
  sumOf,
} from '../account/types.ts';
import { isSameLine, userLines } from '../findings/user-lines.ts';
import { type LargerPass, largerPass } from '../steps/forward-runs.ts';
import { waitingPasses } from '../steps/waiting-passes.ts';
import {
  type Case,
  type Diagnosis,
  DOES,
  type Failure,
  largestOf,
  ofEntry,
  peakLowerBy,
  plain,
  toldBy,
} from './case.ts';
import {
  isLasting,
  keptCandidates,
  NOTABLE_SHARE,
  pileCandidates,
  replacedCandidates,
} from './kept.ts';
import { copiesIn } from './patterns.ts';
import { peakMaker, residentData } from './peak-makers.ts';
import type { Cause } from './types.ts';

/** Share of memory in use plus the request: less kept memory than this did not fill the GPU. */
const KEPT_SHARE = 0.25;
const REPLACED_SHARE = 0.2;
const SECOND_MODEL_SHARE = 0.2;
const HUGE_REQUEST_SHARE = 0.35;
const LARGE_REQUEST_SHARE = 0.2;
const MODEL_SHARE = 0.6;

const MODEL: readonly EntryKind[] = ['parameters', 'gradients', 'optimizer-state'];
/** The model, and an average or a reference of it. */
export const isOfModels = ({ kind }: Pick<AccountEntry, 'kind'>): boolean =>
  MODEL.includes(kind) || kind === 'second-model';
const PILES: readonly Cause[] = ['kept', 'kept-graph', 'growing'];

export function diagnose(known: Case): Diagnosis {
  return known.failure === undefined ? withoutOom(known) : ofOom(known, known.failure);
}

function ofOom(known: Case, failure: Failure): Diagnosis {
  const { account } = known;
  const { judged, requestedBytes } = failure;
  const wanted = account.allocatedBytes + requestedBytes;
  const odd = [
    ...keptCandidates(known).filter(({ bytes }) => bytes >= KEPT_SHARE * wanted),
    ...replacedCandidates(known).filter(({ bytes }) => bytes >= REPLACED_SHARE * wanted),
    ...graphPools(known).filter(({ bytes }) => bytes >= KEPT_SHARE * wanted),
    ...(isOfGaps(known, judged, wanted) ? [fragmented(known)] : []),
  ].sort((a, b) => b.bytes - a.bytes);
  // A tensor that is replaced by ever larger ones causes the gaps, so it comes first.
  const replaced = odd.find(({ cause }) => cause === 'growing');
  const [largest] = odd;
  const first = largest?.cause === 'fragmentation' && replaced !== undefined ? replaced : largest;
  if (first !== undefined) return { ...first, severity: 'high' };
  return { ...dominant(known, failure, wanted), severity: 'high' };
}

/** Passes that need more each time leave gaps that the next one does not fit: then these are not what is too much. */
const isOfGaps = (known: Case, judged: Failure['judged'], wanted: number): boolean =>
  judged.cause === 'fragmented' &&
  !isStillFilling(known, wanted) &&
  largerPass(known.context, known.account.moment.event)?.risesBytes === undefined;

/** In a pass that never ended, a few gaps are not what is too much: it would have requested more. */
function isStillFilling({ account, failure }: Case, wanted: number): boolean {
  const gaps = sumOf(account, ['gaps', 'cached']);
  return failure?.unfinished?.phase === 'forward' && gaps < REPLACED_SHARE * wanted;
}

/** Whatever uses the most memory. */
function dominant(known: Case, failure: Failure, wanted: number): Diagnosis {
  const { account } = known;
  const { judged, requestedBytes, larger } = failure;
  if (judged.cause === 'other-processes' || judged.cause === 'outside-pytorch') {
    const [cause, bytes] = outsideCause(account, judged.cause);
    return plain(cause, bytes ?? requestedBytes, failure.lines, 'asked for it');
  }
  if (judged.cause === 'driver-refused')
    return plain('unknown', requestedBytes, failure.lines, 'asked for it');
  const request = {
    ...plain('request', requestedBytes, failure.lines, askedText(failure)),
    pattern: failure.pattern,
  };
  // A pass that holds more than it asks for is too large as a whole.
  const isLargest = requestedBytes >= sumOf(account, ['activations']);
  const isMany = isOneOfMany(known, requestedBytes);
  // Two of its size are one line's: a difference of all pairs, and its square.
  const isHuge = requestedBytes >= HUGE_REQUEST_SHARE * wanted;
  if (isHuge && (isLargest || (!isMany && larger === undefined))) return request;
  const second = largestOf(account, ['second-model']);
  const model = sumOf(account, MODEL);
  const models = model + (second?.bytes ?? 0);
  if (second !== undefined && second.bytes >= Math.max(SECOND_MODEL_SHARE * wanted, model))
    return ofCopies(known, second);
  if (models >= MODEL_SHARE * wanted) return ofModel(known, failure, models);
  if (second !== undefined && second.bytes >= SECOND_MODEL_SHARE * wanted)
    return ofCopies(known, second);
  if (judged.cause === 'both' && sumOf(account, ['gaps', 'cached']) >= HUGE_REQUEST_SHARE * wanted)
    return fragmented(known);
  const isAlone = failure.pattern !== undefined || (isLargest && !isMany);
  if (requestedBytes >= LARGE_REQUEST_SHARE * wanted && larger === undefined && isAlone)
    return request;
  const byKind = new Map<EntryKind, number>();
  for (const { kind, bytes } of account.entries) if (!isFree(kind)) addUp(byKind, kind, bytes);
  const [[kind] = []] = largestFirst(byKind);
  const top = kind && largestOf(account, [kind]);
  if (top === undefined) return request;
  if (MODEL.includes(top.kind)) return ofModel(known, failure, models);
  if (top.kind === 'inputs') {
    const data = residentData(known);
    if (data !== undefined) return data;
  }
  const lines = withCaller(top.lines, failure.lines);
  // What backward made has no line, so that the first is the one that asked.
  const does = top.lines.length > 0 ? 'holds most' : askedText(failure);
  const base = { ...ofEntry({ ...top, lines }, does), bytes: sumOf(account, [top.kind]) };
  if (larger?.caller !== undefined) {
    const callers = [larger.caller, ...base.lines];
    return { ...base, pattern: 'larger-batch', lines: callers, does: 'gets the larger batch' };
  }
  if (failure.pattern === 'whole-graph') return { ...base, pattern: 'whole-graph' };
  const pass =
    top.kind === 'activations' ? largerPass(known.context, account.moment.event) : undefined;
  if (pass !== undefined) return ofLargerPass(known, base, pass);
  return (top.kind === 'activations' ? waitingGraphs(known) : undefined) ?? base;
}

/** If the passes rise because each hands more to the next, the line that makes this comes first. */
function ofLargerPass({ context }: Case, base: Diagnosis, larger: LargerPass): Diagnosis {
  const { carried } = larger;
  const own = carried === undefined ? [] : userLines(context, carried.stack);
  return {
    ...base,
    ...{ pattern: 'larger-pass', larger },
    lines: withCaller(own, base.lines),
    does: carried === undefined ? base.does : 'makes what the next pass uses too',
  };
}

const askedText = ({ source }: Failure): string =>
  source === 'own' ? 'asked for it' : 'asked for it in backward';

/** Who holds what is not PyTorch's, and how much of it if that is known. */
function outsideCause(
  { card }: Account,
  judged: 'other-processes' | 'outside-pytorch',
): [Cause, number | undefined] {
  const own = (kind: LedgerRow['kind']) => knownBytes(card?.rows, kind);
  if (judged === 'other-processes') return [judged, own('others')];
  const [collectives, rest] = [own('communicator') ?? 0, own('process-rest') ?? 0];
  return collectives >= rest ? ['collectives', collectives] : ['process-rest', rest];
}

/** A layer's tensor among others as large: together they show that the batch is too large, not this one tensor. */
function isOneOfMany({ account, context }: Case, requestedBytes: number): boolean {
  const { sizeBytes } = context.input.replay.allocations;
  const ids = allocationsOf(account, ['activations', 'temporaries']);
  const alike = ids.filter((id) => sizeBytes[id] >= requestedBytes / 2);
  return sumBy(alike, (id) => sizeBytes[id]) >= 2 * requestedBytes;
}

/** The lines that hold most, then the path from the program's loop to the last request. */
function withCaller(lines: readonly FrameView[], asked: readonly FrameView[]): FrameView[] {
  return [...lines, ...asked.filter((line) => !lines.some((own) => isSameLine(own, line)))];
}

function ofModel({ context, account }: Case, failure: Failure, bytes: number): Diagnosis {
  const largest = account.entries.find(
    ({ kind, lines }) => MODEL.includes(kind) && lines.length > 0,
  );
  const { stack } = context.input.replay.allocations;
  const path = largest && userLines(context, stack[largest.allocations[0]]);
  const isFirst = failure.pattern === 'first-optimizer-step' && context.hasTrace;
  return {
    ...plain('model-state', bytes, withCaller(largest?.lines ?? [], path ?? []), 'allocates it'),
    pattern: isFirst ? 'first-optimizer-step' : undefined,
  };
}

function withoutOom(known: Case): Diagnosis {
  const kept = keptCandidates(known);
  const candidates = [
    ...kept,
    ...lastingOrWasting(known),
    ...graphPools(known),
    ...toldBy(known.findings, 'pending-free', 'segment-thrashing'),
    ...toldBy(known.findings, 'level-shift').map((one) => pileBehind(known, one)),
  ].filter(({ severity }) => severity === 'high' || severity === 'medium');
  // Piles are never returned, while the allocator releases its cache when memory runs short. Segments allocated again
  // count each time, so their bytes come last.
  const rank = ({ severity, cause }: Diagnosis) =>
    (PILES.includes(cause) ? 4 : 0) + (severity === 'high' ? 2 : 0) + (cause === 'cached' ? 0 : 1);
  candidates.sort((a, b) => rank(b) - rank(a) || b.bytes - a.bytes);
  const small = known.context.isTraining ? kept.find(isSmallLeak) : undefined;
  const [first = small ?? adviceOn(known, kept)] = candidates;
  return first ?? plain(known.context.hasTrace ? 'none' : 'unknown', 0, [], '');
}

/** Of all that is harmless, that without which the peak would be lowest. Recounts the run for each, so it comes last. */
function adviceOn(known: Case, kept: readonly Diagnosis[]): Diagnosis | undefined {
  const [most] = [
    kept.find((one) => lowersPeak(known, one)),
    waitingGraphs(known),
    idleCopies(known),
    peakMaker(known),
  ]
    .flatMap((one) => one ?? [])
    .sort((a, b) => (peakLowerBy(b) ?? b.bytes) - (peakLowerBy(a) ?? a.bytes));
  return most;
}

/** A program with a few graphs of different models needs a pool for each. */
const MANY_GRAPHS = 4;
/** Of what is reserved. */
const POOLS_SHARE = 0.25;

/** Graphs captured one by one, for each length say, where one pool would do for all. */
function graphPools({ context, account, atEnd }: Case): Diagnosis[] {
  const [own, last] = [account, atEnd].map((one) => largestOf(one, ['pools']));
  const isOfEnd = account !== atEnd && (last?.bytes ?? 0) > (own?.bytes ?? 0);
  const [entry, { event }, all] = isOfEnd
    ? [last, atEnd.moment, atEnd.reservedBytes]
    : [own, account.moment, account.reservedBytes];
  if (entry === undefined || entry.bytes < POOLS_SHARE * all || context.isServerAt(event))
    return [];
  if (poolsOfGraphs(context).count < MANY_GRAPHS) return [];
  return [{ ...ofEntry(entry, 'captures them'), isOfEnd, severity: 'medium' }];
}

/** How much a pile may differ from the step that it explains. */
const SAME_SHARE = 0.1;

/** If what is kept is as large as the rise of each step, it is the rise: graphs of an evaluation, say, that live on. */
function pileBehind({ account }: Case, stepped: Diagnosis): Diagnosis {
  const pile = account.entries.find(
    ({ kind, bytes }) =>
      PILES.includes(kind) && Math.abs(bytes - stepped.bytes) <= SAME_SHARE * stepped.bytes,
  );
  if (pile === undefined) return stepped;
  return { ...ofEntry(pile, 'allocates it'), severity: stepped.severity };
}

/** An average or a reference has the size of the model; more than that are copies that the program forgot. */
const MANY_COPIES = 1.5;

const ofCopies = ({ context, account }: Case, copies: AccountEntry): Diagnosis => ({
  ...ofEntry(copies, 'allocates it'),
  pattern: copiesIn(context, account) > 1 ? 'kept-copies' : undefined,
});

function idleCopies(known: Case): Diagnosis | undefined {
  const { account } = known;
  const copies = largestOf(account, ['second-model']);
  if (copies === undefined) return undefined;
  const isLarge = copies.bytes >= SECOND_MODEL_SHARE * account.allocatedBytes;
  const areMany = copies.bytes >= MANY_COPIES * sumOf(account, ['parameters']);
  return isLarge && areMany ? { ...ofCopies(known, copies), severity: 'low' } : undefined;
}

/** A leak too small to matter is still named if it is certain. */
const isSmallLeak = ({ finding }: Diagnosis): boolean =>
  finding?.detector === 'growth' && finding.severity !== 'low';

/** Losses of several batches that are summed before one backward; or what a backward in between left, if memory ran out. */
function waitingGraphs({ context, account, failure }: Case): Diagnosis | undefined {
  const waiting = waitingPasses(context, account);
  // Second-order training needs its graphs as long as they fit.
  if (waiting === undefined || (waiting.hadBackward && failure === undefined)) return undefined;
  const { bytes, savedBytes, hadBackward, tensors, ends } = waiting;
  const elsewhere = () =>
    account.allocatedBytes - peakWithout(context.input, ends.keys(), (id) => ends.get(id) ?? -1);
  const lines = withCaller(waiting.lines, failure?.lines ?? []);
  const does = DOES['called by'];
  return {
    ...plain('activations', bytes, lines, does),
    pattern: hadBackward ? 'retained-graph' : 'waiting-graphs',
    severity: 'low',
    ...{ waiting, tensors },
    lowersPeakBytes: failure === undefined ? Math.min(savedBytes, elsewhere()) : savedBytes,
  };
}

/** Graphs that are dropped one by one set the peak: no fault while one of them fits, but worth mentioning. */
const lowersPeak = ({ context }: Case, diagnosis: Diagnosis): boolean =>
  (peakLowerBy(diagnosis) ?? 0) >= NOTABLE_SHARE * context.input.replay.peaks.allocatedBytes.bytes;

/** What is replaced by ever larger tensors, or piles up, causes the gaps: if both are there, name the tensors. */
function lastingOrWasting(known: Case): Diagnosis[] {
  const finding = known.findings.find(({ kind }) => kind === 'reserved-unused');
  const minBytes = REPLACED_SHARE * known.account.allocatedBytes;
  const isLarge = ({ bytes }: Diagnosis) => bytes >= minBytes;
  const replaced = replacedCandidates(known).filter(isLarge);
  const { severity } = overheadOf(known.context, 0);
  if (finding !== undefined && severity !== 'none' && severity !== 'low') {
    // Blocks of one size that pin the gaps don't explain them: with other neighbors they would not.
    const piles = finding.frameIs === 'pinned by' ? [] : pileCandidates(known).filter(isLarge);
    const causes = [...replaced, ...piles];
    if (causes.length > 0) return causes.map((one) => ({ ...one, severity }));
  }
  const gaps = finding === undefined ? [] : [{ ...fragmented(known), severity: finding.severity }];
  return [...replaced.filter((one) => isLasting(known, one)), ...gaps];
}

function fragmented({ account, context, findings, failure }: Case): Diagnosis {
  const finding = findings.find(({ kind }) => kind === 'reserved-unused');
  const gaps = sumOf(account, ['gaps', 'cached']);
  const bytes = failure === undefined ? overheadOf(context, 0).bytes : gaps;
  const own = largestOf(account, ['gaps'])?.lines ?? [];
  const pins = finding === undefined || finding.userLines.length === 0 ? own : finding.userLines;
  const lines = failure === undefined ? pins : withCaller(pins, failure.lines);
  const isPinned = finding?.frameIs === 'pinned by' || finding === undefined;
  const does = isPinned ? 'pins memory' : 'asks for many sizes';
  return { ...plain('fragmentation', bytes, lines, does), finding };
}
