/**
 * Which allocations match a search, with totals, and which stacks match, for events without an allocation. Each term
 * gives a mask and masks are combined with "and": a few passes over the allocations, whatever their stacks.
 */

import { type AllocationIndex, BEFORE_TRACE } from '../../allocator/replay/types.ts';
import { lowerBound } from '../../base/binary-search.ts';
import { type EventIndex, NO_STACK } from '../../format/snapshot/tables.ts';
import { allocationLabel } from '../model/allocation-labels.ts';
import type { DeviceModel } from '../model/device-model.ts';
import { timeOfEventUs } from '../model/events.ts';
import { quotedMatcher, regexMatcher, wordMatcher } from './match-words.ts';
import { parseSearch } from './parse-search.ts';
import { allocationsOfStacks, type Matcher, type TermAnswer } from './qualifier.ts';
import { qualifierNamed } from './qualifiers.ts';
import type { SearchMatches, SearchProblem, Term, TermMatches } from './types.ts';

/**
 * Never throws: an invalid text gives a problem and no mask. `at` is the cursor, the event after which states and ages
 * are taken; undefined for the end.
 */
export function matchAllocations(
  context: DeviceModel,
  text: string,
  at: EventIndex | undefined,
): SearchMatches {
  const { terms, problem } = readTerms(text);
  if (problem !== undefined || terms.length === 0) return unfiltered(context, problem);
  const end = lastState(context);
  const mask = new Uint8Array(context.replay.allocations.length).fill(1);
  const matches: TermMatches[] = [];
  const named: Uint8Array[] = [];
  for (const { term, matcher } of terms) {
    const answer = answerOf(matcher, context, Math.min(at ?? end, end));
    narrow(mask, answer.mask, term.isNegated);
    matches.push(termMatches(term, answer.mask, answer.note));
    if (answer.frames !== undefined && !term.isNegated) named.push(answer.frames);
  }
  const frames = named.length === 0 ? undefined : unionOf(named);
  return { mask, ...totalsOf(context, mask), terms: matches, frames, problem: undefined };
}

/**
 * Matching stacks, for events without an allocation (segments, OOMs). A term about the allocation itself (size, age,
 * pool, …) matches none; negated, it matches all. Index of the mask: stack + 1, row 0 means no stack; undefined for an
 * empty or invalid search.
 */
export function matchStacks(context: DeviceModel, text: string) {
  const { terms, problem } = readTerms(text);
  if (problem !== undefined || terms.length === 0) return { mask: undefined, problem };
  const mask = new Uint8Array(context.snapshot.stacks.length - NO_STACK).fill(1);
  for (const { term, matcher } of terms) {
    narrow(mask, matcher.stacks?.(context).mask, term.isNegated);
  }
  return { mask, problem: undefined };
}

/** Regular expressions are compiled here: their problem is moved to its place in the search. */
function readTerms(text: string) {
  const { terms, problem } = parseSearch(text);
  const read: { term: Term; matcher: Matcher }[] = [];
  for (const term of terms) {
    const matcher = matcherOf(term);
    if ('problem' in matcher) {
      // The pattern starts after the term's sign and slash.
      const at = matcher.problem.at + term.at + (term.isNegated ? 2 : 1);
      return { terms: [], problem: { ...matcher.problem, at } };
    }
    read.push({ term, matcher });
  }
  return { terms: read, problem };
}

function matcherOf({ kind, value, comparison }: Term) {
  if (kind === 'regex') return regexMatcher(value);
  if (kind === 'quoted') return quotedMatcher(value);
  return qualifierNamed(kind)?.read(value, comparison) ?? wordMatcher(value);
}

function answerOf({ allocations, stacks }: Matcher, context: DeviceModel, at: EventIndex) {
  if (allocations !== undefined) return allocations(context, at);
  const found: TermAnswer = stacks?.(context) ?? { mask: new Uint8Array(0) };
  return { ...found, mask: allocationsOfStacks(context, found.mask) };
}

/** Keeps the rows that match the term; a missing mask counts as all zeros. */
function narrow(mask: Uint8Array, term: Uint8Array | undefined, isNegated: boolean): void {
  const flip = isNegated ? 1 : 0;
  for (let row = 0; row < mask.length; row++) mask[row] &= (term?.[row] ?? 0) ^ flip;
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

/** Totals of the allocations in a mask (all without one). */
function totalsOf(context: DeviceModel, mask: Uint8Array | undefined) {
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

/** The last state; BEFORE_TRACE without events. */
function lastState({ trace }: DeviceModel): EventIndex {
  return trace.events.length === 0 ? BEFORE_TRACE : trace.events.length - 1;
}

/** The match that next or previous leads to, and when it lived. */
export type MatchStep = NonNullable<ReturnType<typeof stepMatch>>;

/**
 * The next match after an allocation (before it if `isBackwards`), in order of alloc events, wrapping around. `from`
 * may lie between two allocations: 2.5 leads to 3. Undefined if nothing matches. Without a mask, all allocations match.
 */
export function stepMatch(
  context: DeviceModel,
  mask: Uint8Array | undefined,
  from: number,
  isBackwards: boolean,
) {
  const { allocations } = context.replay;
  const isMatch = (id: AllocationIndex) => mask === undefined || mask[id] === 1;
  let found = -1;
  let first = -1;
  let last = -1;
  for (let id = 0; id < allocations.length; id++) {
    if (!isMatch(id)) continue;
    if (first < 0) first = id;
    last = id;
    if (isBackwards ? id < from : id > from && found < 0) found = id;
  }
  if (first < 0) return undefined;
  if (found < 0) found = isBackwards ? last : first;
  let position = 0;
  for (let id = 0; id <= found; id++) if (isMatch(id)) position++;
  const { start, end } = allocations;
  return {
    allocation: found,
    label: allocationLabel(allocations, context.snapshot.addresses, found),
    /** Its position among the matches, from 1. */
    position,
    startEvent: start[found],
    endEvent: end[found],
    /** Microseconds since the first event; NaN if unknown. */
    startUs: timeOfEventUs(context.trace.events, start[found]),
    endUs: timeOfEventUs(context.trace.events, end[found]),
  };
}

/** Where to start stepping through a window's matches: before the first one that starts in it. */
export function positionBefore({ replay }: DeviceModel, event: EventIndex): number {
  return lowerBound(replay.allocations.start, event) - 0.5;
}
