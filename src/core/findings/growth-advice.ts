/** What kept memory looks like, and the fix that belongs to it. */
import type { GrowthKind } from './growth-groups.ts';

interface Words {
  readonly looksLike: string;
  readonly advice: readonly string[];
}

export const GROWTH_WORDS: Readonly<Record<GrowthKind, Words>> = {
  'kept-graph': {
    looksLike:
      'Many sites of a forward pass keep their tensors in the same steps: an autograd graph is kept whole, most likely because something that requires grad (a loss that is summed up, an output in a list) outlives the step.',
    advice: [
      'If a loss or metric is accumulated, add its number: total += loss.item(), or loss.detach() where the synchronisation costs too much.',
      'If outputs are collected, store outputs.detach().cpu(), and run evaluation under torch.inference_mode().',
      'Drop retain_graph=True unless backward really runs twice over the same graph.',
    ],
  },
  'kept-hook': {
    looksLike:
      'The tensors are made in a function that a module calls, other than forward: a hook keeps what it captures.',
    advice: [
      'Keep the handle of register_forward_hook and call handle.remove() when enough is captured.',
      'Overwrite the last capture in place of appending, or store capture.detach().cpu().',
    ],
  },
  'kept-scalar': {
    looksLike:
      'One small tensor a time (a loss, a norm, a metric) goes into something that outlives the step. Each takes a whole 512-byte block, and its graph too if it requires grad.',
    advice: [
      'Store the number: losses.append(loss.item()), or loss.detach() in one preallocated tensor to avoid a synchronisation a step.',
      'Move what must be kept off the GPU in batches: torch.stack(losses).cpu() now and then.',
    ],
  },
  'kept-output': {
    looksLike:
      'Tensors made in a forward pass are kept, without the rest of the graph: outputs or features in a list or a cache.',
    advice: [
      'Store output.detach().cpu(), or reduce it to the numbers that are needed.',
      'If it is a cache, bound it; if it is a metric, reset it at the end of the epoch.',
    ],
  },
  'kept-gradients': {
    looksLike:
      'The tensors were allocated by backward threads, which have no Python stack: the recording cannot name the line. Gradients that are stored, create_graph=True or a tensor hook do this.',
    advice: [
      'Look for stored .grad, autograd.grad(…, create_graph=True) and register_hook on tensors.',
      'Use optimizer.zero_grad(set_to_none=True), and store gradients as g.detach().cpu().',
      "Record again with torch.cuda.memory._record_memory_history(stacks='all'): C++ frames name the backward node.",
    ],
  },
  'kept-optimizer': {
    looksLike: 'The optimizer keeps more state every step.',
    advice: [
      'Make the optimizer once, before the loop, and do not add the same parameters again (add_param_group).',
      'Do not keep copies of optimizer.state_dict(): it holds the tensors themselves.',
    ],
  },
  'kept-tensor': {
    looksLike:
      'Each time the line runs a tensor is kept: a list, a dictionary or an attribute that only grows.',
    advice: [
      'Store tensor.detach().cpu() or the number that is needed, or bound the container (collections.deque(maxlen=…)).',
      'If it requires grad it holds its graph too: detach() first.',
    ],
  },
};
