/**
 * Which allocations match a search, with totals, and which stacks match, for events without an allocation. Each term
 * gives a mask and masks are combined with "and": a few passes over the allocations, whatever their stacks.
 */

import { type EventIndex, NO_STACK } from '../../format/snapshot/tables.ts';
import type { DeviceModel } from '../model/device-model.ts';
import { allocationsOfStacks, lastState } from './masks.ts';
import { matchWord, matchWordStacks } from './match-words.ts';
import { parseSearch } from './parse-search.ts';
import type { StackAnswer, TermAnswer } from './qualifier.ts';
import { findQualifier, isQualified, qualifierOf } from './qualifiers.ts';
import type {
  Condition,
  SearchMatches,
  SearchProblem,
  StackMatches,
  Term,
  TermMatches,
} from './types.ts';

/**
 * Never throws: an invalid text gives a problem and no mask. `at` is the cursor, the event after which states and ages
 * are taken; undefined for the end.
 */
export function matchAllocations(
  context: DeviceModel,
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
    const answer = matchCondition(context, term.condition, Math.min(at ?? end, end));
    if ('problem' in answer) return unfiltered(context, inTerm(answer.problem, term));
    narrow(mask, answer.mask, term.isNegated);
    matches.push(termMatches(term, answer.mask, answer.note));
    if (answer.frames !== undefined && !term.isNegated) named.push(answer.frames);
  }
  const frames = named.length === 0 ? undefined : unionOf(named);
  return { mask, ...totalsOf(context, mask), terms: matches, frames, problem: undefined };
}

function matchCondition(
  context: DeviceModel,
  condition: Condition,
  at: EventIndex,
): TermAnswer | { readonly problem: SearchProblem } {
  if (!isQualified(condition)) return matchWord(context, condition);
  const qualifier = qualifierOf(condition);
  if ('match' in qualifier) return qualifier.match(context, condition, at);
  const { stacks, frames, note } = qualifier.matchStacks(context, condition);
  return { mask: allocationsOfStacks(context, stacks), frames, note };
}

/**
 * Matching stacks, for events without an allocation (segments, OOMs). A term about the allocation itself (size, age,
 * pool, …) matches none; negated, it matches all.
 */
export function matchStacks(context: DeviceModel, text: string): StackMatches {
  const { terms, problem } = parseSearch(text);
  if (problem !== undefined || terms.length === 0) return { mask: undefined, problem };
  const mask = new Uint8Array(context.snapshot.stacks.length - NO_STACK).fill(1);
  for (const term of terms) {
    const answer = matchConditionStacks(context, term.condition);
    if (answer !== undefined && 'problem' in answer) {
      return { mask: undefined, problem: inTerm(answer.problem, term) };
    }
    narrow(mask, answer?.stacks, term.isNegated);
  }
  return { mask, problem: undefined };
}

function matchConditionStacks(
  context: DeviceModel,
  condition: Condition,
): StackAnswer | { readonly problem: SearchProblem } | undefined {
  if (!isQualified(condition)) return matchWordStacks(context, condition);
  const qualifier = qualifierOf(condition);
  return 'matchStacks' in qualifier ? qualifier.matchStacks(context, condition) : undefined;
}

/** Keeps the rows that match the term; a missing mask counts as all zeros. */
function narrow(mask: Uint8Array, term: Uint8Array | undefined, isNegated: boolean): void {
  const flip = isNegated ? 1 : 0;
  for (let row = 0; row < mask.length; row++) mask[row] &= (term?.[row] ?? 0) ^ flip;
}

/** Moves a pattern's problem to its place in the search: the pattern starts after the term's sign and slash. */
function inTerm(
  problem: SearchProblem,
  term: { readonly at: number; readonly isNegated: boolean },
): SearchProblem {
  return { ...problem, at: problem.at + term.at + (term.isNegated ? 2 : 1) };
}

/** Whether the matches change with the cursor. */
export function dependsOnCursor(text: string): boolean {
  return parseSearch(text).terms.some(
    ({ condition }) => findQualifier(condition.kind)?.dependsOnCursor === true,
  );
}

function unfiltered(context: DeviceModel, problem: SearchProblem | undefined): SearchMatches {
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

type MatchTotals = Pick<
  SearchMatches,
  'count' | 'blockBytes' | 'requestedBytes' | 'requestedUnknown' | 'peakBytes' | 'endBytes'
>;

/** Totals of the allocations in a mask (all without one). */
function totalsOf(context: DeviceModel, mask: Uint8Array | undefined): MatchTotals {
  const { allocations, peaks } = context.replay;
  const { length, sizeBytes, requestedBytes: requested } = allocations;
  const totals = { count: 0, blockBytes: 0, requestedBytes: 0, requestedUnknown: 0 };
  for (let id = 0; id < length; id++) {
    if (mask !== undefined && mask[id] === 0) continue;
    totals.count++;
    totals.blockBytes += sizeBytes[id];
    if (Number.isNaN(requested[id])) totals.requestedUnknown++;
    else totals.requestedBytes += requested[id];
  }
  return {
    ...totals,
    peakBytes: liveBytesAt(context, mask, peaks.activeBytes.event),
    endBytes: liveBytesAt(context, mask, lastState(context)),
  };
}

/** Block bytes of a mask's allocations (all without one) that are live after an event, pending ones included. */
export function liveBytesAt(
  { replay }: DeviceModel,
  mask: Uint8Array | undefined,
  event: EventIndex,
): number {
  const { length, sizeBytes, start, end } = replay.allocations;
  let bytes = 0;
  // Allocations come by start, so none after the first future one is live.
  for (let id = 0; id < length && start[id] <= event; id++) {
    if (event < end[id] && (mask === undefined || mask[id] === 1)) bytes += sizeBytes[id];
  }
  return bytes;
}
