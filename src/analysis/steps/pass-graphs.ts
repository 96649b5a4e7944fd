/**
 * Whether a forward pass keeps its graph, and what becomes of it: used by a backward, dropped unused, or still there.
 *
 *   training     pass, 51 of 203 tensors live at its end    backward frees them     used
 *   evaluation   pass, 51 of 203 tensors live at its end    dropped by the loop     unused
 */
import { type AllocationIndex, NEVER } from '../../allocator/replay/types.ts';
import { upperBound } from '../../base/binary-search.ts';
import { countOne, sumBy } from '../../base/collections.ts';
import { formatCount, plural } from '../../base/format.ts';
import { GRAPH_SHARE, OUTPUTS } from '../../device/classes/passes.ts';
import { Evidence, MemoryClass } from '../../device/classes/types.ts';
import type { EventIndex, StackIndex } from '../../format/snapshot/tables.ts';
import { seenOoms } from '../account/moment.ts';
import type { AnalysisInput } from '../findings/analysis-input.ts';
import { type ForwardRun, forwardRuns, MIN_ALLOCATIONS } from './forward-runs.ts';

/** Fewer are enough if they have half of the bytes: a pass may make many small temporaries. */
const FEW_SHARE = 0.25;
export const evidentRuns = (context: AnalysisInput): ForwardRun[] =>
  context.once(forwardRuns).filter(({ allocations }) => allocations >= MIN_ALLOCATIONS);

/** `@torch.no_grad()` and `@torch.inference_mode()` call the function from PyTorch's `decorate_context`. */
export function isUnderNoGrad({ input: { stacks } }: AnalysisInput, call: StackIndex): boolean {
  return [...stacks.frames(call)].some((frame) => stacks.frame(frame).name === 'decorate_context');
}

/**
 * Whether an event is under no_grad(), or passes were made before it and none of them kept a graph: of its own call or,
 * beside training, the last ones.
 */
export function isInference(context: AnalysisInput, event: EventIndex): boolean {
  const { classifier, input } = context;
  const stack = input.trace.events.stack[event];
  if (isUnderNoGrad(context, stack)) return true;
  const { start } = input.replay.allocations;
  const whole = context
    .once(evidentRuns)
    .filter(({ isCutOff, last }) => !isCutOff && start[last] < event);
  const isTrained = classifier.isBackward(stack) || classifier.isOptimizer(stack);
  if (whole.length === 0 || (context.isTraining && isTrained)) return false;
  const own = whole.filter(({ call }) => call === classifier.moduleCall(stack));
  const last = own.length > 0 ? own : whole.slice(-1);
  const judged = context.isTraining ? last : whole;
  return !judged.some((run) => keepsGraph(context, run));
}

/** '9 calls of modules from your code with 8 allocations or more: 8 kept a graph until a backward came, 1 ran out of memory.' */
export function checkedText(context: AnalysisInput, runs: readonly ForwardRun[]): string {
  const counts = new Map<string, number>(Object.values(BECAME).map((text) => [text, 0]));
  for (const run of runs) countOne(counts, BECAME[whatBecameOf(context, run, run === runs.at(-1))]);
  const texts = [...counts].flatMap(([text, count]) =>
    count > 0 ? `${formatCount(count)} ${text}` : [],
  );
  // What frees in between divide may be one pass: its number is not known.
  const isDivided = runs.some(({ call, first }, i) => {
    const before = runs[i - 1];
    return before?.call === call && before.last === first - 1;
  });
  const counted = isDivided
    ? `${plural(runs.length, 'stretch', 'stretches')} of module calls`
    : `${plural(runs.length, 'call')} of modules from your code with ${MIN_ALLOCATIONS} allocations or more`;
  return `${counted}: ${texts.join(', ')}.`;
}

/** What became of a pass's graph, in the order of the text. */
const BECAME = {
  used: 'kept a graph until a backward came',
  staying: 'kept a graph that is still there at the end, with or without a backward',
  unused: 'kept a graph that no backward used, too little or too rarely to matter',
  some: 'kept some tensors, with or without a graph',
  none: 'kept no graph',
  failed: 'ran out of memory, with or without a backward to come',
  last: 'came last, so a backward may have followed',
} as const;

function whatBecameOf(
  context: AnalysisInput,
  run: ForwardRun,
  isLast: boolean,
): keyof typeof BECAME {
  const { evidenceOf } = context.classification;
  const has = (evidence: Evidence) => run.kept.some((id) => evidenceOf[id] === evidence);
  // After an OOM, the last one's own backward may have been cut off.
  const isCutByOom = isLast && seenOoms(context).length > 0;
  const isGraph = keepsGraph(context, run);
  if (run.oom !== undefined && (isGraph || isInPass(context, run, run.oom))) return 'failed';
  if (run.isCutOff && isGraph) return 'last';
  if (isGraph && !isCutByOom && staysToTheEnd(context, run)) return 'staying';
  if (has(Evidence.FreedInBackward)) return 'used';
  if (has(Evidence.GraphFreed)) return 'unused';
  if (isGraph && isMostlyUnused(run)) return isCutByOom ? 'failed' : 'unused';
  if (isGraph) return 'used';
  const isOutput = (id: AllocationIndex) => id > run.last - OUTPUTS;
  return isUnderNoGrad(context, run.call) || run.kept.every(isOutput) ? 'none' : 'some';
}

