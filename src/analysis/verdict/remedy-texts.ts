/** What each remedy says, by what it is for. */
import type { Cause, Pattern, RemedyId } from './types.ts';

/** A remedy before it is compared with the missing bytes; 'all' means all bytes of the cause. */
export interface Idea {
  readonly id: RemedyId;
  readonly text: string;
  readonly saves: number | 'all' | undefined;
}

export type Texts = { readonly [Id in RemedyId]?: string };

export const ideas = (saves: Idea['saves'], texts: Texts): Idea[] =>
  Object.entries(texts).map(([id, text]) => ({ id: id as RemedyId, text, saves }));
/** Each gives back all bytes of the cause. */
const all = (texts: Texts) => ideas('all', texts);
/** How much they give back is not known. */
const some = (texts: Texts) => ideas(undefined, texts);

export const SMALLER_BATCH: Texts = {
  'batch-size':
    'Halve the batch size and accumulate gradients over two (if activations grow with the batch).',
};
export const LESS_AT_ONCE: Texts = {
  'batch-size': 'Halve what runs at once: fewer samples, shorter sequences, or images in tiles.',
};
export const CHECKPOINTING: Texts = {
  checkpointing:
    'Checkpoint each block (torch.utils.checkpoint), if there are several, for a third more compute.',
};
export const LOWER_PRECISION: Texts = {
  'lower-precision':
    "Run the forward pass under bf16 autocast, if it runs in float32 now (a recording doesn't show that).",
};

export const SPARSE: Texts = {
  'sparse-gradients':
    'Make the embedding with sparse=True and train it with SparseAdam or SGD: then only the rows that a batch uses have a gradient.',
};
export const ADAPTERS: Texts = {
  adapters: 'Train adapters (LoRA): frozen weights need no state and no gradients.',
};
/** For a process that hit its own limit, not the end of the device. */
export const RAISE_LIMIT = some({
  'raise-limit':
    'Raise or remove torch.cuda.set_per_process_memory_fraction, if the rest of the GPU is yours.',
});
export const EXPANDABLE = all({
  'expandable-segments':
    'Set PYTORCH_ALLOC_CONF=expandable_segments:True (PYTORCH_CUDA_ALLOC_CONF in older versions) before the program starts: gaps then close up.',
});
export const REPEAT_SIZES = some({
  'repeat-sizes':
    'Make sizes repeat: pad to a few lengths, drop the last smaller batch, run the largest batch first. Allocate what lives long before the loop, not between big temporaries.',
});
export const ONE_TENSOR = some({
  'one-tensor':
    'Do not make this tensor at once: work on it in chunks, or use a fused operator that never holds it (for attention torch.nn.functional.scaled_dot_product_attention).',
});
export const SHARE_MODEL = all({
  offload:
    'Keep the second copy on the CPU, or in bf16 without gradients, and move it to the GPU only while it is used.',
  'share-model':
    'Use one set of weights for both: adapters that you switch off for the reference model, or its outputs computed once before training.',
});
export const OTHERS: Texts = {
  'free-the-device':
    'Run nvidia-smi (rocm-smi, xpu-smi) to see who uses the GPU; end stale processes, or choose another GPU with CUDA_VISIBLE_DEVICES.',
};
export const OUTSIDE_LIMIT = some({
  'free-the-device':
    'Look for a limit outside PyTorch: the memory of the container, job or WSL, the Windows page file, pinned memory (ulimit -l), a largest size per allocation (4 GiB on some Intel GPUs).',
});
export const RECORD_MORE = some({
  'record-more':
    'Call torch.cuda.memory._record_memory_history() before the model is built, and dump at the error: then the file shows what happened over time.',
});
const TO_CPU =
  'If you need the tensors, move each to the CPU as it comes: outputs.append(output.detach().cpu()). On the GPU, a slice keeps its whole tensor: clone() it.';
const NO_GRAD =
  'Run evaluation and inference under torch.inference_mode(), or torch.no_grad() where its tensors enter autograd later: model.eval() alone does not stop the graph.';

export const NO_GRAPH = all({ 'no-grad': NO_GRAD });
export const DETACH = all({
  detach:
    'Let no graph outlive its iteration: keep numbers (total += loss.item()), detach what you collect (output.detach()) and a state that goes into the next one (hidden.detach()).',
});
export const SOME_NO_GRAD = all({
  'no-grad': 'If no gradient is needed there, wrap it in torch.no_grad().',
});

