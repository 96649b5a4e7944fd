/** The verdict's first sentence, and the same in sixty characters. No code may parse them; also.ts has what is said beside them. */
import { NEVER } from '../../allocator/replay/types.ts';
import { sumBy } from '../../base/collections.ts';
import {
  formatBytes,
  formatCount,
  formatPercent,
  plural,
  sentenceCase,
} from '../../base/format.ts';
import { collectivesTexts, knownBytes, OWN_OUTSIDE } from '../../device/model/card.ts';
import { frameLabel } from '../../device/model/frame-text.ts';
import type { FrameView } from '../../device/model/types.ts';
import { poolsOfGraphs } from '../account/private-pools.ts';
import { turnOf } from '../account/repetitions.ts';
import { entryLabel, moreText, sumOf } from '../account/types.ts';
import { linesOfUnused } from '../detectors/no-grad.ts';
import { type Case, type Diagnosis, DOES, type Failure, peakLowerBy } from './case.ts';
import { copiesIn } from './patterns.ts';
import { type Cause, type Forecast, isOnlyAdvice, type Pattern } from './types.ts';
import { modelNeed } from './unfinished.ts';

export interface Figures {
  readonly known: Case;
  readonly diagnosis: Diagnosis;
  readonly forecast: Forecast | undefined;
  /** The peak of allocated bytes without the cause; undefined if not known. */
  readonly needBytes: number | undefined;
  /** How much less it would have needed. */
  readonly savedBytes: number;
  /** The variable that holds the cause; if nothing is wrong, much of what is left at the end. */
  readonly holder: { readonly text: string; readonly bytes: number } | undefined;
  /** ' and 2 other lines', if the first line allocated less than nearly all of it. */
  readonly besides: string;
}

export function textOf(figures: Figures): string {
  const { known, diagnosis } = figures;
  const what = clauseOf(figures);
  if (known.failure !== undefined) {
    const times = plural(known.failure.timesCaught, 'time');
    return known.failure.timesCaught === 0
      ? `Out of memory: ${what}`
      : `Memory ran out ${times}, and your program caught it and went on: ${what}`;
  }
  if (diagnosis.cause === 'none' || diagnosis.cause === 'unknown') return what;
  return mayHaveFailed(known) ? capitalized(what) : `No out-of-memory error, but ${what}`;
}

/** Leaves a sentence that begins with a file name unchanged. */
const capitalized = (text: string): string => (/^[a-z]+ /.test(text) ? sentenceCase(text) : text);

/** If older events were dropped, memory may have run out before. */
const mayHaveFailed = ({ context }: Case): boolean =>
  context.input.replay.recording === 'truncated';

/** About sixty characters. */
export function briefOf(figures: Figures): string {
  const { known, diagnosis } = figures;
  const { bytes, cause, pattern = cause } = diagnosis;
  const size = formatBytes(bytes);
  if (cause === 'none' || cause === 'unknown') return textOf(figures);
  const text =
    (BRIEFS[pattern] ?? BRIEFS[cause])?.(size, known, diagnosis) ??
    `${size} of ${labelOf(cause)}${known.failure?.unfinished ? ' so far' : ''}${soFarText(known)}`;
  const when = diagnosis.isOfEnd ? ` ${WHEN.end}` : '';
  const told = `${text}${when}${rateText(figures)}.`;
  if (known.failure !== undefined) {
    const times = known.failure.timesCaught;
    return `Out of memory${times === 0 ? '' : `, caught ${plural(times, 'time')}`}: ${told}`;
  }
  return mayHaveFailed(known) ? capitalized(told) : `No OOM, but ${told}`;
}

/** ', 392.16 MiB more each iteration in estimate_loss' */
function rateText({ diagnosis: { entry } }: Figures): string {
  if (entry?.rate === undefined || !entry.isGrowing) return '';
  return `, ${moreText(entry.rate)}`;
}

const labelOf = (cause: Cause): string =>
  cause === 'collectives' || cause === 'process-rest'
    ? OWN_OUTSIDE
    : cause === 'request' || cause === 'other-processes' || cause === 'fragmentation'
      ? cause
      : entryLabel(cause as Parameters<typeof entryLabel>[0]);

