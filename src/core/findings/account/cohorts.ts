/**
 * Cohorts: what one call in the program's loop left behind and never gave back.
 *
 *     for batch in loader:
 *         loss = loss_of(model, batch)   ← its line: the activations, the output and the loss of every pass are one cohort
 *         losses.append(loss)
 *
 * The growth detector knows how things grow, down to 512 bytes a step. The classes know what else the same calls
 * kept: of single evaluations, from before a ring's oldest event, of lines whose sizes differ.
 */
import { groupBy } from '../../base/grouping.ts';
import { memoized } from '../../base/memoized.ts';
import { Evidence, MemoryClass } from '../../classes/types.ts';
import type { FrameView } from '../../device/types.ts';
import type { AllocationIndex } from '../../replay/types.ts';
import { EMPTY_STACK, type FrameIndex, type StackIndex } from '../../snapshot/tables.ts';
import type { AnalysisContext } from '../analysis-context.ts';
import { growthOf, type Leak } from '../detectors/growth.ts';
import { isOutput } from '../detectors/growth-lead.ts';
import { userLines } from '../user-lines.ts';
import { isStillGrowing, rateOf, unitOf } from './repetitions.ts';
import type { AccountEntry } from './types.ts';

/** A graph keeps at least an activation, what backward needs of it, an output and a loss. */
const GRAPH_SITES = 4;

/** An entry before its bytes are added up. */
export interface Draft extends Pick<AccountEntry, 'kind' | 'lines' | 'rate' | 'isGrowing'> {
  readonly ids: readonly AllocationIndex[];
  /** Those of the whole run, also those that are gone; undefined where the entry is no cohort. */
  readonly all: readonly AllocationIndex[] | undefined;
}

/** @param live allocations of the moment, ascending */
export function cohortsAt(context: AnalysisContext, live: Int32Array): Draft[] {
  const places = new Places(context);
  const { leaks } = growthOf(context);
  const isLive = new Set(live);
  const taken = new Set<AllocationIndex>();
  const rest = keptIds(context);
  const drafts = [...leaks]
    .sort((a, b) => b.finding.bytes - a.finding.bytes)
    .map((leak): Draft => {
      const own = leakIds(leak, rest, places, taken);
      return {
        ...leakDraft(
          context,
          places,
          leak,
          own.filter((id) => isLive.has(id)),
        ),
        all: own,
      };
    });
  const others = groupBy(
    rest.filter((id) => !taken.has(id)),
    (id) => places.keyOf(id),
  );
  for (const all of mergedByFunction(context, places, [...others.values()])) {
    const ids = all.filter((id) => isLive.has(id));
    if (ids.length > 0) drafts.push(placeDraft(context, places, ids, all));
  }
  return drafts.filter(({ ids }) => ids.length > 0);
}

/** All that the classes call kept, the second copy of a model apart; ascending. */
function keptIds(context: AnalysisContext): AllocationIndex[] {
  const { classOf, evidenceOf } = context.classification;
  const ids: AllocationIndex[] = [];
  for (let id = 0; id < classOf.length; id++) {
    if (classOf[id] === MemoryClass.Kept && evidenceOf[id] !== Evidence.CopiedWeights) ids.push(id);
  }
  return ids;
}

/**
 * What a leak keeps, and what else the classes know of it: the tensors of its own lines and, where it is a whole graph,
 * all that came from the same statement.
 */
function leakIds(
  { group }: Leak,
  rest: readonly AllocationIndex[],
  places: Places,
  taken: Set<AllocationIndex>,
): AllocationIndex[] {
  const own = group.sites.flatMap(({ kept }) => kept).filter((id) => !taken.has(id));
  for (const id of own) taken.add(id);
  const stacks = new Set(group.sites.map(({ stack }) => stack));
  const isWide = group.kind === 'kept-graph' || group.kind === 'kept-output';
  const keys = new Set(isWide ? own.map((id) => places.keyOf(id)) : []);
  for (const id of rest) {
    if (taken.has(id) || (!stacks.has(places.stackOf(id)) && !keys.has(places.keyOf(id)))) continue;
    taken.add(id);
    own.push(id);
  }
  return own.sort((a, b) => a - b);
}

function leakDraft(
  context: AnalysisContext,
  places: Places,
  { group, sequence, finding }: Leak,
  ids: readonly AllocationIndex[],
): Omit<Draft, 'all'> {
  const { frameIs, perStep } = finding;
  const isGraph = group.kind === 'kept-graph';
  // A running total says where the graph is held; else the statement that called the model is nearest to it.
  const isCalled = isGraph && frameIs !== 'stored at' && ids.length > 0;
  const { frame, lines } = isCalled
    ? places.linesOf(places.heaviest(ids))
    : { frame: finding.frame, lines: finding.userLines };
  return {
    kind: isGraph ? 'kept-graph' : 'kept',
    ids,
    lines: linesFrom(frame, lines),
    rate: perStep && {
      bytes: Math.round(perStep.bytes),
      steps: perStep.steps,
      unit: unitOf(context, sequence),
    },
    isGrowing: finding.severity !== 'low' || isStillGrowing(context, ids, ids),
  };
}

