/**
 * The search language of all views. Terms are separated by spaces and must all match; a leading - negates a term;
 * quotes allow spaces:
 *
 *   attention -optimizer size>64MiB state:live phase:"forward" frame:"forward@model.py:12"
 */
import type { Comparison } from './qualifier.ts';
import type { QualifierName } from './qualifiers.ts';

export interface Term {
  /** As written, including sign and quotes. */
  readonly text: string;
  /** Position of its first character in the search. */
  readonly at: number;
  readonly isNegated: boolean;
  /** Without a qualifier: whether it stands alone, in quotes or between slashes. */
  readonly kind: QualifierName | 'word' | 'quoted' | 'regex';
  readonly comparison: Comparison;
  /** Without quotes or slashes. */
  readonly value: string;
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
