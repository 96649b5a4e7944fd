/** The sentences of a verdict beside its first one: the failed request, limits, the rest of the card, what can't be known. */
import { NEVER } from '../../allocator/replay/types.ts';
import { groupBy, sumBy } from '../../base/collections.ts';
import {
  formatBytes,
  formatCount,
  formatDurationUs,
  plural,
  sentenceCase,
  withArticle,
} from '../../base/format.ts';
import {
  bytesOf,
  collectivesTexts,
  NOT_APART,
  OWN_OUTSIDE,
  othersText,
} from '../../device/model/card.ts';
import { frameLabel } from '../../device/model/frame-text.ts';
import type { LedgerRow } from '../../device/model/ledger.ts';
import { sleepText } from '../../device/serving/serving-notes.ts';
import { sleepSigns } from '../../device/serving/sleep.ts';
import { accountAt } from '../account/account.ts';
import { peakBesideTrials, triedWorkspace } from '../account/cudnn-trials.ts';
import { segmentsAt } from '../account/free-space.ts';
import { largestGroup, onStack } from '../account/line-share.ts';
import { peakOutside } from '../account/moment.ts';
import { turnOf } from '../account/repetitions.ts';
import { type Account, entryLabel, isFree, isKept, sumOf } from '../account/types.ts';
import { locationText } from '../findings/finding-parts.ts';
import { isSameLine } from '../findings/user-lines.ts';
import { firstPassBegin } from '../steps/forward-runs.ts';
import { stepCount } from '../steps/step-sequence.ts';
import { waitingPasses } from '../steps/waiting-passes.ts';
import type { Case, Diagnosis, Failure } from './case.ts';
import { linesOfBackwards } from './outstaying.ts';
import { type Figures, ifGone, WHEN } from './sentences.ts';
import { type Forecast, isOnlyAdvice, OF_FUNCTION } from './types.ts';
import { remainderText } from './unfinished.ts';

/** What the reader should know besides the sentence. */
export function alsoOf(figures: Figures): string[] {
  const { known, diagnosis, forecast } = figures;
  const { failure } = known;
  return [
    ...insideText(known, diagnosis),
    ...ranText(known, diagnosis),
    ...elsewhereText(figures),
    ...(failure === undefined ? [] : failureText(failure, known, diagnosis)),
    ...(diagnosis.cause === 'none'
      ? [...partsText(known), ...olderText(known), ...privateText(known)]
      : []),
    ...(diagnosis.cause === 'none' || isOnlyAdvice(diagnosis)
      ? [...triedText(known), ...firstStepText(known)]
      : []),
    ...(failure !== undefined && diagnosis.pattern === 'larger-batch' ? waitingText(known) : []),
    ...(OF_FUNCTION.includes(diagnosis.pattern) ? alikeText(known, diagnosis) : []),
    ...idleText(diagnosis),
    ...growingTooText(known, diagnosis),
    ...emptyText(known, diagnosis),
    ...(forecast === undefined ? [] : forecastText(forecast)),
    ...outsideText(known.account, diagnosis),
    ...(diagnosis.entry?.rate?.varies && diagnosis.entry.isGrowing
      ? ["We can't tell how many more will fit, because each adds a different amount."]
      : []),
    ...(known.context.input.replay.recording === 'truncated' ? [lateText(diagnosis)] : []),
    ...poolsText(known),
  ];
}

/** Of what a call keeps: a line with less is one of many. */
const INSIDE_SHARE = 0.3;

/** '185.16 MiB of it is from memory.py:22 (forward), which train.py:108 (train_batch) calls: …', as a hook or a cycle may hold it. */
function insideText({ context }: Case, { cause, bytes, entry, lines }: Diagnosis): string[] {
  const { input } = context;
  const [called] = lines;
  if (cause !== 'kept' || entry === undefined || called === undefined) return [];
  const { stack } = input.replay.allocations;
  const inside = largestGroup(context, entry.allocations, (id) =>
    input.stacks.topUserFrame(stack[id]),
  );
  if (inside === undefined || inside.bytes < INSIDE_SHARE * bytes) return [];
  const line = input.stacks.frame(inside.key);
  if (isSameLine(line, called)) return [];
  const isUnder = onStack(context, called);
  if (!inside.own.some((id) => isUnder(stack[id]))) return [];
  return [
    `${formatBytes(inside.bytes)} of it is from ${locationText(line)}, which ${frameLabel(called)} calls: it may be held there, too.`,
  ];
}

