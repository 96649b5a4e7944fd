/**
 * The one search language of all views. Terms stand apart by blanks and must all hold; a leading -
 * turns a term round; quotes keep blanks together:
 *
 *   attention -optimizer size>64MiB state:live phase:"forward" frame:"forward@model.py:12"
 */
import type { QualifierCondition } from './qualifiers.ts';

/** What a term without a qualifier asks. */
export type WordCondition =
  /** In a frame's function or file ("train.py:12": that line too), category, compile context or user metadata; any case. */
  | { readonly kind: 'text'; readonly text: string }
  /** RE2 syntax, any case, in the same texts. */
  | { readonly kind: 'regex'; readonly source: string }
  /** Blocks that contain one of the addresses. `orText`: hex without 0x may be a word as well. */
  | {
      readonly kind: 'address';
      readonly addresses: readonly bigint[];
      readonly orText: string | undefined;
    }
  /** b7f064c000000_0: that very allocation. */
  | { readonly kind: 'allocation'; readonly label: string }
  /** s7f064c000000_1: the blocks of the second segment at that address; without a number, of all that contain it. */
  | { readonly kind: 'segment'; readonly address: bigint; readonly nth: number | undefined };

/** What a term asks, without its sign. */
export type Condition = WordCondition | QualifierCondition;

export interface Term {
  /** As it was written, sign and quotes included. */
  readonly text: string;
  /** Position of its first character in the search. */
  readonly at: number;
  readonly isNegated: boolean;
  readonly condition: Condition;
}

/** Why a search cannot be applied, and where: `length` characters from `at` on. */
export interface SearchProblem {
  readonly at: number;
  readonly length: number;
  /** What is wrong and what would be right, in one or two sentences. */
  readonly message: string;
  /** More text at its end may mend it: whoever is typing has done nothing wrong so far. */
  readonly isUnfinished: boolean;
}

export interface ParsedSearch {
  /** Empty for blanks alone, and when there is a problem. */
  readonly terms: readonly Term[];
  readonly problem: SearchProblem | undefined;
}

/** What one term alone lets through: it shows which term leaves nothing. */
export interface TermMatches {
  readonly text: string;
  readonly count: number;
  /** Why it matches nothing, where that can be said: 'There is no stream 7, only 0.' */
  readonly note: string | undefined;
}

export interface SearchMatches {
  /** By AllocationIndex, 1 = matches. Undefined when the search is empty or has a problem: all are shown then. */
  readonly mask: Uint8Array | undefined;
  /** Matching allocations; all of them without a mask. The figures below are theirs. */
  readonly count: number;
  /** Over all lifetimes: what they took one after the other. */
  readonly blockBytes: number;
  /** Sum of those that are known; `requestedUnknown` of them are not. */
  readonly requestedBytes: number;
  readonly requestedUnknown: number;
  /** Block bytes that were there at once: at the peak of active bytes, and at the end. */
  readonly peakBytes: number;
  readonly endBytes: number;
  readonly terms: readonly TermMatches[];
  /** By FrameIndex, 1 = a term that is not negated names it: to be highlighted. Undefined when no term names frames. */
  readonly frames: Uint8Array | undefined;
  readonly problem: SearchProblem | undefined;
}

/** Which stacks match, for events that belong to no allocation. */
export interface StackMatches {
  /** Row stack + 1, so that row 0 is "no stack". Undefined when the search is empty or has a problem. */
  readonly mask: Uint8Array | undefined;
  readonly problem: SearchProblem | undefined;
}