/** What fails in a later line, such as torch.cat(outputs), is not of a pass that keeps no graph. */
function isInPass({ classifier, input }: AnalysisInput, { call }: ForwardRun, oom: EventIndex) {
  const stack = input.trace.events.stack[oom];
  return classifier.isBackward(stack) || classifier.moduleCall(stack) === call;
}

/** A backward followed, but it may have been of another pass. */
function staysToTheEnd({ input }: AnalysisInput, { kept, keptBytes, output }: ForwardRun): boolean {
  const { freeRequested, sizeBytes } = input.replay.allocations;
  // An output that is kept is no graph: `frames.append(fake.detach())`.
  const left = kept.filter((id) => id !== output && freeRequested[id] === NEVER);
  return sumBy(left, (id) => sizeBytes[id]) > (keptBytes - (sizeBytes[output] ?? 0)) / 2;
}

export function keepsGraph(context: AnalysisInput, run: ForwardRun): boolean {
  const { keptCount, allocations, keptBytes, bytes } = run;
  if (keptCount < MIN_ALLOCATIONS / 2) return false;
  const usual = context.once(usualGraph);
  const isUsual =
    usual !== undefined &&
    keptCount * usual.allocations >= LIKE_SHARE * usual.keptCount * allocations &&
    keptBytes * usual.bytes >= LIKE_BYTES * usual.keptBytes * bytes;
  if (isUsual) return true;
  const isMostOfBytes = keptCount >= FEW_SHARE * allocations && keptBytes >= bytes / 2;
  return keptCount >= GRAPH_SHARE * allocations || isMostOfBytes || isUsedInBackward(run);
}

/** Of what a pass keeps that is known to keep its graph. */
const LIKE_SHARE = 0.8;
/** An evaluation has no dropout, whose masks and outputs are large. */
const LIKE_BYTES = 0.4;

/** The largest pass whose graph a backward used. It may keep 51 of 203 tensors: the rest are made and dropped. */
function usualGraph(context: AnalysisInput): ForwardRun | undefined {
  const { evidenceOf } = context.classification;
  const used = context
    .once(evidentRuns)
    .filter(
      (run) =>
        run.keptCount >= USUAL_SHARE * run.allocations &&
        run.oom === undefined &&
        !isMostlyUnused(run) &&
        run.kept.some((id) => evidenceOf[id] === Evidence.FreedInBackward),
    );
  return used.reduce<ForwardRun | undefined>(
    (largest, run) => (run.allocations > (largest?.allocations ?? 0) ? run : largest),
    undefined,
  );
}

/** Without a graph a pass keeps less: its output, its caches. */
const USUAL_SHARE = 0.2;

/** Whatever else the pass made: a backward came at once, and what was kept lived until then. */
const isUsedInBackward = (run: ForwardRun): boolean =>
  run.ownBackward !== undefined && !isMostlyUnused(run);

export const isUnusedGraph = (context: AnalysisInput, run: ForwardRun): boolean =>
  keepsGraph(context, run) && !run.isCutOff && isMostlyUnused(run) && !isUsedInPart(context, run);

export const isUsedGraph = (context: AnalysisInput, run: ForwardRun): boolean =>
  keepsGraph(context, run) && !run.isCutOff && !isMostlyUnused(run);

/** Its backward came: what that did not use is of a model inside the model, such as a teacher. */
const isUsedInPart = ({ classification }: AnalysisInput, { ownBackward, kept }: ForwardRun) =>
  ownBackward !== undefined && kept.some((id) => USED.has(classification.evidenceOf[id]));
const USED: ReadonlySet<Evidence> = new Set([Evidence.FreedInBackward, Evidence.LiveUntilBackward]);

const isMostlyUnused = ({ keptBytes, unusedBytes, lateBytes }: ForwardRun): boolean =>
  unusedBytes > (keptBytes - lateBytes) / 2;

/** The gradients that backward passes begin with, ascending. */
function firstGradients({ classifier, input }: AnalysisInput): AllocationIndex[] {
  const found: AllocationIndex[] = [];
  input.replay.allocations.stack.forEach((own, id) => {
    if (classifier.isFirstGradient(own)) found.push(id);
  });
  return found;
}

/** The gradient that the last backward() up to an allocation began with: its stack has the line that called it. */
export function beginOfBackward(
  context: AnalysisInput,
  id: AllocationIndex,
): AllocationIndex | undefined {
  const begins = context.once(firstGradients);
  return begins[upperBound(begins, id) - 1];
}

/** What backward passes made up to an event, from an allocation on, that autograd may go through again. */
export function madeInBackward(
  context: AnalysisInput,
  first: AllocationIndex,
  end: EventIndex,
): AllocationIndex[] {
  const { start, stack, length } = context.input.replay.allocations;
  const { classOf } = context.classification;
  const made: AllocationIndex[] = [];
  for (let id = first; id < length && start[id] <= end; id++) {
    const isActivation = classOf[id] === MemoryClass.Activations;
    if (isActivation && context.classifier.isBackward(stack[id])) made.push(id);
  }
  return made;
}
