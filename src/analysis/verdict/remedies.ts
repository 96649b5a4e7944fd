/**
 * What would help, and how much: each remedy saves bytes of certain account entries. At an OOM it also says whether the
 * request would then have fit; remedies that are enough come before those that are not.
 */
import { upperBound } from '../../base/binary-search.ts';
import { memoized, sumBy } from '../../base/collections.ts';
import { formatBytes, sentenceCase } from '../../base/format.ts';
import type { StackIndex } from '../../format/snapshot/tables.ts';
import { allocationsOf, sumOf } from '../account/types.ts';
import { atMostText } from '../findings/oom-verdict.ts';
import { simulatedSetting } from '../findings/simulated-setting.ts';
import type { Case, Diagnosis } from './case.ts';
import { ideasFor, MAX_REMEDIES } from './remedy-ideas.ts';
import type { Remedy } from './types.ts';
import { modelNeed } from './unfinished.ts';

/** A setting that saves less than this share of what the gaps seem to promise is not the first thing to try. */
const WORTHWHILE_SHARE = 0.25;

/** Of what is missing at an OOM: less is no help. */
const LEAST_SAVED = 0.05;

/** @param savedBytes how much less the program would have needed without the cause */
export function remediesFor(known: Case, diagnosis: Diagnosis, savedBytes: number): Remedy[] {
  const judged = known.failure?.judged;
  const soFar = known.failure?.unfinished !== undefined;
  const missing = judged?.missingBytes;
  const setting =
    diagnosis.cause === 'fragmentation' ? simulatedSetting(known.context.input) : undefined;
  const remedies = ideasFor(known.account, diagnosis, {
    isCapped: judged?.isCapped,
    hadRoom: judged?.hadRoom,
    hasFailed: judged !== undefined,
    isServer: known.context.isServerAt(known.account.moment.event),
    isUntrained: !known.context.isTraining,
    isInference: known.failure?.isInference,
    staysWide:
      isWidened(known) ||
      isOfEmbeddings(known) ||
      (diagnosis.cause === 'request' && isOperator(known)),
    embeddingBytes: embeddingBytes(known),
    ofWeightsBytes: ofWeightsBytes(known),
    requestedBytes: isOfBatch(known) ? known.failure?.requestedBytes : undefined,
  }).map(({ id, text: idea, saves }): Remedy => {
    const text = id === 'raise-limit' ? `${idea}${howFar(known)}` : idea;
    // The gaps only promise what a setting would save; the simulation says what it does.
    if (id === 'expandable-segments' && setting !== undefined) {
      const isEnough = judged && !soFar ? setting.result.ooms.length === 0 : undefined;
      // A recorded run that failed reserved less than it needed.
      return { id, text, savesBytes: isEnough ? undefined : setting.savesBytes, isEnough };
    }
    const bytes = saves === 'all' ? savedBytes : saves;
    const savesBytes = bytes === undefined ? undefined : Math.round(bytes);
    if (soFar) return { id, text, savesBytes, isEnough: undefined, soFar };
    const isKnown = missing !== undefined && savesBytes !== undefined;
    return { id, text, savesBytes, isEnough: isKnown ? savesBytes >= missing : undefined };
  });
  const isMinor = ({ id, savesBytes, isEnough }: Remedy): boolean =>
    isEnough === undefined
      ? id === 'expandable-segments' && (savesBytes ?? 0) < WORTHWHILE_SHARE * diagnosis.bytes
      : !isEnough;
  const inOrder = remedies
    .filter(({ savesBytes }) => savesBytes !== 0)
    .filter(({ savesBytes = missing ?? 0 }) => savesBytes >= LEAST_SAVED * (missing ?? 0))
    .sort((a, b) => Number(isMinor(a)) - Number(isMinor(b)));
  // A higher limit is no answer alone if nobody knows how far a pass would go on.
  const [first, second, ...others] = inOrder;
  const isOpen = first?.id === 'raise-limit' && soFar && wholeNeed(known) === undefined;
  const shown = isOpen && second !== undefined ? [second, first, ...others] : inOrder;
  return shown.slice(0, MAX_REMEDIES);
}

/** What the model needs in all, if memory ran out in an optimizer's first step or before. */
function wholeNeed({ context, account, failure }: Case): number | undefined {
  if (failure?.unfinished === undefined) return undefined;
  const need = modelNeed(context, failure.unfinished, account);
  return need !== undefined && need > account.allocatedBytes ? need : undefined;
}

