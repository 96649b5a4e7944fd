/** Which remedies a cause has, and how much each saves of which account entries. */
import { knownBytes } from '../../device/model/card.ts';
import { type Account, sumOf } from '../account/types.ts';
import type { Diagnosis } from './case.ts';
import {
  ADAPTERS,
  CHECKPOINTING,
  DETACH,
  DROP_GRAPHS,
  EXPANDABLE,
  type Idea,
  ideas,
  LESS_AT_ONCE,
  LOWER_PRECISION,
  NO_GRAPH,
  OF_CAUSE,
  OF_PATTERN,
  ONE_TENSOR,
  OTHERS,
  OUTSIDE_LIMIT,
  RAISE_LIMIT,
  RECORD_MORE,
  REPEAT_SIZES,
  SHARE_MODEL,
  SMALLER_BATCH,
  SOME_NO_GRAD,
  SPARSE,
} from './remedy-texts.ts';
import type { Cause, Pattern } from './types.ts';

/** What decides whether a remedy is possible. */
export interface Circumstances {
  /** The process hit its own limit. */
  readonly isCapped?: boolean | undefined;
  /** The device had more free than was requested. */
  readonly hadRoom?: boolean | undefined;
  readonly hasFailed?: boolean;
  readonly isServer?: boolean | undefined;
  /** The program runs no backward pass at all. */
  readonly isUntrained?: boolean | undefined;
  /** No backward pass follows: nothing is recomputed, and no gradients are accumulated. */
  readonly isInference?: boolean | undefined;
  /** What autocast leaves as it is: embeddings, or a copy with twice the bits, `logits.float()`. */
  readonly staysWide?: boolean;
  /** Dense gradients of embedding tables, as the C++ frames name them: most rows of them are zero. */
  readonly embeddingBytes?: number | undefined;
  /** Steps ask for the same sizes already. */
  readonly repeats?: boolean | undefined;
  /** Scratch tensors that do not shrink with the batch. */
  readonly ofWeightsBytes?: number | undefined;
  /** What was requested and did not fit, if a smaller batch makes it smaller too. */
  readonly requestedBytes?: number | undefined;
}

/** Nobody reads more. */
export const MAX_REMEDIES = 4;

/** Remedies without figures, for findings and messages. */
export const adviceFor = (
  cause: Cause,
  pattern?: Pattern,
  circumstances: Circumstances = {},
): string[] =>
  ideasFor({ entries: [], card: undefined }, { cause, pattern }, circumstances)
    .slice(0, MAX_REMEDIES)
    .map(({ text }) => text);

export function ideasFor(
  account: Pick<Account, 'entries' | 'card'>,
  { cause, pattern }: Pick<Diagnosis, 'cause' | 'pattern'>,
  circumstances: Circumstances,
): readonly Idea[] {
  const { isCapped = false, hadRoom = false, hasFailed = false } = circumstances;
  const { isServer = false, isInference = false, isUntrained = false } = circumstances;
  const { requestedBytes = 0, ofWeightsBytes = 0 } = circumstances;
  const { embeddingBytes = 0, staysWide = false, repeats = false } = circumstances;
  const allSizeIdeas = isServer ? servedSizeIdeas : passSizeIdeas(!isInference);
  const sizeIdeas = () =>
    allSizeIdeas(account, requestedBytes, ofWeightsBytes).filter(
      ({ id }) => !(staysWide && id === 'lower-precision'),
    );
  const modelIdeas = isServer ? servedModelIdeas : trainedModelIdeas(embeddingBytes);
  const limit = isCapped ? RAISE_LIMIT : [];
  // Nothing is wrong with what needs more than the process may have, while the device has it: raise the limit first.
  const [first, last] = hadRoom ? [limit, []] : [[], limit];
  const isOfPasses = pattern === 'retained-graph' && cause === 'activations';
  const own = isOfPasses ? DROP_GRAPHS : pattern && OF_PATTERN[pattern];
  if (own !== undefined)
    return [...own, ...(hasFailed && pattern === 'waiting-graphs' ? sizeIdeas() : []), ...limit];
  switch (cause) {
    case 'kept-graph':
      // Whatever carries a graph on, a state or an output, none is needed.
      return isUntrained ? [...NO_GRAPH, ...DETACH] : [...DETACH, ...SOME_NO_GRAD];
    case 'fragmentation':
      return [...EXPANDABLE, ...limit, ...(repeats ? [] : REPEAT_SIZES)];
    case 'request':
      return [...first, ...ONE_TENSOR, ...last, ...sizeIdeas()];
    case 'model-state':
      return [...first, ...modelIdeas(account), ...last];
    case 'second-model':
      return [...first, ...SHARE_MODEL, ...last];
    case 'other-processes':
      return ideas(knownBytes(account.card?.rows, 'others'), OTHERS);
    case 'unknown':
      return hasFailed ? OUTSIDE_LIMIT : RECORD_MORE;
    default:
      return OF_CAUSE[cause] ?? [...first, ...sizeIdeas(), ...last, ...modelIdeas(account)];
  }
}

