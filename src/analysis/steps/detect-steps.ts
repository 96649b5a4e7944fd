/** The program's steps: from profiler annotations, the optimizer's own allocations, or loops in the call stacks. */
import { upperBound } from '../../base/binary-search.ts';
import { getOrMake, groupBy, sumBy } from '../../base/collections.ts';
import { annotationSpans } from '../../device/model/annotations.ts';
import type { AnnotationSpan } from '../../device/model/types.ts';
import type { EventIndex, StackIndex } from '../../format/snapshot/tables.ts';
import type { AnalysisInput } from '../findings/analysis-input.ts';
import { findLoops } from './loops.ts';
import { MIN_STEPS, type StepSequence, stepCount } from './step-sequence.ts';

/** The most reliable first. Each is computed on request: a caller that needs one doesn't wait for the loops. */
export function* detectSteps(context: AnalysisInput): Generator<StepSequence, void> {
  if (!context.hasTrace) return;
  for (const sequence of candidates(context)) {
    if (sequence !== undefined && stepCount(sequence) >= MIN_STEPS) yield sequence;
  }
}

function* candidates(context: AnalysisInput): Generator<StepSequence | undefined, void> {
  const groups = annotationGroups(context);
  const ranges = fromAnnotations(groups, (name) => !isPyTorchRange(name));
  const optimizer = fromOptimizerRanges(context, groups) ?? fromOptimizerStacks(context);
  // Ranges not named as steps may lie inside them: the 'forward' of each of four micro-batches.
  yield* ranges?.isNamedStep === false ? [optimizer, ranges] : [ranges, optimizer];
  yield fromAnnotations(groups, (name) => LOADER_RANGE.test(name));
  yield* findLoops(context);
}

/** PyTorch itself annotates every optimizer: 'Optimizer.step#AdamW.step', and zero_grad likewise. */
const OPTIMIZER_RANGE = /^Optimizer\.step#/;
const ANY_OPTIMIZER_RANGE = /^Optimizer\./;
/** It also annotates every batch fetch, in training and validation alike: 'enumerate(DataLoader)#…'. */
const LOADER_RANGE = /^enumerate\(DataLoader\)/;
/**
 * PyTorch's other annotations happen inside a step: 'nccl:all_to_all', 'FSDP::pre_forward', 'aten::mm',
 * 'DataParallel.forward', 'Torch-Compiled Region: 0/0', '## Call CompiledFxGraph …'.
 */
