/**
 * Which allocations match a search, and what they add up to. One mask a term, joined by "and":
 * a few passes over the allocations, whatever their stacks.
 */

import type { DeviceContext } from '../device/device-context.ts';
import type { EventIndex } from '../snapshot/tables.ts';
import { answerCondition } from './answer-term.ts';
import { inTerm, narrow } from './match-stacks.ts';
import { parseSearch } from './parse-search.ts';
import { totalsOf } from './totals.ts';
import type { SearchMatches, SearchProblem, Term, TermMatches } from './types.ts';
import { lastState } from './value-masks.ts';

/**
 * Never throws: a text that cannot be applied gives a problem and no mask. `at` is the cursor, the
 * event after which states and ages are taken; undefined: the end.
 */
export function matchAllocations(
  context: DeviceContext,
  text: string,
  at: EventIndex | undefined,
): SearchMatches {
  const { terms, problem } = parseSearch(text);
  if (problem !== undefined || terms.length === 0) return unfiltered(context, problem);
  const end = lastState(context);
  const mask = new Uint8Array(context.replay.allocations.length).fill(1);
  const matches: TermMatches[] = [];
  const named: Uint8Array[] = [];
  for (const term of terms) {
    const answer = answerCondition(context, term.condition, Math.min(at ?? end, end));
    if ('problem' in answer) return unfiltered(context, inTerm(answer.problem, term));
    narrow(mask, answer.mask, term.isNegated);
    matches.push(termMatches(term, answer.mask, answer.note));
    if (answer.frames !== undefined && !term.isNegated) named.push(answer.frames);
  }
  const frames = named.length === 0 ? undefined : unionOf(named);
  return { mask, ...totalsOf(context, mask), terms: matches, frames, problem: undefined };
}

/** True when the search's matches change with the cursor. */
export function dependsOnCursor(text: string): boolean {
  return parseSearch(text).terms.some(
    ({ condition: { kind } }) => kind === 'age' || kind === 'state',
  );
}

function unfiltered(context: DeviceContext, problem: SearchProblem | undefined): SearchMatches {
  const totals = totalsOf(context, undefined);
  return { mask: undefined, ...totals, terms: [], frames: undefined, problem };
}

function termMatches(term: Term, mask: Uint8Array, note: string | undefined): TermMatches {
  let found = 0;
  for (let id = 0; id < mask.length; id++) found += mask[id];
  const count = term.isNegated ? mask.length - found : found;
  return { text: term.text, count, note: found === 0 ? note : undefined };
}

function unionOf(masks: readonly Uint8Array[]): Uint8Array {
  const union = masks[0].slice();
  for (const mask of masks) for (let i = 0; i < union.length; i++) union[i] |= mask[i];
  return union;
}