/** Of kept graphs that backward was to free: where it ran. */
function ranText({ context }: Case, { cause, pattern, entry }: Diagnosis): string[] {
  if (cause !== 'kept-graph' || pattern !== 'retained-graph' || entry === undefined) return [];
  const lines = linesOfBackwards(context, entry);
  return lines.length === 0
    ? []
    : [`Their own backward, at ${lines.map(frameLabel).join(' and ')}, left them as they were.`];
}

/** Share of what is kept that must be saved by not keeping it, for no word about it. */
const NEARLY_ALL = 0.97;

/** Why less is saved than is kept, or the run needs more than what is left at the OOM. */
function elsewhereText({ known, diagnosis, needBytes, savedBytes }: Figures): string[] {
  const { account, failure } = known;
  const { bytes, entry, waiting } = diagnosis;
  if (waiting !== undefined)
    return [
      `Up to ${formatBytes(waiting.savedBytes)} of that could be saved: the largest graph of one pass${waiting.hadBackward ? ', with its part of what backward made' : ''}, ${formatBytes(bytes - waiting.savedBytes)}, is needed in any case.`,
    ];
  if (needBytes === undefined || entry === undefined) return [];
  const goneBytes = bytes + entry.gradientBytes;
  const few = (1 - NEARLY_ALL) * goneBytes;
  const saved = formatBytes(savedBytes);
  const elsewhere = `${ifGone(diagnosis)} another moment of the run needs the most, ${formatBytes(needBytes)}`;
  const what = `${formatBytes(goneBytes)}${entry.gradientBytes === 0 ? '' : ' with the gradients'}`;
  const isLess = savedBytes > 0 && savedBytes < goneBytes - few;
  if (failure === undefined)
    return isLess ? [`${elsewhere}: so ${saved} is saved, not all ${what}.`] : [];
  const left = account.allocatedBytes + failure.requestedBytes - savedBytes;
  const isElsewhere = needBytes < account.allocatedBytes && needBytes > left + few;
  return [
    ...(isElsewhere ? [`${elsewhere}.`] : []),
    ...(isLess
      ? [`${saved} of the ${what} would be gone by then: the rest is of what was still going on.`]
      : []),
  ];
}

const MORE_ENTRIES = 'Record with a larger max_entries to keep more.';

/** Without a problem the first sentence says that events were dropped. */
const lateText = ({ cause }: Diagnosis): string =>
  cause === 'none'
    ? MORE_ENTRIES
    : `The recording begins late: older events were dropped, so we can't see how it began. ${MORE_ENTRIES}`;

/** Fewer may be what each program keeps: buffers, a data set. */
const MIN_OLDER = 10;

/**
 * A ring doesn't show whether what a line allocated before it grows: of a replay buffer that is full, or of a deque
 * without a limit.
 */
function olderText({ context, account: { entries, allocatedBytes } }: Case): string[] {
  const { recording, allocations } = context.input.replay;
  if (recording !== 'truncated') return [];
  const older = entries.find(
    ({ kind, count, bytes, lines, allocations: own }) =>
      kind === 'kept' &&
      lines.length > 0 &&
      count >= MIN_OLDER &&
      bytes >= PART_SHARE * allocatedBytes &&
      own.every((id) => id < allocations.preexisting),
  );
  if (older === undefined) return [];
  const { bytes, count, lines } = older;
  return [
    `${formatBytes(bytes)} in ${formatCount(count)} tensors that ${locationText(lines[0])} allocates is older than the oldest event: we can't see whether it grows.`,
  ];
}

/** Of what is allocated: smaller parts are not worth a word. */
const PART_SHARE = 0.1;
const MAX_PARTS = 3;

