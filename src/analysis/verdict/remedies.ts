/**
 * What would help, and how much: each remedy saves bytes of certain account entries. At an OOM it also says whether the
 * request would then have fit; remedies that are enough come before those that are not.
 */
import { sumBy } from '../../base/collections.ts';
import { knownBytes } from '../../device/model/card.ts';
import { type Account, sumOf } from '../account/types.ts';
import { simulatedSetting } from '../findings/simulated-setting.ts';
import type { Case, Diagnosis } from './case.ts';
import type { Cause, Pattern, Remedy, RemedyId } from './types.ts';

/** Nobody reads more. */
const MAX_REMEDIES = 4;

/** A setting that saves less than this share of what the gaps seem to promise is not the first thing to try. */
const WORTHWHILE_SHARE = 0.25;

/** A remedy before it is compared with the missing bytes; 'all' means all bytes of the cause. */
interface Idea {
  readonly id: RemedyId;
  readonly text: string;
  readonly saves: number | 'all' | undefined;
}

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
  /** The request is for a copy with twice the bits: `logits.float()`. */
  readonly isWidened?: boolean;
  /** Dense gradients of embedding tables, as the C++ frames name them: most rows of them are zero. */
  readonly embeddingBytes?: number | undefined;
  /** What was requested and did not fit, if a smaller batch makes it smaller too. */
  readonly requestedBytes?: number | undefined;
}

type Texts = { readonly [Id in RemedyId]?: string };

const ideas = (saves: Idea['saves'], texts: Texts): Idea[] =>
  Object.entries(texts).map(([id, text]) => ({ id: id as RemedyId, text, saves }));