type SizeIdeas = (
  account: Pick<Account, 'entries'>,
  requestedBytes: number,
  ofWeightsBytes: number,
) => Idea[];

/**
 * Remedies that depend on the batch; those that save nothing are left out later. Without a backward pass nothing is
 * recomputed and no gradients add up: only less at once or fewer bits help.
 */
const passSizeIdeas =
  (isTrained: boolean): SizeIdeas =>
  (account, requestedBytes, ofWeightsBytes) => {
    const activations = sumOf(account, ['activations', 'temporaries']) - ofWeightsBytes;
    return [
      ...ideas((activations + requestedBytes) * 0.5, isTrained ? SMALLER_BATCH : LESS_AT_ONCE),
      ...(isTrained ? ideas(activations * 0.6, CHECKPOINTING) : []),
      ...ideas(lowerPrecisionSaves(activations, requestedBytes), LOWER_PRECISION),
    ];
  };

/** A tensor takes half; autocast leaves some of a pass in float32. */
const lowerPrecisionSaves = (activations: number, requestedBytes: number): number =>
  0.4 * activations + 0.5 * requestedBytes;

/** Of the gradients: the model is little else. */
const TABLES_SHARE = 0.9;

/** Remedies for model state, which no smaller batch can reduce. A table of embeddings has no blocks to adapt. */
const trainedModelIdeas = (embeddings: number) => (account: Pick<Account, 'entries'>) => {
  const optimizer = sumOf(account, ['optimizer-state']);
  const trained = sumOf(account, ['gradients']) + optimizer;
  // Weights that an output layer shares have a dense gradient anyway.
  const isMostlyTables = embeddings > TABLES_SHARE * sumOf(account, ['gradients']);
  return [
    ...(isMostlyTables ? ideas(embeddings, SPARSE) : []),
    ...ideas((sumOf(account, ['parameters']) + trained) * 0.75, {
      shard: 'Shard the model over four GPUs (FSDP2, ZeRO-3).',
    }),
    ...ideas(optimizer * 0.75, {
      'optimizer-8bit': 'Use an 8-bit or paged optimizer, if its state is 32-bit now.',
    }),
    ...ideas(optimizer, {
      offload: 'Keep the optimizer state on the CPU, for transfers every step.',
    }),
    ...(isMostlyTables ? [] : ideas(trained, ADAPTERS)),
  ];
};

/** A server has no gradients to accumulate and nothing to recompute: it can take less at once, and keep less. */
function servedSizeIdeas(account: Pick<Account, 'entries'>): Idea[] {
  return [
    ...ideas(sumOf(account, ['activations', 'temporaries']) * 0.5, {
      'batch-size':
        'Halve the tokens that run at once: --max-num-batched-tokens, --max-num-seqs (vLLM), --chunked-prefill-size, --max-running-requests (SGLang).',
    }),
    ...ideas(sumOf(account, ['kv-cache']) * 0.5, {
      'smaller-cache':
        'Halve the KV cache: --gpu-memory-utilization or --max-model-len (vLLM), --mem-fraction-static or --context-length (SGLang), or --kv-cache-dtype with 8 bits if it has 16 now.',
    }),
  ];
}

function servedModelIdeas(account: Pick<Account, 'entries'>): Idea[] {
  const weights = sumOf(account, ['parameters']);
  return [
    ...ideas(weights * 0.5, {
      quantize: 'Load the weights in 8 bits (FP8, INT8), if they have 16 now.',
    }),
    ...ideas((weights + sumOf(account, ['kv-cache'])) * 0.5, {
      shard: 'Split the model over two GPUs: --tensor-parallel-size 2 (vLLM), --tp 2 (SGLang).',
    }),
  ];
}
