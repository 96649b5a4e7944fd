/**
 * Finds the cause in the account. First, whatever a healthy run would not have, by bytes: kept tensors, graphs that no
 * backward uses, tensors replaced by larger ones, gaps. Otherwise, whatever there is most of.
 */

import { NEVER } from '../../allocator/replay/types.ts';
import { sumBy } from '../../base/collections.ts';
import { MemoryClass } from '../../device/classes/types.ts';
import { reservedOverhead } from '../../device/model/main-device.ts';
import type { FrameView } from '../../device/model/types.ts';
import type { EventIndex } from '../../format/snapshot/tables.ts';
import { accountAt, accountAtEnd, mainAccount } from '../account/account.ts';
import { fatalOom, judgeOomAt, seenOoms } from '../account/moment.ts';
import type { Account, AccountEntry, EntryKind } from '../account/types.ts';
import { SURE_STEPS } from '../detectors/growth-finding.ts';
import { type LargerRequest, largerRequest, requestOrigin } from '../detectors/oom-request.ts';
import type { AnalysisInput } from '../findings/analysis-input.ts';
import type { DetectorId, Finding } from '../findings/detectors.ts';
import type { OomVerdict } from '../findings/oom-verdict.ts';
import type { LineRole, Severity } from '../findings/types.ts';
import { userLines } from '../findings/user-lines.ts';
import { patternOfKept, patternOfReplaced, patternOfRequest } from './patterns.ts';
import type { Cause, Pattern } from './types.ts';

export interface Diagnosis {
  readonly cause: Cause;
  readonly pattern: Pattern | undefined;
  readonly severity: Severity | 'none';
  readonly bytes: number;
  /** The account entry, if a single one is the cause. */
  readonly entry: AccountEntry | undefined;
  /** Whether `bytes` are from the end of the run, where far more had accumulated than at the peak. */
  readonly isOfEnd: boolean;
  readonly lines: readonly FrameView[];
  readonly does: string;
  /** The finding with more details. */
  readonly finding: Finding | undefined;
}

export interface Failure {
  readonly requestedBytes: number;
  /** How many times the program caught such an error and continued; 0 if it ended the program. */
  readonly timesCaught: number;
  readonly judged: OomVerdict;
  /** The lines that requested it, the innermost first. */
  readonly lines: readonly FrameView[];
  readonly larger: LargerRequest | undefined;
  readonly pattern: Pattern | undefined;
}

export interface Case {
  readonly context: AnalysisInput;
  readonly account: Account;
  /** The account at the end; the same object as `account` if that is the moment. */
  readonly atEnd: Account;
  readonly findings: readonly Finding[];
  readonly failure: Failure | undefined;
}

/** Share of memory in use plus the request: less kept memory than this did not fill the GPU. */
const KEPT_SHARE = 0.25;
const REPLACED_SHARE = 0.2;
const SECOND_MODEL_SHARE = 0.2;
const HUGE_REQUEST_SHARE = 0.35;
const LARGE_REQUEST_SHARE = 0.2;
const MODEL_SHARE = 0.6;
/** Share of the peak, without an OOM. Smaller leaks are named only if their growth is certain. */
const NOTABLE_SHARE = 0.05;
const LEFT_SHARE = 0.01;
const HIGH_SHARE = 0.25;
/** If this many more repetitions would add half the peak or more, the leak is severe. */
const FAR_STEPS = 1000;

const MODEL: readonly EntryKind[] = ['parameters', 'gradients', 'optimizer-state'];
const KEPT: readonly EntryKind[] = ['kept', 'kept-graph'];
const UNUSED: readonly Cause[] = ['cached', 'fragmentation'];

export function caseOf(context: AnalysisInput, findings: readonly Finding[]): Case {
  const account = mainAccount(context);
  const atEnd = account.moment.why === 'peak' ? accountAtEnd(context) : account;
  const event = fatalOom(context);
  const failure = event === undefined ? undefined : failureAt(context, event, 0);
  return { context, account, atEnd, findings, failure };
}

/** The last OOM that the program caught, for programs without another problem; undefined if there was none. */
export function caseOfCaught(known: Case): Case | undefined {
  const { context } = known;
  const ooms = seenOoms(context);
  const event = ooms.at(-1);
  if (event === undefined) return undefined;
  const account = accountAt(context, event, 'oom');
  return { ...known, account, failure: failureAt(context, event, ooms.length) };
}