/** Each gives back all bytes of the cause. */
const all = (texts: Texts) => ideas('all', texts);
/** How much they give back is not known. */
const some = (texts: Texts) => ideas(undefined, texts);

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
    isWidened: isWidened(known),
    embeddingBytes: embeddingBytes(known),
    requestedBytes: isOfBatch(known) ? known.failure?.requestedBytes : undefined,
  }).map(({ id, text, saves }): Remedy => {
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
  return remedies
    .filter(({ savesBytes, isEnough }) => savesBytes !== 0 || isEnough === true)
    .sort((a, b) => Number(isMinor(a)) - Number(isMinor(b)))
    .slice(0, MAX_REMEDIES);
}

/** What the optimizer requests does not shrink with the batch. */
const isOfBatch = ({ context, account, failure }: Case): boolean =>
  failure !== undefined &&
  !context.classifier.isOptimizer(context.input.trace.events.stack[account.moment.event]);

/** The same line had just made a tensor of exactly half the size. */
function isWidened({ context, account, failure }: Case): boolean {
  const { requestedBytes, stack } = context.input.replay.allocations;
  const { stacks, trace } = context.input;
  const line = stacks.topUserFrame(trace.events.stack[account.moment.event]);
  const ids = account.entries.flatMap(({ allocations }) => allocations);
  return (
    failure !== undefined &&
    line !== undefined &&
    ids.some(
      (id) =>
        2 * requestedBytes[id] === failure.requestedBytes &&
        stacks.topUserFrame(stack[id]) === line,
    )
  );
}

/** Gradients that autograd's node of an embedding made. */
function embeddingBytes({ context, account }: Case): number {
  const { sizeBytes } = context.input.replay.allocations;
  const ids = account.entries.flatMap(({ kind, allocations }) =>
    kind === 'gradients' ? allocations : [],
  );
  return sumBy(ids, (id) => {
    const site = context.nativeSiteOf(id);
    const name = site === undefined ? '' : (context.nativeFrame(site)?.name ?? '');
    return /\bEmbedding(Bag)?Backward/.test(name) ? sizeBytes[id] : 0;
  });
}

/** Remedies without figures, for findings and messages. */
export const adviceFor = (
  cause: Cause,
  pattern?: Pattern,
  circumstances: Circumstances = {},
): string[] =>
  ideasFor({ entries: [], card: undefined }, { cause, pattern }, circumstances)
    .slice(0, MAX_REMEDIES)
    .map(({ text }) => text);

function ideasFor(
  account: Pick<Account, 'entries' | 'card'>,
  { cause, pattern }: Pick<Diagnosis, 'cause' | 'pattern'>,
  circumstances: Circumstances,
): readonly Idea[] {
  const { isCapped = false, hadRoom = false, hasFailed = false } = circumstances;
  const { isServer = false, isInference = false, isUntrained = false } = circumstances;
  const { requestedBytes = 0, embeddingBytes = 0, isWidened = false } = circumstances;
  const allSizeIdeas = isServer
    ? servedSizeIdeas
    : isInference
      ? inferredSizeIdeas
      : trainedSizeIdeas;
  const sizeIdeas: typeof allSizeIdeas = (...of) =>
    allSizeIdeas(...of).filter(({ id }) => !(isWidened && id === 'lower-precision'));
  const modelIdeas = isServer ? servedModelIdeas : trainedModelIdeas(embeddingBytes);
  const limit = isCapped ? RAISE_LIMIT : [];
  // Nothing is wrong with what needs more than the process may have, while the device has it: raise the limit first.
  const [first, last] = hadRoom ? [limit, []] : [[], limit];
  const own = pattern && OF_PATTERN[pattern];
  if (own !== undefined) return [...own, ...limit];
  switch (cause) {
    case 'kept-graph':
      // Whatever carries a graph on, a state or an output, none is needed.
      return isUntrained ? [...NO_GRAPH, ...DETACH] : [...DETACH, ...SOME_NO_GRAD];
    case 'fragmentation':
      return [...EXPANDABLE, ...limit, ...REPEAT_SIZES];
    case 'request':
      return [...first, ...ONE_TENSOR, ...last, ...sizeIdeas(account, requestedBytes)];
    case 'model-state':
      return [...first, ...modelIdeas(account), ...last];
    case 'second-model':
      return [...first, ...SHARE_MODEL, ...last];
    case 'other-processes':
      return ideas(knownBytes(account.card?.rows, 'others'), OTHERS);
    case 'unknown':
      return hasFailed ? OUTSIDE_LIMIT : RECORD_MORE;
    default:
      return (
        OF_CAUSE[cause] ?? [
          ...first,
          ...sizeIdeas(account, requestedBytes),
          ...last,
          ...modelIdeas(account),
        ]
      );
  }
}

/** Remedies that depend on the batch; those that save nothing are left out later. */
function trainedSizeIdeas(account: Pick<Account, 'entries'>, requestedBytes: number): Idea[] {
  const activations = sumOf(account, ['activations', 'temporaries']);
  return [
    ...ideas((activations + requestedBytes) * 0.5, {
      'batch-size':
        'Halve the batch size and accumulate gradients over two (if activations grow with the batch).',
    }),
    ...ideas(activations * 0.6, {
      checkpointing: 'Checkpoint each block (torch.utils.checkpoint), for a third more compute.',
    }),
    ...ideas(lowerPrecisionSaves(activations, requestedBytes), LOWER_PRECISION),
  ];
}

/** Without a backward pass, only less at once or fewer bits help. */
function inferredSizeIdeas(account: Pick<Account, 'entries'>, requestedBytes: number): Idea[] {
  const activations = sumOf(account, ['activations', 'temporaries']);
  return [
    ...ideas((activations + requestedBytes) * 0.5, {
      'batch-size':
        'Halve what runs at once: fewer samples, shorter sequences, or images in tiles.',
    }),
    ...ideas(lowerPrecisionSaves(activations, requestedBytes), LOWER_PRECISION),
  ];
}

/** A tensor takes half; autocast leaves some of a pass in float32. */
const lowerPrecisionSaves = (activations: number, requestedBytes: number): number =>
  0.4 * activations + 0.5 * requestedBytes;

const LOWER_PRECISION: Texts = {
  'lower-precision':
    "Run the forward pass under bf16 autocast, if it runs in float32 now (a recording doesn't show that).",
};

const SPARSE: Texts = {
  'sparse-gradients':
    'Make the embedding with sparse=True and train it with SparseAdam or SGD: then only the rows that a batch uses have a gradient.',
};
const ADAPTERS: Texts = {
  adapters: 'Train adapters (LoRA): frozen weights need no state and no gradients.',
};
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

/** For a process that hit its own limit, not the end of the device. */
const RAISE_LIMIT = some({
  'raise-limit':
    'Raise or remove torch.cuda.set_per_process_memory_fraction, if the rest of the GPU is yours.',
});
const EXPANDABLE = all({
  'expandable-segments':
    'Set PYTORCH_ALLOC_CONF=expandable_segments:True (PYTORCH_CUDA_ALLOC_CONF in older versions) before the program starts: gaps then close up.',
});
const REPEAT_SIZES = some({
  'repeat-sizes':
    'Make sizes repeat: pad to a few lengths, drop the last smaller batch, run the largest batch first. Allocate what lives long before the loop, not between big temporaries.',
});
const ONE_TENSOR = some({
  'one-tensor':
    'Do not make this tensor at once: work on it in chunks, or use a fused operator that never holds it (for attention torch.nn.functional.scaled_dot_product_attention).',
});
const SHARE_MODEL = all({
  offload:
    'Keep the second copy on the CPU, or in bf16 without gradients, and move it to the GPU only while it is used.',
  'share-model':
    'Use one set of weights for both: adapters that you switch off for the reference model, or its outputs computed once before training.',
});
const OTHERS: Texts = {
  'free-the-device':
    'Run nvidia-smi (rocm-smi, xpu-smi) to see who uses the GPU; end stale processes, or choose another GPU with CUDA_VISIBLE_DEVICES.',
};
const OUTSIDE_LIMIT = some({
  'free-the-device':
    'Look for a limit outside PyTorch: the memory of the container, job or WSL, the Windows page file, pinned memory (ulimit -l), a largest size per allocation (4 GiB on some Intel GPUs).',
});
const RECORD_MORE = some({
  'record-more':
    'Call torch.cuda.memory._record_memory_history() before the model is built, and dump at the error: then the file shows what happened over time.',
});
const TO_CPU =
  'If you need the tensors, move each to the CPU as it comes: outputs.append(output.detach().cpu()). On the GPU, a slice keeps its whole tensor: clone() it.';
const NO_GRAD =
  'Run evaluation and inference under torch.inference_mode(), or torch.no_grad() where its tensors enter autograd later: model.eval() alone does not stop the graph.';

const NO_GRAPH = all({ 'no-grad': NO_GRAD });
const DETACH = all({
  detach:
    'Keep numbers, not tensors with their graph: total += loss.item(), or output.detach() for what you collect.',
});
const SOME_NO_GRAD = all({
  'no-grad': 'If no gradient is needed there, wrap it in torch.no_grad().',
});

const OF_CAUSE: { readonly [C in Cause]?: readonly Idea[] } = {
  none: [],
  kept: all({
    detach:
      'Find the list, dictionary, attribute or cache (functools.lru_cache) that holds them, and empty or bound it (deque(maxlen=...)).',
    'to-cpu': TO_CPU,
  }),
  growing: [
    ...all({
      'to-cpu':
        'Move each piece to the CPU as it comes, and join the pieces there once at the end.',
    }),
    ...some({
      'bound-cache':
        'If it has to stay on the GPU, allocate its full size once and fill it by slices, so that no copy is made.',
    }),
  ],
  collectives: some({
    'fewer-groups':
      'Use fewer process groups: each communicator has buffers of its own, even while it is idle. Share groups that have the same ranks, and end those you no longer need with torch.distributed.destroy_process_group(group).',
    'smaller-collectives':
      'Make the buffers of NCCL smaller: NCCL_BUFFSIZE=1048576 (4 MiB is the default), NCCL_MAX_CTAS=8, or NCCL_NVLS_ENABLE=0 with NVLink switches. Collectives may then be slower.',
  }),
  'process-rest': some({
    'lean-process':
      'Look at what else this process loads: JAX and TensorFlow take most of the GPU unless told otherwise (XLA_PYTHON_CLIENT_PREALLOCATE=false, TF_FORCE_GPU_ALLOW_GROWTH=true), each CUDA graph has memory of its own, and NCCL has buffers for each group.',
  }),
  pools: some({
    'share-pool':
      'Let graphs that never run at the same time share one pool, the largest captured first: torch.cuda.graph(graph, pool=first.pool()). Copy what a replay returns before the next one.',
    'repeat-sizes':
      'Capture fewer shapes: pad to a few lengths or batch sizes, and replay the next larger graph.',
  }),
  'pending-free': all({
    'wait-for-streams':
      'Synchronize the side stream sooner (stream.wait_stream, event.synchronize) in place of record_stream, so that freed blocks can be used again. With FSDP set limit_all_gathers=True.',
  }),
};

/** For known patterns, these come in place of those of the cause. */
const OF_PATTERN: { readonly [P in Pattern]?: readonly Idea[] } = {
  'evaluation-gathers': all({
    'to-cpu':
      'Move the outputs of each batch to the CPU: in transformers set eval_accumulation_steps, elsewhere outputs.append(output.cpu()).',
    'one-tensor':
      'Keep less of each output: preprocess_logits_for_metrics (argmax in place of all logits), or update the metric batch by batch.',
  }),
  'state-not-detached': all({
    detach:
      "Detach the state before the next step, hidden = hidden.detach(): each step's backward now runs through all steps before it. item() on the loss does not help.",
  }),
  'kept-exceptions': all({
    'clear-exceptions':
      'Keep str(error), not the exception: its traceback holds the local variables of the call that failed. Retry after the except block, not in it.',
  }),
  'retained-graph': all({
    detach:
      'Keep numbers, not tensors with their graph (total += loss.item()), and call backward() without retain_graph=True: it keeps what backward would free.',
  }),
  'kept-numbers': all({
    detach: 'Keep numbers, not tensors: total += loss.item(), or losses.append(loss.item()).',
  }),
  'kept-copies': all({
    detach:
      'Keep the last or best copy only, or save it to disk with torch.save: each copy of a model or of its state takes as much as the first.',
    'to-cpu':
      'Or copy to the CPU: {name: tensor.cpu() for name, tensor in model.state_dict().items()}.',
  }),
  'kept-by-hook': all({
    'remove-hook':
      'Call handle.remove() on the handle of the hook when it has captured enough, or let it overwrite its last capture.',
    'to-cpu': TO_CPU,
  }),
  'kept-gradients': all({
    'remove-hook':
      'Look for what sees gradients: register_full_backward_hook, tensor.register_hook, retain_grad(), lists of p.grad. Keep numbers (grad.norm().item()), and remove the hook when it has seen enough.',
    'to-cpu': TO_CPU,
  }),
  'optimizer-history': all({
    'reuse-optimizer':
      'Keep a shorter history: torch.optim.LBFGS(history_size=10) instead of 100, the default. Each iteration of it takes two copies of the gradients.',
  }),
  'kept-optimizers': all({
    'reuse-optimizer':
      'Make the optimizer once, before the loop, and keep no old ones (a list, a history, copies of state_dict()).',
  }),
  'unbounded-cache': all({
    'bound-cache':
      'Bound the cache: functools.lru_cache(maxsize=32), or a dictionary that drops its oldest entry.',
  }),
  'logits-in-loss': some({
    'chunked-loss':
      'Compute the loss in chunks of tokens, or use a fused cross-entropy that never holds the logits of the whole batch (Liger Kernel, torchtune).',
    'batch-size': 'Halve the batch or the sequence length: this one request halves with it.',
  }),
  'whole-graph': some({
    sampling:
      'Train on sampled neighborhoods (torch_geometric.loader.NeighborLoader, ClusterLoader) in place of the whole graph at once.',
  }),
  'larger-batch': some({
    'check-batch':
      'Print the shapes that this line hands to the model: this batch or sequence is larger than all before. Cap the length, or sort batches by length.',
  }),
  'evaluation-without-no-grad': NO_GRAPH,
  'resident-data': [
    ...all({
      'to-cpu':
        'Keep the data in CPU memory and move each batch to the GPU: batch.to(device, non_blocking=True) from pinned memory. Parts that read the same file, such as those for training and validation, may share it.',
    }),
    ...some({
      'lower-precision':
        'Store it in a smaller type (int32 or uint8 in place of int64, bfloat16), or sparse if most of it is zero.',
    }),
  ],
  'line-scratch': all({
    'one-tensor':
      'Compute it in chunks of rows, or without tensors of all pairs: torch.cdist or a matrix product in place of (a[:, None] - b[None]) ** 2.',
  }),
  'larger-part': some({
    'batch-size':
      'Use a smaller batch there: without a backward pass, results do not depend on it.',
  }),
  'waiting-graphs': all({
    'backward-each':
      'Call backward() after each forward pass, with the loss divided by their number: gradients add up, and one graph at a time is there.',
  }),
  'stepped-up': some({
    'check-batch':
      'Print the shapes that reach this line before and after the step: a larger batch, a longer sequence, more tokens for one expert.',
  }),
  'segments-retaken': some({
    'repeat-sizes':
      'Make sizes repeat, so that cached segments can serve the next request, and leave out torch.cuda.empty_cache() if the loop calls it.',
  }),
};