/** The line to look at, then those that lead there from the program's loop. */
function linesFrom(first: FrameView | undefined, lines: readonly FrameView[]): FrameView[] {
  if (first === undefined) return [...lines];
  const at = lines.findIndex(
    ({ filename, line }) => filename === first.filename && line === first.line,
  );
  return [first, ...lines.slice(at + 1)];
}

function placeDraft(
  context: AnalysisContext,
  places: Places,
  ids: readonly AllocationIndex[],
  all: readonly AllocationIndex[],
): Draft {
  const stack = places.heaviest(ids);
  const isGraph = places.forwardSites(ids) >= GRAPH_SITES;
  const own = ids.filter((id) => places.stackOf(id) === stack);
  const isFromCall = isGraph || isOutput(context, { kept: own });
  const { frame, lines } = isFromCall
    ? places.linesOf(stack)
    : { frame: context.input.stacks.topUserFrameView(stack), lines: userLines(context, stack) };
  return {
    kind: isGraph ? 'kept-graph' : 'kept',
    ids,
    all,
    lines: linesFrom(frame, lines),
    rate: rateOf(context, ids, stack),
    isGrowing: isStillGrowing(context, ids, all),
  };
}

/** Lines of one function that keep something side by side, `out = model(x)` and `loss = criterion(out)`, are one cohort. */
function mergedByFunction(
  context: AnalysisContext,
  places: Places,
  groups: readonly AllocationIndex[][],
): AllocationIndex[][] {
  const byFunction = groupBy(groups, ([id]) => {
    const frame = places.statement(places.stackOf(id));
    if (frame === undefined) return `stack ${places.keyOf(id)}`;
    const { name, filename } = context.input.stacks.frame(frame);
    return `${filename} ${name}`;
  });
  return [...byFunction.values()].map((same) => same.flat().sort((a, b) => a - b));
}

/** Where allocations come from, by the statement outside of all modules that led to them. */
class Places {
  readonly #context: AnalysisContext;
  readonly statement: (stack: StackIndex) => FrameIndex | undefined;

  constructor(context: AnalysisContext) {
    this.#context = context;
    this.statement = memoized((stack: StackIndex) => this.#findStatement(stack));
  }

  stackOf(id: AllocationIndex): StackIndex {
    return this.#context.input.replay.allocations.stack[id];
  }

  /** The same for all that one statement made; what backward threads made is one place. */
  keyOf(id: AllocationIndex): number {
    const stack = this.stackOf(id);
    if (this.#context.classifier.isBackward(stack)) return -1;
    return this.statement(stack) ?? -2 - stack;
  }

  /** The innermost line of the user's that is in no module's forward. */
  #findStatement(stack: StackIndex): FrameIndex | undefined {
    const { input, classifier } = this.#context;
    if (stack <= EMPTY_STACK) return undefined;
    const { frame, parent } = input.snapshot.stacks;
    const call = classifier.moduleCall(stack);
    for (let row = call > 0 ? parent[call] : stack; row > 0; row = parent[row]) {
      if (input.stacks.frame(frame[row]).kind === 'user') return frame[row];
    }
    return input.stacks.topUserFrame(stack);
  }

  /** The statement that called the model, and the user's lines that lead to it. */
  linesOf(stack: StackIndex) {
    const frame = this.statement(stack);
    return {
      frame: frame === undefined ? undefined : this.#context.input.stacks.frame(frame),
      lines: userLines(this.#context, stack, frame),
    };
  }

  /** The stack that most bytes came from. */
  heaviest(ids: readonly AllocationIndex[]): StackIndex {
    const { sizeBytes } = this.#context.input.replay.allocations;
    const sums = new Map<StackIndex, number>();
    for (const id of ids) {
      const stack = this.stackOf(id);
      sums.set(stack, (sums.get(stack) ?? 0) + sizeBytes[id]);
    }
    return [...sums].reduce((a, b) => (b[1] > a[1] ? b : a))[0];
  }

  /** Different call sites within modules. */
  forwardSites(ids: readonly AllocationIndex[]): number {
    const { classifier } = this.#context;
    return new Set(ids.map((id) => this.stackOf(id)).filter((stack) => classifier.isForward(stack)))
      .size;
  }
}