function failureAt(context: AnalysisInput, event: EventIndex, timesCaught: number): Failure {
  const requestedBytes = context.input.trace.events.sizeBytes[event];
  const { stack } = requestOrigin(context, event);
  return {
    requestedBytes,
    timesCaught,
    judged: judgeOomAt(context, event),
    lines: userLines(context, stack),
    larger: largerRequest(context, stack, event, requestedBytes),
    pattern: patternOfRequest(context, event, stack),
  };
}

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
    ...(judged.cause === 'fragmented' ? [fragmented(known)] : []),
  ].sort((a, b) => b.bytes - a.bytes);
  // A tensor that is replaced by ever larger ones causes the gaps, so it comes first.
  const replaced = odd.find(({ cause }) => cause === 'growing');
  const [largest] = odd;
  const first = largest?.cause === 'fragmentation' && replaced !== undefined ? replaced : largest;
  if (first !== undefined) return { ...first, severity: 'high' };
  return { ...dominant(known, failure, wanted), severity: 'high' };
}

/** Whatever uses the most memory. */
function dominant(known: Case, failure: Failure, wanted: number): Diagnosis {
  const { account } = known;
  const { judged, requestedBytes, larger } = failure;
  if (judged.cause === 'others-on-the-card')
    return plain('other-processes', requestedBytes, failure.lines, 'asked for it');
  if (judged.cause === 'driver-refused')
    return plain('unknown', requestedBytes, failure.lines, 'asked for it');
  const request = {
    ...plain('request', requestedBytes, failure.lines, 'asked for it'),
    pattern: failure.pattern,
  };
  if (requestedBytes >= HUGE_REQUEST_SHARE * wanted) return request;
  const second = largestOf(account, ['second-model']);
  if (second !== undefined && second.bytes >= SECOND_MODEL_SHARE * wanted)
    return ofEntry(second, 'allocates it');
  const model = sumOf(account, MODEL);
  if (model >= MODEL_SHARE * wanted) return ofModel(known, failure, model);
  if (judged.cause === 'both' && sumOf(account, ['gaps', 'cached']) >= HUGE_REQUEST_SHARE * wanted)
    return fragmented(known);
  const isAlone = failure.pattern !== undefined || !isOneOfMany(known, requestedBytes);
  if (requestedBytes >= LARGE_REQUEST_SHARE * wanted && larger === undefined && isAlone)
    return request;
  const entries = account.entries.filter(({ kind }) => kind !== 'gaps' && kind !== 'cached');
  const byKind = new Map<EntryKind, number>();
  for (const { kind, bytes } of entries) byKind.set(kind, (byKind.get(kind) ?? 0) + bytes);
  const [kind] = [...byKind].reduce((a, b) => (b[1] > a[1] ? b : a), ['unknown', 0]);
  const top = largestOf(account, [kind as EntryKind]);
  if (top === undefined) return request;
  if (MODEL.includes(top.kind)) return ofModel(known, failure, model);
  const lines = withCaller(top.lines, failure.lines);
  const base = { ...ofEntry({ ...top, lines }, 'holds most'), bytes: sumOf(account, [top.kind]) };
  if (larger?.caller !== undefined) {
    const callers = [larger.caller, ...base.lines];
    return { ...base, pattern: 'larger-batch', lines: callers, does: 'gets the larger batch' };
  }
  return { ...base, pattern: failure.pattern === 'whole-graph' ? 'whole-graph' : undefined };
}

/** A layer's tensor among others as large: together they show that the batch is too large, not this one tensor. */
function isOneOfMany({ account, context }: Case, requestedBytes: number): boolean {
  const { sizeBytes } = context.input.replay.allocations;
  const ids = account.entries.flatMap(({ kind, allocations }) =>
    kind === 'activations' || kind === 'temporaries' ? allocations : [],
  );
  const alike = ids.filter((id) => sizeBytes[id] >= requestedBytes / 2);
  return sumBy(alike, (id) => sizeBytes[id]) >= 2 * requestedBytes;
}

/** The lines that hold most, then the path from the program's loop to the last request. */
function withCaller(lines: readonly FrameView[], asked: readonly FrameView[]): FrameView[] {
  return [...lines, ...asked.filter((line) => !lines.some((own) => isSameLine(own, line)))];
}

function ofModel({ context, account }: Case, failure: Failure, bytes: number): Diagnosis {
  const [largest] = account.entries.filter(
    ({ kind, lines }) => MODEL.includes(kind) && lines.length > 0,
  );
  const isFirst = failure.pattern === 'first-optimizer-step' && context.hasTrace;
  return {
    ...plain('model-state', bytes, largest?.lines ?? [], 'allocates it'),
    pattern: isFirst ? 'first-optimizer-step' : undefined,
  };
}