/** 'parameters and gradients': only what is there. */
function modelStateText({ account: { entries } }: Case): string {
  const isThere = (own: string) => entries.some(({ kind }) => kind === own);
  const names = [
    ...(isThere('parameters') ? ['parameters'] : []),
    ...(isThere('gradients') ? ['gradients'] : []),
    ...(isThere('optimizer-state') ? ['optimizer state'] : []),
    ...(isThere('second-model') ? ['copies of the model'] : []),
  ];
  return names.join(', ').replace(/, ([^,]*)$/, ' and $1');
}

function copiesText({ context, account }: Case): string {
  const copies = copiesIn(context, account);
  return copies === 1
    ? 'a second copy of the model takes'
    : `${formatCount(copies)} copies of the model beside the first take`;
}

/** In a phase that never ended, what is live is not all that it needs. */
const take = ({ failure }: Case): string => (failure?.unfinished ? 'already take' : 'take');

/** ', in the first backward pass' */
const soFarText = ({ failure }: Case): string =>
  failure?.unfinished ? `, in ${failure.unfinished.text}` : '';

/**
 * A tensor that grows, and a graph that nobody needs, would not exist. What a step uses would be there while it is used.
 */
export function ifGone({ cause, pattern }: Pick<Diagnosis, 'cause' | 'pattern'>): string {
  if (cause === 'growing') return 'Without it';
  return pattern === 'evaluation-without-no-grad' ? 'Without them' : 'With each freed after use';
}

type Brief = (size: string, known: Case, diagnosis: Diagnosis) => string;

const BRIEFS: { readonly [C in Cause | Pattern]?: Brief } = {
  kept: (size) => `${size} of tensors are kept`,
  'kept-graph': (size) => `${size} of autograd graphs are kept`,
  growing: (size, _, { entry }) =>
    `${replacedText(entry?.replaced?.tensors ?? 1, size)} replaced by larger ones`,
  fragmentation: (size, { failure }) =>
    failure === undefined
      ? `fragmentation: ${size} was reserved and never needed`
      : `fragmented, ${size} is in gaps between blocks`,
  request: (size) => `one request of ${size} did not fit`,
  'model-state': (size, known) =>
    `${modelStateText(known)} ${take(known)} ${size}${soFarText(known)}`,
  'second-model': (size, known) => `${copiesText(known)} ${size}`,
  'other-processes': (size, { account }) =>
    knownBytes(account.card?.rows, 'others') === undefined
      ? 'other processes use this GPU too'
      : `other processes hold ${size}`,
  collectives: (_, { account }) => `${collectivesTexts(account.card?.rows ?? []).join(' and ')}`,
  'process-rest': (size) => `${OWN_OUTSIDE} holds ${size}`,
  'pending-free': (size) => `${size} that was freed waits for another stream`,
  pools: (size, { context }) =>
    `the pools of ${formatCount(poolsOfGraphs(context).count)} CUDA graphs hold ${size}`,
  'evaluation-without-no-grad': (size) => `evaluation keeps ${size} for no backward`,
  'kept-exceptions': (size) => `stored exceptions hold ${size}`,
  'larger-batch': () => 'this batch is larger than all before',
  'retained-graph': (size, _, { cause, waiting }) => {
    if (waiting !== undefined) return `${size} of graphs stay although backward has run`;
    return cause === 'activations'
      ? `${size} of graphs stay after their own backward`
      : `${size} of autograd graphs are kept`;
  },
  'larger-pass': (size, _, { larger }) =>
    `${size} of activations, ${larger?.risesBytes === undefined ? 'more than any pass before kept' : 'and more in each pass'}`,
  'waiting-graphs': (size) => `${size} of graphs wait for one backward together`,
  'resident-data': (size) => `${size} of data stays on the GPU`,
  'loaded-data': (size) => `loading puts ${size} of data on the GPU`,
  'piled-up': (size) => `${size} of tensors pile up before they are given back`,
  'line-scratch': (size) => `one line makes ${size} of scratch tensors`,
  'untrained-part': (size) => `${size} of activations may be of a part that is not trained`,
  'long-loop': (size, _, { turns = 0 }) =>
    `${formatCount(turns)} turns of a loop in the forward pass keep ${size}`,
  'larger-part': (size) => `one part of the run needs ${size} more than the rest`,
  'stepped-up': (size, known) => `from one ${turnOf(known.context)} on, each needs ${size} more`,
  'segments-retaken': (size) => `${size} is given back and asked for again`,
};

/** '18 forward passes called by trades.py:36 (trades_loss) and trades.py:37 (trades_loss)' */
function waitingText({ waiting }: Diagnosis): string {
  const { count = 0, lines = [] } = waiting ?? {};
  return `${formatCount(count)} forward passes${calledBy(lines)}`;
}

