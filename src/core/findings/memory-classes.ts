/**
 * What live memory is: parameters, gradients, activations and so on. PyTorch records no such thing, so
 * it is inferred from the stack and the lifetime; each class says its rule, and what no rule fits
 * is called unknown.
 */
import { liveAt } from '../replay/live-at.ts';
import { type AllocationIndex, NEVER } from '../replay/types.ts';
import type { EventIndex } from '../snapshot/tables.ts';
import type { AnalysisContext } from './analysis-context.ts';
import { BackwardPasses } from './steps/backward-passes.ts';

const MEMORY_CLASSES = [
  'parameters',
  'gradients',
  'optimizer-state',
  'activations',
  'inputs',
  'temporaries',
  'workspaces',
  'unknown',
] as const;
export type MemoryClass = (typeof MEMORY_CLASSES)[number];

const CLASS_RULES: Readonly<Record<MemoryClass, { label: string; rule: string }>> = {
  parameters: {
    label: 'parameters and buffers',
    rule: 'allocated while a module was built, loaded or moved',
  },
  gradients: { label: 'gradients', rule: 'allocated in backward, and outlived it' },
  'optimizer-state': {
    label: 'optimizer state',
    rule: 'allocated in the optimizer, and outlived the next backward',
  },
  activations: {
    label: 'activations',
    rule: 'allocated in forward, and live until backward, the next forward or the end',
  },
  inputs: {
    label: 'inputs, targets and others',
    rule: 'allocated outside modules and the optimizer',
  },
  temporaries: {
    label: 'temporaries',
    rule: 'freed before the pass that made them went on to something else',
  },
  workspaces: {
    label: 'kept over several steps (workspaces, caches or a leak)',
    rule: 'allocated in forward, and outlived several backward passes',
  },
  unknown: { label: 'unknown', rule: 'no stack, or from before the recording' },
};

export interface ClassSum {
  readonly name: MemoryClass;
  readonly label: string;
  readonly rule: string;
  bytes: number;
  count: number;
}

/** Largest first; classes that hold nothing are left out. */
export function classesAt(context: AnalysisContext, event: EventIndex): ClassSum[] {
  const { sizeBytes } = context.input.replay.allocations;
  const passes = new BackwardPasses(context);
  const sums = new Map<MemoryClass, ClassSum>();
  for (const id of liveAt(context.input.replay.allocations, event)) {
    const name = classOf(context, passes, id);
    const sum = sums.get(name) ?? { name, ...CLASS_RULES[name], bytes: 0, count: 0 };
    sums.set(name, sum);
    sum.bytes += sizeBytes[id];
    sum.count++;
  }
  return [...sums.values()].sort((a, b) => b.bytes - a.bytes);
}

/** Events within which a tensor that backward does not need is gone. */
const SHORT_EVENTS = 64;

function classOf(
  { classifier, input }: AnalysisContext,
  passes: BackwardPasses,
  id: AllocationIndex,
): MemoryClass {
  const table = input.replay.allocations;
  const stack = table.stack[id];
  const start = table.start[id];
  const end = table.freeRequested[id];
  if (id < table.preexisting && stack <= 0) return 'unknown';
  if (classifier.isBackward(stack)) {
    return end > (passes.nextEnd(start) ?? NEVER) || end === NEVER ? 'gradients' : 'temporaries';
  }
  if (!classifier.hasPython(stack)) return 'unknown';
  const backward = passes.nextBegin(start);
  if (classifier.isOptimizer(stack)) {
    return end > (backward ?? NEVER - 1) ? 'optimizer-state' : 'temporaries';
  }
  if (classifier.isBuilding(stack)) return 'parameters';
  if (end - start <= SHORT_EVENTS && (backward === undefined || end < backward))
    return 'temporaries';
  if (!classifier.isForward(stack)) return 'inputs';
  return isPermanent(passes, start, end) ? 'workspaces' : 'activations';
}

/** Two whole backward passes later it is no activation of the first. */
function isPermanent(passes: BackwardPasses, start: EventIndex, end: EventIndex): boolean {
  let after: EventIndex | undefined = start;
  for (let i = 0; i < 2 && after !== undefined; i++) after = passes.nextEnd(after);
  return after !== undefined && end > after;
}