/** 'At the peak 13.61 GiB was in use, the most of it parameters and buffers (5.59 GiB) and inputs (4.02 GiB).' */
function partsText({ account: { entries, allocatedBytes, moment } }: Case): string[] {
  const parts = entries
    .filter(({ kind, bytes }) => !isFree(kind) && bytes >= PART_SHARE * allocatedBytes)
    .slice(0, MAX_PARTS)
    .map(({ kind, bytes }) => `${entryLabel(kind)} (${formatBytes(bytes)})`);
  if (parts.length === 0) return [];
  const names = parts.join(', ').replace(/, ([^,]*)$/, ' and $1');
  return [
    `${sentenceCase(WHEN[moment.why])} ${formatBytes(allocatedBytes)} was in use, the most of it ${names}.`,
  ];
}

/** Of the peak: from here on a trial hides what the program itself needs most. */
const HIDING_SHARE = 0.5;

/** '4.61 GiB of the peak is a workspace that cuDNN tried and gave back: …', and what the run needs without such trials. */
function triedText({ context, account }: Case): string[] {
  const id = triedWorkspace(context, account);
  const bytes = id === undefined ? 0 : context.input.replay.allocations.sizeBytes[id];
  if (bytes < PART_SHARE * account.allocatedBytes) return [];
  const tried = `${formatBytes(bytes)} of the peak is a workspace that cuDNN tried and gave back: with torch.backends.cudnn.benchmark = True it tries several algorithms for each new shape.`;
  if (bytes < HIDING_SHARE * account.allocatedBytes) return [tried];
  const beside = accountAt(context, peakBesideTrials(context), 'peak');
  const [most] = beside.entries.filter(({ kind }) => !isFree(kind));
  const waiting = waitingPasses(context, beside);
  const [line] = waiting?.lines ?? [];
  const passes =
    waiting === undefined || waiting.hadBackward
      ? ''
      : ` The graphs of ${formatCount(waiting.count)} forward passes${line === undefined ? '' : ` called by ${locationText(line)}`} are there at once then, ${formatBytes(waiting.bytes)}, for one backward.`;
  return [
    `${tried} Without such trials at most ${formatBytes(beside.allocatedBytes)} is in use, the most of it ${most === undefined ? 'unknown' : `${entryLabel(most.kind)} (${formatBytes(most.bytes)})`}.${passes}`,
  ];
}

/** Of the peak: so much less is needed later that the peak says little about the run. */
const LATER_SHARE = 0.85;
const MIN_STEPS = 4;

/** 'Only the first step needed that much: after it, at most 5.41 GiB was in use.' cuDNN tries its algorithms there. */
function firstStepText({ context, account: { moment, allocatedBytes } }: Case): string[] {
  const [primary] = context.stepSequences;
  if (primary === undefined || moment.why !== 'peak' || stepCount(primary) < MIN_STEPS) return [];
  const [begin, end] = primary.bounds;
  if (moment.event > end) return [];
  const firstPass = firstPassBegin(context);
  const isBefore = firstPass !== NEVER && moment.event < firstPass;
  const over = moment.event <= begin ? begin : end;
  const bytes = peakOutside(context.input, [[0, isBefore ? firstPass - 1 : over]]);
  if (bytes > LATER_SHARE * allocatedBytes) return [];
  if (isBefore)
    return [
      `That was before the first forward pass: from there on, at most ${formatBytes(bytes)} was in use.`,
    ];
  return [
    `Only the first ${turnOf(context)} needed that much: after it, at most ${formatBytes(bytes)} was in use.`,
  ];
}

/** '3 of its tensors have 892.64 MiB each: …' Each part of a data set may have read the whole file. Of those that stay. */
function alikeText({ context }: Case, { tensors = [], bytes }: Diagnosis): string[] {
  const { freeRequested, sizeBytes } = context.input.replay.allocations;
  const staying = tensors.filter((id) => freeRequested[id] === NEVER);
  const bySize = groupBy(staying, (id) => sizeBytes[id]);
  const [[size, same] = [0, []]] = [...bySize].sort(
    ([a, x], [b, y]) => b * y.length - a * x.length,
  );
  if (same.length < 2 || size * same.length < bytes / 2) return [];
  return [
    `${formatCount(same.length)} of its tensors have ${formatBytes(size)} each: if they hold the same, one would do.`,
  ];
}