/** The first line or, of graphs that no backward uses, all lines that call the model so. */
function callersOf({ known, diagnosis: { pattern, finding, lines } }: Figures) {
  const unused =
    pattern === 'evaluation-without-no-grad' && finding !== undefined
      ? linesOfUnused(known.context, finding.evidence.allocations)
      : [];
  return unused.length > 1 ? unused : lines.slice(0, 1);
}

/** ' at train.py:138 (train) and train.py:140 (train)' */
const atLines = (lines: readonly FrameView[]): string =>
  lines.length === 0 ? '' : ` at ${lines.map(frameLabel).join(' and ')}`;

const calledBy = (lines: readonly FrameView[]): string =>
  lines.length === 0 ? '' : ` called by ${lines.map(frameLabel).join(' and ')}`;

/** What used the memory, as a clause that ends with a period. */
function clauseOf(figures: Figures): string {
  const { known, diagnosis, besides } = figures;
  const { cause, pattern, bytes, lines, ranBy = [] } = diagnosis;
  const at = lines[0] === undefined ? undefined : frameLabel(lines[0]);
  const size = formatBytes(bytes);
  const share = shareText(figures);
  const held = figures.holder === undefined ? '' : `, held by ${figures.holder.text}`;
  const more = `${rateText(figures)}${held}`;
  const need =
    figures.needBytes === undefined || figures.needBytes >= known.account.allocatedBytes
      ? ''
      : ` ${ifGone(diagnosis)} the run needs about ${formatBytes(figures.needBytes)}.`;
  const passes = `forward passes${calledBy(callersOf(figures))}`;
  switch (pattern) {
    case 'evaluation-without-no-grad':
      if (diagnosis.entry !== undefined)
        return `${passes} keep their activations for a backward pass that never comes: ${share}${more}.${need}`;
      return isOnlyAdvice(diagnosis)
        ? `${passes} build graphs that no backward uses, up to ${size}. Without them the peak would be up to ${formatBytes(peakLowerBy(diagnosis) ?? 0)} lower.`
        : `${passes} keep ${known.failure === undefined ? 'up to ' : ''}${size} of activations for a backward pass that never comes${held}.${restText(figures)}`;
    case 'kept-exceptions':
      return `stored exceptions keep ${size} of tensors that ${at ?? 'the failed calls'} allocated.`;
    case 'state-not-detached':
      return `each step's graph stays attached to the one before: ${share}${more}.${need}`;
    case 'larger-batch': {
      const { requestedBytes = 0, larger } = known.failure ?? {};
      return `this batch or sequence is larger than all before: ${formatBytes(requestedBytes)} was requested where at most ${formatBytes(larger?.mostBytes ?? 0)} was (${larger?.times.toFixed(1)} times). ${size} in use is ${labelOf(cause)}.`;
    }
    case 'retained-graph':
      if (diagnosis.cause !== 'activations') break;
      return diagnosis.waiting === undefined
        ? `forward passes${calledBy(lines.slice(ranBy.length))} keep their graphs after their own backward${atLines(ranBy)}: ${share}.`
        : `${waitingText(diagnosis)} keep their graphs although backward has run between them: ${share}.`;
    case 'created-graph':
      return `backward at ${at} makes autograd graphs that are kept: ${share}${more}.${need}`;
    case 'larger-pass':
      return `${largerPassText(figures)} ${size} in use is ${labelOf(cause)}, and ${formatBytes(known.failure?.requestedBytes ?? 0)} more was requested.`;
    case 'waiting-graphs':
      return `${waitingText(diagnosis)} keep their graphs until one backward serves them all: ${share}.`;
    case 'resident-data':
      return `${at}${besides} put${besides === '' ? 's' : ''} data on the GPU that stays there: ${share}.`;
    case 'loaded-data':
      return `${at}${besides} put${besides === '' ? 's' : ''} data on the GPU before the first forward pass: ${share}.${stayText(figures)}`;
    case 'piled-up':
      return `tensors that ${at}${besides} allocate${besides === '' ? 's' : ''} pile up before they are given back: ${share}.`;
    case 'line-scratch':
      return `${at} makes scratch tensors that are soon freed: ${share}.`;
    case 'long-loop':
      return `the loop around ${at} turns ${formatCount(diagnosis.turns ?? 0)} times in a forward pass, with tensors of the same sizes each time, and what they keep for backward is ${share}.`;
    case 'larger-part': {
      const all = known.account.allocatedBytes;
      return `${passes} need ${formatBytes(all)}, the rest of the run at most ${formatBytes(all - bytes)}.`;
    }
    case 'untrained-part':
      return `${diagnosis.does === DOES['called by'] ? passes : `activations of ${at}`} may be of a part that is not trained: ${share}.`;
    case 'stepped-up':
      return `from one ${turnOf(known.context)} on, each needs ${size} more than those before.`;
    case 'segments-retaken':
      return `segments are given back to the driver and asked for again, over and over: ${size} in all.`;
    default:
  }
  switch (cause) {
    case 'kept':
      return `tensors that ${at === undefined ? 'the backward pass allocates' : `${at}${besides} allocate${besides === '' ? 's' : ''}`} are kept: ${share}${more}.${need}`;
    case 'kept-graph':
      return `autograd graphs from ${at === undefined ? 'a line without a recorded stack' : `${at}${besides}`} are kept: ${share}${more}.${need}`;
    case 'growing':
      return growingClause(figures, share, more, at);
    case 'fragmentation':
      return fragmentedClause(figures, size, at);
    case 'request':
      return `one request of ${size}${requestedBy(known.failure?.source, at)} did not fit: ${formatPercent(bytes / (known.account.allocatedBytes + bytes))} of all that would have been in use.`;
    case 'model-state':
      return `${modelStateText(known)} ${take(known)} ${share}${soFarText(known)}${isBatchUseless(known) ? ', so a smaller batch would not help' : ''}.`;
    case 'second-model':
      return `${copiesText(known)} ${share}.`;
    case 'other-processes':
      return known.failure?.judged.text ?? 'something else uses this GPU too.';
    case 'collectives':
      return `${collectivesTexts(known.account.card?.rows ?? []).join(' and ')}, and ${formatBytes(known.failure?.requestedBytes ?? 0)} more did not fit in the rest.`;
    case 'process-rest':
      return known.failure?.judged.text ?? `${OWN_OUTSIDE} holds ${size}.`;
    case 'pending-free':
      return `${size} that was freed cannot be used again yet: it waits for another stream.`;
    case 'pools':
      return poolsClause(figures, at);
    case 'none':
      return healthy(figures);
    case 'unknown':
      return known.failure === undefined
        ? "We can't tell what happened: the file has no recorded history, only the state at its end."
        : known.failure.judged.text;
    default:
      return `${cause === 'kv-cache' ? 'the KV cache takes' : `${labelOf(cause)} ${take(known)}`} ${share}${soFarText(known)}, and ${formatBytes(known.failure?.requestedBytes ?? 0)} more was requested.`;
  }
}