function withoutOom(known: Case): Diagnosis {
  const kept = keptCandidates(known);
  const candidates = [
    ...kept,
    ...lastingOrWasting(known),
    ...toldBy(known.findings, 'pending-free', 'segment-thrashing', 'level-shift'),
  ].filter(({ severity }) => severity === 'high' || severity === 'medium');
  // The allocator gives back what it caches when memory runs short, so memory in use comes first.
  const rank = ({ severity, cause }: Diagnosis) =>
    (UNUSED.includes(cause) ? 0 : 2) +
    (severity === 'high' ? 1 : 0) +
    (cause === 'cached' ? -2 : 0);
  candidates.sort((a, b) => rank(b) - rank(a) || b.bytes - a.bytes);
  const small = known.context.isTraining ? kept.find(isSmallLeak) : undefined;
  const [first = small ?? kept.find((one) => lowersPeak(known, one))] = candidates;
  return first ?? plain(known.context.hasTrace ? 'none' : 'unknown', 0, [], '');
}

/** A leak too small to matter is still named if it is certain. */
const isSmallLeak = ({ finding }: Diagnosis): boolean =>
  finding?.detector === 'growth' && finding.severity !== 'low';

/** Harmless, but fixing it would lower the peak. */
export const isOnlyAdvice = ({ pattern, severity }: Pick<Diagnosis, 'pattern' | 'severity'>) =>
  pattern === 'evaluation-without-no-grad' && severity === 'low';

/** Graphs that are dropped one by one set the peak: no fault while one of them fits, but worth mentioning. */
const lowersPeak = ({ context }: Case, { finding }: Diagnosis): boolean =>
  (finding?.lowersPeakBytes ?? 0) >=
  NOTABLE_SHARE * context.input.replay.peaks.allocatedBytes.bytes;