/** Of the cause's bytes. */
const GROWING_SHARE = 0.1;

/** '522.79 MiB that the backward pass allocates grows too.' The gradients of models that are kept, say. */
function growingTooText({ account, atEnd }: Case, { entry, isOfEnd }: Diagnosis): string[] {
  if (entry === undefined || !entry.isGrowing) return [];
  return (isOfEnd ? atEnd : account).entries
    .filter((one) => one !== entry && isKept(one.kind) && one.isGrowing)
    .filter(({ bytes }) => bytes >= GROWING_SHARE * entry.bytes)
    .map(({ bytes, lines: [line], besides }) => {
      if (line === undefined && bytes === entry.gradientBytes)
        return `${formatBytes(bytes)} of gradients that the backward pass made for them grows too, and goes with them.`;
      const where = line === undefined ? 'the backward pass' : `${frameLabel(line)}${besides}`;
      return `${formatBytes(bytes)} that ${where} allocate${besides === '' ? 's' : ''} grows too.`;
    });
}

/** '454 gradients (216.86 MiB) are of parameters that no optimizer has state for, as it has for others.' */
const idleText = ({ idle }: Diagnosis): string[] =>
  idle === undefined
    ? []
    : [
        `${plural(idle.count, 'gradient')} (${formatBytes(idle.bytes)}) of the run are of parameters that no optimizer has state for, as it has for others.`,
      ];

/** '10.24 GiB is the graphs of 8 forward passes at train.py:126 (train) that wait for one backward together: …' */
function waitingText({ context, account }: Case): string[] {
  const waiting = waitingPasses(context, account);
  if (waiting === undefined || waiting.hadBackward) return [];
  const { bytes, count, lines } = waiting;
  return [
    `${formatBytes(bytes)} is the graphs of ${formatCount(count)} forward passes at ${locationText(lines[0])} that wait for one backward together: with a backward after each, one graph at a time would be there.`,
  ];
}

/** Of what is reserved at the end: what private pools hold of it is worth a sentence from here on. */
const PRIVATE_SHARE = 0.25;

/** '3.58 GiB of the 4.12 GiB reserved at the end is in private pools (CUDA graphs, MemPools), 12.00 MiB of it in use: …' */
function privateText({ context }: Case): string[] {
  if (context.isServerAt(context.input.trace.events.length - 1)) return [];
  const segments = segmentsAt(context, context.input.trace.events.length - 1);
  const all = sumBy(segments, ({ sizeBytes }) => sizeBytes);
  const own = segments.filter(({ isPrivate }) => isPrivate);
  const bytes = sumBy(own, ({ sizeBytes }) => sizeBytes);
  if (bytes === 0 || bytes < PRIVATE_SHARE * all) return [];
  const used = bytes - sumBy(own, ({ freeBytes }) => freeBytes);
  return [
    `${formatBytes(bytes)} of the ${formatBytes(all)} reserved at the end is in private pools (CUDA graphs, MemPools), ${formatBytes(used)} of it in use: nothing else can use the rest while they exist.`,
  ];
}

/** Of what is reserved: more than what a step leaves behind for the next. */
const EMPTY_SHARE = 0.5;
const EMPTY_BYTES = 2 ** 30;

/** '38.27 GiB of the 41.92 GiB reserved is in empty segments: …' */
function emptyText({ account }: Case, { cause }: Diagnosis): string[] {
  const bytes = sumOf(account, ['cached']);
  const isMost = bytes >= EMPTY_BYTES && bytes >= EMPTY_SHARE * account.reservedBytes;
  if (!isMost || cause === 'fragmentation' || cause === 'pools') return [];
  const why =
    cause === 'growing'
      ? 'each larger tensor needs a new one, because it fits in none of the old. With expandable_segments:True they grow together'
      : 'PyTorch keeps them for requests that fit in them, and gives them back when memory runs short';
  return [
    `${formatBytes(bytes)} of the ${formatBytes(account.reservedBytes)} reserved ${WHEN[account.moment.why]} is in empty segments: ${why}.`,
  ];
}