/** ' 692.35 MiB of it stays to the end.' A slice keeps the whole tensor. */
function stayText({ diagnosis: { tensors = [] }, known: { context } }: Figures): string {
  const { freeRequested, sizeBytes } = context.input.replay.allocations;
  const bytes = sumBy(tensors, (id) => (freeRequested[id] === NEVER ? sizeBytes[id] : 0));
  return bytes === 0 ? '' : ` ${formatBytes(bytes)} of it stays to the end.`;
}

function largerPassText({ diagnosis }: Figures): string {
  const { bytes = 0, mostBytes = 0, count = 0, risesBytes, carried } = diagnosis.larger ?? {};
  if (risesBytes === undefined)
    return `this forward pass keeps more than the ${formatCount(count)} before it: ${formatBytes(bytes)} where at most ${formatBytes(mostBytes)} was.`;
  const [line] = diagnosis.lines;
  const handed =
    carried === undefined || line === undefined
      ? ''
      : ` What ${frameLabel(line)} makes is still used by the next one: ${formatBytes(carried.bytes)}.`;
  return `each forward pass leaves more than the one before, ${formatBytes(risesBytes)} on average in the last ${formatCount(count + 1)}: ${formatBytes(bytes)} at the end of the last one.${handed}`;
}

/**
 * Whether memory would run out with the smallest batch too: without all activations the request still does not fit or,
 * in a first optimizer step, what the model needs in all is more than the process may have.
 */
function isBatchUseless({ context, account, failure }: Case): boolean {
  if (failure === undefined) return false;
  const { unfinished, judged } = failure;
  if (unfinished !== undefined) {
    const need = modelNeed(context, unfinished, account) ?? 0;
    return account.limitBytes !== undefined && need > account.limitBytes;
  }
  return sumOf(account, ['activations', 'temporaries', 'inputs']) < judged.missingBytes;
}

