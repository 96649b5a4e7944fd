/**
 * The search language of all views. Terms are separated by spaces and must all match; a leading - negates a term;
 * quotes allow spaces:
 *
 *   attention -optimizer size>64MiB state:live phase:"forward" frame:"forward@model.py:12"
 */
import type { QualifierCondition } from './qualifiers.ts';

/** The parsed form of a term without a qualifier. */
export type WordCondition =
  /**
   * In a frame's function or file ("train.py:12": that line too), category, compile context or user metadata; any case.
   */
  | { readonly kind: 'text'; readonly text: string }
  /** RE2 syntax, any case, in the same texts. */
  | { readonly kind: 'regex'; readonly source: string }
  /** Blocks that contain one of the addresses. `orText`: hex without 0x may also be a word. */
  | {
      readonly kind: 'address';
      readonly addresses: readonly bigint[];
      readonly orText: string | undefined;
    }
  /** b7f064c000000_0: exactly that allocation. */
  | { readonly kind: 'allocation'; readonly label: string }
  /**
   * s7f064c000000_1: blocks of the second segment at that address; without a number, of all segments that contain it.
   */
  | { readonly kind: 'segment'; readonly address: bigint; readonly nth: number | undefined };

/** A term's parsed form, without its sign. */
export type Condition = WordCondition | QualifierCondition;

export interface Term {
  /** As written, including sign and quotes. */
  readonly text: string;
  /** Position of its first character in the search. */
  readonly at: number;
  readonly isNegated: boolean;
  readonly condition: Condition;
}

/** Why and where a search is invalid: `length` characters from `at` on. */
export interface SearchProblem {
  readonly at: number;
  readonly length: number;
  /** What is wrong and how to correct it, in one or two sentences. */
  readonly message: string;
  /** More typing may complete it, so it is not shown as an error yet. */
  readonly isUnfinished: boolean;
}

export interface ParsedSearch {
  /** Empty for a blank search, and when there is a problem. */
  readonly terms: readonly Term[];
  readonly problem: SearchProblem | undefined;
}

/** What this term alone matches; shows which term matches nothing. */
export interface TermMatches {
  readonly text: string;
  readonly count: number;
  /** Why it matches nothing, if known: 'There is no stream 7, only 0.' */
  readonly note: string | undefined;
}

export interface SearchMatches {
  /** By AllocationIndex, 1 = matches. Undefined for an empty or invalid search, which shows everything. */
  readonly mask: Uint8Array | undefined;
  /** Matching allocations, or all without a mask. The figures below cover these. */
  readonly count: number;
  /** Sum over all lifetimes. */
  readonly blockBytes: number;
  /** Sum of the known ones; `requestedUnknown` are unknown. */
  readonly requestedBytes: number;
  readonly requestedUnknown: number;
  /** Block bytes live at the peak of active bytes, and at the end. */
  readonly peakBytes: number;
  readonly endBytes: number;
  readonly terms: readonly TermMatches[];
  /** By FrameIndex, 1 = highlight: a term without - names it. Undefined if no term names frames. */
  readonly frames: Uint8Array | undefined;
  readonly problem: SearchProblem | undefined;
}

/** Matching stacks, for events without an allocation. */
export interface StackMatches {
  /** Index: stack + 1; row 0 means no stack. Undefined for an empty or invalid search. */
  readonly mask: Uint8Array | undefined;
  readonly problem: SearchProblem | undefined;
}
