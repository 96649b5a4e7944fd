/** Which stacks a search names. */
import type { DeviceContext } from '../device/device-context.ts';
import { NO_STACK } from '../snapshot/tables.ts';
import { matchWordStacks } from './match-words.ts';
import { parseSearch } from './parse-search.ts';
import type { StackAnswer } from './qualifier.ts';
import { isQualified, qualifierOf } from './qualifiers.ts';
import type { Condition, SearchProblem, StackMatches } from './types.ts';

/**
 * Stacks that match, for events that belong to no allocation (segments, OOMs). A term that asks of
 * an allocation what a stack cannot answer (size, age, pool, …) holds for none; with a -, for all.
 */
export function matchStacks(context: DeviceContext, text: string): StackMatches {
  const { terms, problem } = parseSearch(text);
  if (problem !== undefined || terms.length === 0) return { mask: undefined, problem };
  const mask = new Uint8Array(context.snapshot.stacks.length - NO_STACK).fill(1);
  for (const term of terms) {
    const answer = matchCondition(context, term.condition);
    if (answer !== undefined && 'problem' in answer) {
      return { mask: undefined, problem: inTerm(answer.problem, term) };
    }
    narrow(mask, answer?.stacks, term.isNegated);
  }
  return { mask, problem: undefined };
}

function matchCondition(
  context: DeviceContext,
  condition: Condition,
): StackAnswer | { readonly problem: SearchProblem } | undefined {
  if (!isQualified(condition)) return matchWordStacks(context, condition);
  const qualifier = qualifierOf(condition);
  return 'matchStacks' in qualifier ? qualifier.matchStacks(context, condition) : undefined;
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