/** ' At most 3.12 GiB more serves this request.' In an optimizer's first step, all that is known of what follows. */
function howFar(known: Case): string {
  const { failure } = known;
  if (failure?.judged.raise === undefined) return '';
  const need = wholeNeed(known);
  if (need !== undefined) return ` The model needs about ${formatBytes(need)} in all.`;
  const after = failure.unfinished === undefined ? '' : ', not what comes after it';
  return ` ${sentenceCase(atMostText(failure.judged.raise))} more serves this request${after}.`;
}

/** What the optimizer requests does not shrink with the batch, and what backward requests for a weight neither. */
function isOfBatch(known: Case): boolean {
  const { context, account, failure } = known;
  const { stack, sizeBytes } = context.input.trace.events;
  const asking = stack[account.moment.event];
  if (failure === undefined || context.classifier.isOptimizer(asking)) return false;
  const isOfWeight = largeWeights(known).has(sizeBytes[account.moment.event]);
  return !(isOfWeight && context.classifier.isBackward(asking));
}

/** Smaller sizes may be alike by chance. */
const LARGE_WEIGHT = 2 ** 26;

/** Sizes of the parameters, as requested. */
function largeWeights({ context, account }: Case): ReadonlySet<number> {
  const { requestedBytes } = context.input.replay.allocations;
  const ids = allocationsOf(account, ['parameters']);
  return new Set(ids.map((id) => requestedBytes[id]).filter((bytes) => bytes >= LARGE_WEIGHT));
}

/** Of the backward pass's scratch tensors: what is as large as a weight is its gradient in the making. */
function ofWeightsBytes(known: Case): number {
  const { context, account } = known;
  const { requestedBytes, sizeBytes, stack } = context.input.replay.allocations;
  const sizes = largeWeights(known);
  return sumBy(allocationsOf(account, ['temporaries']), (id) =>
    sizes.has(requestedBytes[id]) && context.classifier.isBackward(stack[id]) ? sizeBytes[id] : 0,
  );
}

/** What was made just before, by the same line, is exactly half as large. */
function isWidened({ context, account, failure }: Case): boolean {
  const { start, requestedBytes, stack } = context.input.replay.allocations;
  const { stacks, trace } = context.input;
  const last = upperBound(start, account.moment.event) - 1;
  const line = stacks.topUserFrame(trace.events.stack[account.moment.event]);
  const isSameLine = line !== undefined && stacks.topUserFrame(stack[last]) === line;
  return isSameLine && 2 * requestedBytes[last] === failure?.requestedBytes;
}

/** `(a - b) ** 2`: of the operators that PyTorch wraps in Python, autocast computes powers in float32 and casts no other. */
function isOperator({ context: { input }, account }: Case): boolean {
  const stack = input.trace.events.stack[account.moment.event];
  const { filename = '' } = input.stacks.innermostFrameView(stack) ?? {};
  return /[\\/]torch[\\/]_tensor\.py$/.test(filename);
}

/** Of the activations' bytes. */
const MOST_OF_ACTIVATIONS = 0.5;

/** Autocast does not cast what an embedding returns, nor what torch.cat() joins of it. */
function isOfEmbeddings({ context, account }: Case): boolean {
  const { sizeBytes, stack } = context.input.replay.allocations;
  const isEmbedding = memoized((own: StackIndex) =>
    /^embedding(_bag)?$/.test(context.input.stacks.innermostFrameView(own)?.name ?? ''),
  );
  const ids = allocationsOf(account, ['activations']);
  const bytes = sumBy(ids, (id) => (isEmbedding(stack[id]) ? sizeBytes[id] : 0));
  return bytes > MOST_OF_ACTIVATIONS * sumOf(account, ['activations']);
}

/** Gradients that autograd's node of an embedding made. */
function embeddingBytes({ context, account }: Case): number {
  const { sizeBytes } = context.input.replay.allocations;
  return sumBy(allocationsOf(account, ['gradients']), (id) => {
    const site = context.nativeSiteOf(id);
    const name = site === undefined ? '' : (context.nativeFrame(site)?.name ?? '');
    return /\bEmbedding(Bag)?Backward/.test(name) ? sizeBytes[id] : 0;
  });
}