/** Why the peak falls by less than these take: the rest of the run has a peak of its own. */
function restText({ known, diagnosis }: Figures): string {
  const lower = peakLowerBy(diagnosis);
  if (known.failure !== undefined || lower === undefined) return '';
  const peak = known.context.input.replay.peaks.allocatedBytes.bytes;
  return ` Without them the peak would be up to ${formatBytes(lower)} lower: the rest of the run needs ${formatBytes(peak - lower)}.`;
}

function requestedBy(source: Failure['source'] = 'own', at: string | undefined): string {
  if (source === 'own') return at === undefined ? '' : ` by ${at}`;
  return ` in the backward pass${source === 'same-size' ? ` of ${at}` : ''}`;
}

/** '62.18 GiB of the 62.97 GiB in use at the peak', with the moment that it describes. */
function shareText({ known, diagnosis }: Figures): string {
  const { allocatedBytes, moment } = diagnosis.isOfEnd ? known.atEnd : known.account;
  return `${formatBytes(diagnosis.bytes)} of the ${formatBytes(allocatedBytes)} in use ${WHEN[moment.why]}`;
}

/** Of which moment a figure is. */
export const WHEN = {
  oom: 'then',
  peak: 'at the peak',
  end: 'at the end',
  cursor: 'at the cursor',
} as const;

/** 'a tensor of 1.43 GiB is', '12 tensors, 2.36 GiB in all, are' */
const replacedText = (count: number, size: string): string =>
  count === 1 ? `a tensor of ${size} is` : `${formatCount(count)} tensors, ${size} in all, are`;

/** Replays write to what is free in a graph's pool, so the pool stays as large as the capture was. */
function poolsClause({ known, diagnosis }: Figures, at: string | undefined): string {
  const { count, largestBytes } = poolsOfGraphs(known.context);
  const { reservedBytes, moment } = diagnosis.isOfEnd ? known.atEnd : known.account;
  const graphs = `${formatCount(count)} CUDA graphs${at === undefined ? '' : ` captured at ${at}`}`;
  return `${graphs} have a pool of memory each, which nothing else can use: ${formatBytes(diagnosis.bytes)} of the ${formatBytes(reservedBytes)} reserved ${WHEN[moment.why]}. The largest of them takes ${formatBytes(largestBytes)}.`;
}

function growingClause(
  { diagnosis, known }: Figures,
  share: string,
  more: string,
  at: string | undefined,
): string {
  const where = at ?? 'a line without a recorded stack';
  const { tensors = 1 } = diagnosis.entry?.replaced ?? {};
  const who =
    diagnosis.pattern === 'evaluation-gathers'
      ? `the evaluation called at ${where} gathers its outputs on the GPU`
      : `${where} replaces ${tensors === 1 ? 'a tensor by a larger one' : `${formatCount(tensors)} tensors by larger ones`} again and again`;
  const next =
    known.failure === undefined
      ? ''
      : ` The next one would have been ${formatBytes(known.failure.requestedBytes)}.`;
  return `${who}: ${share}${more}.${next}`;
}

function fragmentedClause(
  { known, diagnosis }: Figures,
  size: string,
  at: string | undefined,
): string {
  const peaks = known.context.input.replay.peaks;
  const who = at === undefined ? '' : ` ${at} ${diagnosis.does}.`;
  if (known.failure === undefined) {
    return `PyTorch reserved ${formatBytes(peaks.reservedBytes.bytes)}, and your tensors never needed more than ${formatBytes(peaks.activeBytes.bytes)}: ${size} is fragmentation.${who}`;
  }
  return `${known.failure.judged.text}${who}`;
}

/** No problem found, and what that is based on. */
function healthy({ known: { context, findings }, holder }: Figures): string {
  const { recording, end } = context.input.replay;
  const small = findings.length;
  const below = small === 0 ? '' : ` ${plural(small, 'small note')} below.`;
  const held =
    holder === undefined
      ? ''
      : `, but ${formatBytes(holder.bytes)} of the ${formatBytes(end.allocatedBytes)} in use at the end is held by ${holder.text}`;
  if (recording === 'truncated')
    return `No problem found in what is left of the recording${held}${held === '' ? ':' : ';'} older events were dropped, so we can't tell whether memory ran out before.${below}`;
  return `No out-of-memory error, and no problem found${held}.${below}`;
}
