/** Which frames and stacks a search names. */
import { assertUnreachable } from '../base/assert.ts';
import type { DeviceContext } from '../device/device-context.ts';
import { NO_STACK } from '../snapshot/tables.ts';
import { parseSearch } from './parse-search.ts';
import { allocationCalled } from './place-masks.ts';
import { framesOfText, framesSpelled, stacksOfFrames, textTest } from './text-masks.ts';
import type { Condition, SearchProblem, StackMatches } from './types.ts';

export type StackCondition = Extract<Condition, { kind: 'text' | 'regex' | 'frame' | 'site' }>;

/** What a condition says of stacks. */
export interface StackAnswer {
  /** By FrameIndex; undefined when it names no frames. */
  readonly frames: Uint8Array | undefined;
  /** Row stack + 1. */
  readonly stacks: Uint8Array;
  /** The words asked for, which may stand elsewhere than in a stack too. */
  readonly test: ((text: string) => boolean) | undefined;
}

/**
 * Stacks that match, for events that belong to no allocation (segments, OOMs). A term that asks of
 * an allocation what a stack cannot answer (size, age, pool, …) holds for none; with a -, for all.
 */
export function matchStacks(context: DeviceContext, text: string): StackMatches {
  const { terms, problem } = parseSearch(text);
  if (problem !== undefined || terms.length === 0) return { mask: undefined, problem };
  const mask = new Uint8Array(stackRows(context)).fill(1);
  for (const term of terms) {
    const condition = stackConditionOf(term.condition);
    const answer = condition && answerForStacks(context, condition);
    if (answer !== undefined && 'problem' in answer) {
      return { mask: undefined, problem: inTerm(answer.problem, term) };
    }
    narrow(mask, answer?.stacks, term.isNegated);
  }
  return { mask, problem: undefined };
}

/** What remains of a condition where there is a stack and no allocation. */
function stackConditionOf(condition: Condition): StackCondition | undefined {
  if (isStackCondition(condition)) return condition;
  const isWord = condition.kind === 'address' && condition.orText !== undefined;
  return isWord ? { kind: 'text', text: condition.orText } : undefined;
}

export function isStackCondition(condition: Condition): condition is StackCondition {
  return ['text', 'regex', 'frame', 'site'].includes(condition.kind);
}

/** Keeps the rows that the term lets through; no mask is one of zeros. */
export function narrow(mask: Uint8Array, term: Uint8Array | undefined, isNegated: boolean): void {
  const flip = isNegated ? 1 : 0;
  for (let row = 0; row < mask.length; row++) mask[row] &= (term?.[row] ?? 0) ^ flip;
}

/** A pattern's problem as one of the search: the pattern begins behind the term's sign and slash. */
export function inTerm(
  problem: SearchProblem,
  term: { readonly at: number; readonly isNegated: boolean },
): SearchProblem {
  return { ...problem, at: problem.at + term.at + (term.isNegated ? 2 : 1) };
}

/** `problem.at` counts from the pattern's start, see {@link inTerm}. */
export function answerForStacks(
  context: DeviceContext,
  condition: StackCondition,
): StackAnswer | { readonly problem: SearchProblem } {
  const { snapshot } = context;
  switch (condition.kind) {
    case 'text':
    case 'regex': {
      const found = textTest(condition);
      if ('problem' in found) return found;
      const frames = framesOfText(snapshot, found.test);
      return { frames, stacks: stacksOfFrames(snapshot, frames), test: found.test.test };
    }
    case 'frame': {
      const frames = framesSpelled(snapshot, condition.frame);
      return { frames, stacks: stacksOfFrames(snapshot, frames), test: undefined };
    }
    case 'site':
      return { frames: undefined, stacks: stacksOfSite(context, condition.label), test: undefined };
    default:
      return assertUnreachable(condition);
  }
}

/** The stack of one allocation; those without any are one site, row 0. */
function stacksOfSite(context: DeviceContext, label: string): Uint8Array {
  const mask = new Uint8Array(stackRows(context));
  const allocation = allocationCalled(context, label);
  if (allocation >= 0) mask[context.replay.allocations.stack[allocation] - NO_STACK] = 1;
  return mask;
}

const stackRows = ({ snapshot }: DeviceContext): number => snapshot.stacks.length - NO_STACK;