const PYTORCH_RANGE =
  /^((aten|c10d|prims|autograd|inductor|FSDP)::|(nccl|gloo|mpi|ucc|xccl):|(Distributed)?DataParallel\.|Torch-Compiled Region|CompiledFunction|## Call CompiledFxGraph)/;

function isPyTorchRange(name: string): boolean {
  return ANY_OPTIMIZER_RANGE.test(name) || LOADER_RANGE.test(name) || PYTORCH_RANGE.test(name);
}

type Groups = ReadonlyMap<string, readonly AnnotationSpan[]>;

/** Groups ranges whose names differ only in numbers: 'ProfilerStep#1', 'ProfilerStep#2'. */
function annotationGroups({ input }: AnalysisInput): Groups {
  return groupBy(annotationSpans(input), ({ name }) =>
    ANY_OPTIMIZER_RANGE.test(name) ? name : name.replace(/\d+/g, '…'),
  );
}

interface Ranges {
  readonly score: number;
  readonly key: string;
  readonly spans: readonly AnnotationSpan[];
  /** Numbered, or called a step. */
  readonly isNamedStep: boolean;
}

/**
 * The user's or the profiler's own ranges. Those numbered ('## step 3 ##') or called a step come first; among several,
 * those that cover the most time. Overlapping ranges come from nested calls.
 */
function fromAnnotations(
  groups: Groups,
  isWanted: (name: string) => boolean,
): (StepSequence & { readonly isNamedStep: boolean }) | undefined {
  let best: Ranges | undefined;
  for (const [key, spans] of groups) {
    if (spans.length < MIN_STEPS || !isWanted(key)) continue;
    if (!spans.every((span, i) => i === 0 || span.startEvent >= spans[i - 1].endEvent)) continue;
    const covered = sumBy(spans, ({ startUs, endUs }) => endUs - startUs);
    const isNumbered = new Set(spans.map(({ name }) => name)).size > spans.length / 2;
    const isNamedStep = isNumbered || /step|iter|batch/i.test(key);
    const score = covered * (isNamedStep ? 4 : 1);
    if (best === undefined || score > best.score) best = { score, key, spans, isNamedStep };
  }
  if (best === undefined) return undefined;
  const { key, spans, isNamedStep } = best;
  return {
    source: 'annotation',
    description: `the ranges annotated “${key}”`,
    unit: LOADER_RANGE.test(key) ? 'batch' : /step|iter/i.test(key) ? 'step' : `“${key}” range`,
    bounds: ascending([
      ...spans.map(({ startEvent }) => startEvent - 1),
      spans[spans.length - 1].endEvent - 1,
    ]),
    row: 0,
    loop: undefined,
    firstIsOpen: false,
    isNamedStep,
  };
}

/** A step ends with the optimizer. If a loop has two (a GAN), the busier one counts; of two as busy, the later. */
function fromOptimizerRanges(context: AnalysisInput, groups: Groups): StepSequence | undefined {
  const calls = [...groups].flatMap(([key, spans]) => (OPTIMIZER_RANGE.test(key) ? [spans] : []));
  const [best = []] = calls.sort((a, b) => b.length - a.length);
  // One that began before the oldest event ends no step that is here.
  const ends = best.flatMap(({ startUs, endEvent }) =>
    endEvent > 0 && startUs >= 0 ? endEvent - 1 : [],
  );
  const own = lastOfEach(context, ends);
  const sequence = optimizerSequence(own, 0);
  return own === ends ? sequence : sequence && { ...sequence, description: LATER_OPTIMIZER };
}

const LATER_OPTIMIZER = 'the later of two calls of optimizers that take turns';
/** Share of the later optimizer's calls that come right after one of the other's, for the two to take turns. */
const TURN_SHARE = 0.8;

/**
 * Two optimizers of one class share a name, so what they allocate tells them apart: if two lines take turns, a step ends
 * with the second of them. Unchanged if there is one line, if one follows the other, or if an optimizer allocates
 * nothing.
 *
 *     discriminator, generator | discriminator, generator | …
 */
function lastOfEach(context: AnalysisInput, ends: readonly EventIndex[]): readonly EventIndex[] {
  const [a, b, third] = [...optimizerCalls(context).values()];
  if (b === undefined || third !== undefined) return ends;
  const later = a[0] < b[0] ? b : a;
  const isLater = ends.map((end, i) => {
    const own = later[upperBound(later, end) - 1] ?? -1;
    return own > (ends[i - 1] ?? -1);
  });
  const own = ends.filter((_, i) => isLater[i]);
  const turns = own.length - sumBy(isLater.keys(), (i) => Number(isLater[i] && isLater[i - 1]));
  const isTurns = turns >= TURN_SHARE * own.length && 2 * own.length >= TURN_SHARE * ends.length;
  return isTurns ? own : ends;
}

/** Adam and others allocate temporaries whenever they run: a run of such allocations ends a step. */
function fromOptimizerStacks(context: AnalysisInput): StepSequence | undefined {
  const calls = [...optimizerCalls(context)].sort(([, a], [, b]) => b.length - a.length);
  const [[row, ends] = [0, []]] = calls;
  return optimizerSequence(ends, row);
}

/** By the call of an optimizer: the last event of each run of its allocations. */
function optimizerCalls({ classifier, input }: AnalysisInput): Map<StackIndex, EventIndex[]> {
  const { allocations: table } = input.replay;
  const endsByCall = new Map<StackIndex, EventIndex[]>();
  let previous = 0;
  for (let id = table.preexisting; id < table.length; id++) {
    const call = classifier.optimizerCall(table.stack[id]);
    if (call > 0) {
      const ends = getOrMake(endsByCall, call, () => []);
      if (call === previous && ends.length > 0) ends[ends.length - 1] = table.start[id];
      else ends.push(table.start[id]);
    }
    previous = call;
  }
  return endsByCall;
}

function optimizerSequence(ends: readonly EventIndex[], row: StackIndex): StepSequence | undefined {
  if (ends.length < MIN_STEPS) return undefined;
  return {
    source: 'optimizer',
    description: 'the calls of the optimizer',
    unit: 'step',
    bounds: ascending([-1, ...ends]),
    row,
    loop: undefined,
    firstIsOpen: true,
  };
}

/** Drops steps without any event (from before a ring's oldest entry). */
function ascending(bounds: readonly EventIndex[]): Int32Array {
  return Int32Array.from(bounds.filter((bound, i) => i === 0 || bound > bounds[i - 1]));
}