/** Memory that looks free or reserved, and is neither leaked nor fragmented. */
function poolsText({ context, account, failure }: Case): string[] {
  const sleep = sleepSigns(context.input);
  const stranded = failure === undefined ? 0 : sumOf(account, ['pools']);
  return [
    ...(stranded > 0
      ? [
          `${formatBytes(stranded)} was free in private pools (CUDA graphs, MemPools), where this request could not use it.`,
        ]
      : []),
    ...(sleep === undefined ? [] : [sleepText(sleep)]),
  ];
}

function failureText(failure: Failure, known: Case, { cause }: Diagnosis): string[] {
  const { requestedBytes, judged, lines, source, unfinished } = failure;
  const of = source === 'same-size' ? ` of ${frameLabel(lines[0])}` : '';
  const who = source === 'own' && lines[0] ? frameLabel(lines[0]) : `The backward pass${of}`;
  const asked = `${who} asked for the ${formatBytes(requestedBytes)} that did not fit.`;
  const left =
    unfinished === undefined ? '' : ` ${remainderText(known.context, unfinished, known.account)}`;
  const limit = judged.limit === undefined ? [] : [judged.limit];
  return [...(cause === 'request' ? [left.trim()] : [`${asked}${left}`]), ...limit].filter(Boolean);
}

/** Of the card: what holds less outside PyTorch is not worth a sentence. */
const NOTABLE_SHARE = 0.05;

/** Who holds the rest of the card, if a ledger shows it, and when it was sampled. */
function outsideText({ card, moment }: Account, { cause }: Diagnosis): string[] {
  if (card?.sample === undefined) return [];
  const { rows, sample, ageUs } = card;
  const isNotable = (...kinds: readonly LedgerRow['kind'][]) =>
    Math.abs(bytesOf(rows, ...kinds)) >= NOTABLE_SHARE * sample.totalBytes;
  const others = rows.find((row) => row.kind === 'others');
  const outside = rows.find((row) => row.kind === 'outside');
  const pids = others?.processes?.map(({ pid }) => pid) ?? [];
  const behind = formatBytes(-bytesOf(rows, 'behind-allocator'));
  const texts = [
    ...(cause !== 'collectives' && isNotable('communicator') ? collectivesTexts(rows) : []),
    ...(cause !== 'other-processes' && others !== undefined && isNotable('others')
      ? [`${othersText(others.bytes, pids)} of this card`]
      : []),
    ...(cause !== 'process-rest' && isNotable('process-rest')
      ? [`${OWN_OUTSIDE} holds ${formatBytes(bytesOf(rows, 'process-rest'))}`]
      : []),
    ...(outside !== undefined && isNotable('outside')
      ? [
          `${NOT_APART} hold ${formatBytes(outside.bytes)}; we can't tell them apart, because ${outside.reason}`,
        ]
      : []),
    ...(isNotable('behind-allocator')
      ? [
          `${behind} that PyTorch counts as reserved is not on the card: it was freed behind the allocator, as pools that sleep are`,
        ]
      : []),
  ];
  const isOld = ageUs > 0 && moment.event !== sample.event;
  const when = isOld ? ` (${formatDurationUs(ageUs)} before)` : '';
  return texts.map((text) => `${sentenceCase(text)}${when}.`);
}

function forecastText({ stepsLeft, bytesPerStep, unit }: Forecast): string[] {
  if (stepsLeft === undefined) return [];
  const rate = `${formatBytes(bytesPerStep)} ${withArticle(unit)}`;
  return stepsLeft === 0
    ? []
    : [`At ${rate}, the memory that is left is full in about ${formatCount(stepsLeft)} more.`];
}
