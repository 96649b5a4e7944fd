/**
 * How the program repeats itself: its steps. From the profiler's annotations where there are any,
 * from the optimizer's own allocations, and from loops seen in the call stacks.
 */
import { annotationSpans } from '../../device/annotations.ts';
import type { AnnotationSpan } from '../../device/types.ts';
import type { EventIndex, StackIndex } from '../../snapshot/tables.ts';
import { findLoops } from './loops.ts';
import {
  MIN_STEPS,
  type StepDetectionInput,
  type StepSequence,
  stepCount,
} from './step-sequence.ts';

export function detectSteps(context: StepDetectionInput): StepSequence[] {
  if (!context.hasTrace) return [];
  const groups = annotationGroups(context);
  const optimizer = fromOptimizerRanges(groups) ?? fromOptimizerStacks(context);
  const loaded = fromAnnotations(groups, true);
  return [fromAnnotations(groups, false), optimizer, loaded, ...findLoops(context)].filter(
    (sequence) => sequence !== undefined && stepCount(sequence) >= MIN_STEPS,
  ) as StepSequence[];
}

/** PyTorch annotates every optimizer by itself: 'Optimizer.step#AdamW.step', and zero_grad likewise. */
const OPTIMIZER_RANGE = /^Optimizer\.step#/;
const ANY_OPTIMIZER_RANGE = /^Optimizer\./;
/** And every fetch of a batch, for training and validation alike: 'enumerate(DataLoader)#…'. */
const LOADER_RANGE = /^enumerate\(DataLoader\)/;

type Groups = ReadonlyMap<string, readonly AnnotationSpan[]>;

/** Ranges whose names are the same but for their numbers: 'ProfilerStep#1', 'ProfilerStep#2'. */
function annotationGroups({ input }: StepDetectionInput): Groups {
  const groups = new Map<string, AnnotationSpan[]>();
  for (const span of annotationSpans(input)) {
    const key = ANY_OPTIMIZER_RANGE.test(span.name) ? span.name : span.name.replace(/\d+/g, '…');
    const spans = groups.get(key) ?? [];
    spans.push(span);
    groups.set(key, spans);
  }
  return groups;
}

/**
 * The user's or the profiler's own ranges. Numbered ones ('## step 3 ##') and those called a step go
 * first; of several, those that cover most time. Ranges that overlap are of nested calls.
 */
function fromAnnotations(groups: Groups, isLoader: boolean): StepSequence | undefined {
  let best: { score: number; key: string; spans: readonly AnnotationSpan[] } | undefined;
  for (const [key, spans] of groups) {
    if (spans.length < MIN_STEPS || ANY_OPTIMIZER_RANGE.test(key)) continue;
    if (LOADER_RANGE.test(key) !== isLoader) continue;
    if (!spans.every((span, i) => i === 0 || span.startEvent >= spans[i - 1].endEvent)) continue;
    const covered = spans.reduce((sum, { startUs, endUs }) => sum + endUs - startUs, 0);
    const isNumbered = new Set(spans.map(({ name }) => name)).size > spans.length / 2;
    const score = covered * (isNumbered || /step|iter|batch/i.test(key) ? 4 : 1);
    if (best === undefined || score > best.score) best = { score, key, spans };
  }
  if (best === undefined) return undefined;
  const { key, spans } = best;
  return {
    source: 'annotation',
    description: `the ranges annotated “${key}”`,
    bounds: ascending([
      ...spans.map(({ startEvent }) => startEvent - 1),
      spans[spans.length - 1].endEvent - 1,
    ]),
    row: 0,
    firstIsOpen: false,
  };
}

/** A step ends with the optimizer. With two of them in a loop (a GAN) the busier one counts. */
function fromOptimizerRanges(groups: Groups): StepSequence | undefined {
  let best: readonly AnnotationSpan[] = [];
  for (const [key, spans] of groups) {
    if (OPTIMIZER_RANGE.test(key) && spans.length > best.length) best = spans;
  }
  const inTrace = best.filter(({ endEvent }) => endEvent > 0);
  return optimizerSequence(
    inTrace.map(({ endEvent }) => endEvent - 1),
    0,
  );
}

/**
 * Adam and others allocate temporaries whenever they run: a run of such allocations ends a step.
 */
function fromOptimizerStacks(context: StepDetectionInput): StepSequence | undefined {
  const { classifier } = context;
  const { allocations: table } = context.input.replay;
  const endsByCall = new Map<StackIndex, EventIndex[]>();
  let previous = 0;
  for (let id = table.preexisting; id < table.length; id++) {
    const call = classifier.optimizerCall(table.stack[id]);
    if (call > 0) {
      const ends = endsByCall.get(call) ?? [];
      endsByCall.set(call, ends);
      if (call === previous && ends.length > 0) ends[ends.length - 1] = table.start[id];
      else ends.push(table.start[id]);
    }
    previous = call;
  }
  let row = 0;
  let best: EventIndex[] = [];
  for (const [call, ends] of endsByCall) {
    if (ends.length > best.length) [row, best] = [call, ends];
  }
  return optimizerSequence(best, row);
}

function optimizerSequence(ends: readonly EventIndex[], row: StackIndex): StepSequence {
  return {
    source: 'optimizer',
    description: 'the calls of the optimizer',
    bounds: ascending([-1, ...ends]),
    row,
    firstIsOpen: true,
  };
}

/** Steps without any event (before a ring's oldest entry) are none. */
function ascending(bounds: readonly EventIndex[]): Int32Array {
  return Int32Array.from(bounds.filter((bound, i) => i === 0 || bound > bounds[i - 1]));
}