/** Cohorts that are still growing, and graphs that no backward uses. */
function keptCandidates(known: Case): Diagnosis[] {
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

/**
 * Without growth too, memory of many steps that fills a large part of the peak is a fault: no healthy program needs such
 * graphs, and what it keeps by design it bounds, so that the oldest goes as the newest comes.
 */
function isHoard({ context, failure }: Case, { kind, bytes, allocations }: AccountEntry): boolean {
  const { stack, freeRequested } = context.input.replay.allocations;
  const { classOf } = context.classification;
  if (bytes < HIGH_SHARE * context.input.replay.peaks.allocatedBytes.bytes) return false;
  if (kind === 'kept-graph') return true;
  // What is full by then did not run out.
  if (failure !== undefined) return false;
  const sites = new Set(allocations.map((id) => stack[id]));
  return stack.every(
    (site, id) =>
      classOf[id] !== MemoryClass.Kept || !sites.has(site) || freeRequested[id] === NEVER,
  );
}

/** Cohorts that are still growing, each at the moment when it is larger: the peak or the end. */
function growingEntries(known: Case) {
  const { account, atEnd } = known;
  const of = ({ entries }: Account) =>
    entries.filter(
      (entry) => KEPT.includes(entry.kind) && (entry.isGrowing || isHoard(known, entry)),
    );
  const atPeak = of(account);
  const later = account === atEnd ? [] : of(atEnd);
  const before = (entry: AccountEntry) =>
    atPeak.find(({ lines }) => isSamePlace(lines, entry.lines));
  const isMore = (entry: AccountEntry) => entry.bytes > (before(entry)?.bytes ?? 0);
  const more = later.filter(isMore);
  const kept = atPeak.filter((entry) => !more.some(({ lines }) => isSamePlace(lines, entry.lines)));
  return [
    ...kept.map((entry) => ({ entry, isOfEnd: false })),
    ...more.map((entry) => ({ entry, isOfEnd: true })),
  ];
}

const isSamePlace = ([a]: readonly FrameView[], [b]: readonly FrameView[]): boolean =>
  (a === undefined && b === undefined) || isSameLine(a, b);

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

function replacedCandidates({ account, context, findings }: Case): Diagnosis[] {
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

/**
 * A tensor that is replaced by ever larger ones causes the gaps: if both are there, name the tensor. So does what piles
 * up, even if it is dropped in the end: what is computed from all of it has another size in each repetition.
 */
function lastingOrWasting(known: Case): Diagnosis[] {
  const finding = known.findings.find(({ kind }) => kind === 'reserved-unused');
  const gaps = finding === undefined ? [] : [{ ...fragmented(known), severity: finding.severity }];
  const minBytes = REPLACED_SHARE * known.account.allocatedBytes;
  const replaced = replacedCandidates(known).filter(({ bytes }) => bytes >= minBytes);
  const piles = known.account.entries
    .filter(
      ({ kind, bytes, rate }) => KEPT.includes(kind) && bytes >= minBytes && rate !== undefined,
    )
    .filter(({ rate }) => (rate?.steps ?? 0) >= SURE_STEPS)
    .map((entry) => ofEntry(entry, 'allocates it'));
  const { severity } = reservedOverhead(known.context.input.replay.peaks, 0);
  const isWasting = finding !== undefined && severity !== 'none' && severity !== 'low';
  const causes = [...replaced, ...piles];
  if (isWasting && causes.length > 0) return causes.map((one) => ({ ...one, severity }));
  return [...replaced.filter((one) => isLasting(known, one)), ...gaps];
}

/** What is given back now and then, such as each generation's cache, is harmless. */
function isLasting({ context }: Case, { entry }: Diagnosis): boolean {
  if (entry === undefined) return false;
  const { freeRequested, length, start, stack, sizeBytes } = context.input.replay.allocations;
  const [largest] = entry.allocations;
  if (freeRequested[largest] <= start[length - 1]) return false;
  let highest = 0;
  for (let id = 0; id < length; id++) {
    if (stack[id] !== stack[largest]) continue;
    if (sizeBytes[id] < highest / 2) return false;
    highest = Math.max(highest, sizeBytes[id]);
  }
  return true;
}

function fragmented({ account, context, findings, failure }: Case): Diagnosis {
  const finding = findings.find(({ kind }) => kind === 'reserved-unused');
  const gaps = sumOf(account, ['gaps', 'cached']);
  const bytes =
    failure === undefined ? reservedOverhead(context.input.replay.peaks, 0).bytes : gaps;
  const own = largestOf(account, ['gaps'])?.lines ?? [];
  const pins = finding === undefined || finding.userLines.length === 0 ? own : finding.userLines;
  const lines = failure === undefined ? pins : withCaller(pins, failure.lines);
  const isPinned = finding?.frameIs === 'pinned by' || finding === undefined;
  const does = isPinned ? 'pins memory' : 'asks for many sizes';
  return { ...plain('fragmentation', bytes, lines, does), finding };
}

/** Causes that are not account entries: their detector describes them. */
const CAUSE_OF: Partial<Record<DetectorId, Cause>> = {
  'no-grad': 'kept-graph',
  'pending-free': 'pending-free',
  'segment-thrashing': 'cached',
  'level-shift': 'activations',
};

const toldBy = (findings: readonly Finding[], ...detectors: readonly DetectorId[]): Diagnosis[] =>
  findings
    .filter(({ detector }) => detectors.includes(detector))
    .map((finding) => ({
      ...plain(
        CAUSE_OF[finding.detector] ?? 'unknown',
        finding.bytes,
        finding.userLines,
        doesOf(finding),
      ),
      pattern: finding.pattern,
      severity: finding.severity,
      finding,
    }));

const plain = (
  cause: Cause,
  bytes: number,
  lines: readonly FrameView[],
  does: string,
): Diagnosis => ({
  cause,
  pattern: undefined,
  severity: 'none',
  bytes,
  entry: undefined,
  isOfEnd: false,
  lines,
  does: lines.length === 0 ? '' : does,
  finding: undefined,
});

const ofEntry = (entry: AccountEntry, does: string): Diagnosis => ({
  ...plain(entry.kind, entry.bytes, entry.lines, does),
  entry,
});

function largestOf({ entries }: Account, kinds: readonly EntryKind[]): AccountEntry | undefined {
  return entries.find(({ kind }) => kinds.includes(kind));
}

const sumOf = ({ entries }: Account, kinds: readonly EntryKind[]): number =>
  entries.reduce((sum, { kind, bytes }) => (kinds.includes(kind) ? sum + bytes : sum), 0);

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

const DOES: Readonly<Record<LineRole, string>> = {
  // The recording doesn't say who holds it: a stack only shows where it was allocated.
  'allocated at': 'allocates it',
  'stored at': 'stores it',
  'started at': 'starts it',
  'held by': 'holds most',
  'pinned by': 'pins memory',
  'requested by': 'asked for it',
  'called by': 'calls the model',
};

const doesOf = (finding: Finding | undefined): string => DOES[finding?.frameIs ?? 'allocated at'];

const isSameLine = (a: FrameView | undefined, b: FrameView | undefined): boolean =>
  a !== undefined && b !== undefined && a.filename === b.filename && a.line === b.line;