export const OF_CAUSE: { readonly [C in Cause]?: readonly Idea[] } = {
  none: [],
  kept: all({
    detach:
      'Find what holds them: a list, dictionary, attribute, cache (functools.lru_cache) or forward hook, to be emptied, bounded (deque(maxlen=...)) or removed, or, if gc.collect() frees them, a cycle of references, to be broken.',
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

/** Graphs of passes that are over, which nothing collects. */
export const DROP_GRAPHS = all({
  detach:
    'Drop what holds a graph (del loss, out) before the next pass, detach() what one pass hands to the next, and leave out retain_graph=True and, unless a second derivative is taken, create_graph=True.',
});

/** For known patterns, these come in place of those of the cause. */
export const OF_PATTERN: { readonly [P in Pattern]?: readonly Idea[] } = {
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
      'Keep numbers, not tensors with their graph (total += loss.item()), detach a state that goes into the next step (hidden.detach()), leave out retain_graph=True and, unless a second derivative is taken, create_graph=True, which keep what backward would free, and let no hook collect what it is given (saved_tensors_hooks).',
  }),
  'created-graph': all({
    detach:
      'Leave out create_graph=True there. If a second derivative is needed, take the first with torch.autograd.grad(), and keep no gradient that has a graph: a .grad that has one is in a cycle with it, which nothing frees in time.',
  }),
  'kept-numbers': all({
    detach:
      'If nothing computes with them on the GPU later, keep numbers, not tensors: total += loss.item(), or losses.append(loss.item()).',
  }),
  'kept-copies': all({
    detach:
      'Keep only the copies that you use (the last, the best, the few that you average), or save them to disk with torch.save: each copy of a model or of its state takes as much as the first.',
    'to-cpu':
      'Or keep of each only its state, on the CPU, and not the model: {name: tensor.cpu() for name, tensor in model.state_dict().items()}.',
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
  'kept-weight-gradients': all({
    'clear-gradients':
      'Gradients of weights stay as long as their model: keep fewer models, or call model.zero_grad(set_to_none=True) on each that is kept. Of a list of p.grad, keep numbers (grad.norm().item()) or copies on the CPU.',
  }),
  'optimizer-history': all({
    'reuse-optimizer':
      'Keep a shorter history: torch.optim.LBFGS(history_size=10) instead of 100, the default. Each iteration of it takes two copies of the gradients.',
  }),
  'kept-optimizers': all({
    'reuse-optimizer':
      'Keep no old optimizer: neither itself (a list, a history, copies of state_dict()) nor in a model or trainer that is kept. Within one training, make it once, before the loop.',
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
      'Print the shapes that this line hands to the model: this batch or sequence is larger than all before. Cap what grew (the length, or the objects of one sample), or sort batches by it.',
  }),
  'larger-pass': some({
    'check-batch':
      'Print how long its inputs are, with what earlier passes hand to it, and how often its loops run (the steps of a solver, of a recurrence): its tensors are more or larger than those of any pass before. Cap what grows.',
  }),
  'evaluation-without-no-grad': NO_GRAPH,
  'resident-data': [
    ...all({
      'to-cpu':
        'Keep the data in CPU memory and move each batch to the GPU: batch.to(device, non_blocking=True) from pinned memory.',
    }),
    ...some({
      'lower-precision':
        'Store it in a smaller type (int32 or uint8 in place of int64, bfloat16), or sparse if most of it is zero.',
    }),
  ],
  'loaded-data': all({
    'to-cpu':
      'Cut, convert and normalize the data on the CPU, and move only the result. A slice on the GPU keeps its whole tensor: clone() what stays.',
  }),
  'piled-up': all({
    'to-cpu':
      'If they wait in a queue, limit it: queue.Queue(maxsize=2). Else keep only what is needed of each: a number (.item()), a smaller tensor of its own (.clone() of a slice), or a copy on the CPU.',
  }),
  'line-scratch': all({
    'one-tensor':
      'Compute it in chunks of rows. If it takes differences of all pairs, (a[:, None] - b[None]) ** 2, torch.cdist needs one number for each pair instead of one for each coordinate.',
  }),
  'untrained-part': some({
    'no-grad':
      'Freeze what is not trained: parameter.requires_grad_(False) for each of its parameters, or run it under torch.no_grad(). What is trained behind it keeps its own activations.',
  }),
  'larger-part': some({
    'batch-size':
      'Use a smaller batch there: without a backward pass, results do not depend on it.',
  }),
  'long-loop': some({
    'shorter-loop':
      "Check how often it has to turn. Over padded sequences: no further than the batch's longest (sort by length, pack_padded_sequence, mask by the true lengths). Over long ones: backward in pieces, detaching the state after each.",
    checkpointing:
      'Or recompute each turn in backward: torch.utils.checkpoint.checkpoint(step, *inputs, use_reentrant=False).',
  }),
  'waiting-graphs': all({
    'backward-each':
      'Unless the passes need each other, call backward() after each: gradients add up, and one graph at a time is there. Divide a loss that is a mean by their number.',
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
