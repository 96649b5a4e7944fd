/**
 * A flame graph's questions and answers: which allocations count (set), how much each counts (weight), and into which
 * boxes their stacks are sorted (grouping, frames, direction).
 */

import type { EventIndex, StackIndex } from '../../format/snapshot/tables.ts';
import type { FrameView, StackKind } from '../model/types.ts';

/**
 * live: after `event`. window: allocated by events from <= e < to. difference: live after `after` minus live after
 * `before`.
 */
export type FlameSet =
  | { readonly kind: 'live'; readonly event: EventIndex }
  | { readonly kind: 'window'; readonly from: EventIndex; readonly to: EventIndex }
  | { readonly kind: 'difference'; readonly before: EventIndex; readonly after: EventIndex };

/**
 * How much an allocation counts. Bytes are its block's, rounding included, so totals match the allocator's counters.
 * bytes: until its free completed. allocated: until its free was requested. count: 1. lifetime: block bytes times the
 * time held, in byte microseconds, or byte events in a trace without times. If it began before the trace or outlived
 * it, only the traced part counts. count and lifetime include the same allocations as 'bytes'.
 */
export type FlameWeight = 'bytes' | 'allocated' | 'count' | 'lifetime';

/**
 * What a box or table row stands for: a source line, or all lines of a function, file or module. stack: boxes are
 * lines, rows are whole call stacks. class: the outermost boxes are memory classes (src/device/classes), with lines on
 * top.
 */
export type FlameGrouping = 'class' | 'line' | 'stack' | 'function' | 'file' | 'module';

/**
 * Frames that get boxes. own: user code; known: also libraries and C++ that computes; all: also unwinder, dispatcher
 * and interpreter. A frame without a box passes its bytes to its caller.
 */
export type FlameFrames = 'own' | 'known' | 'all';

/** Why an allocation has no frame: no stack, or none of the requested frames. */
export type NoFrame = Exclude<StackKind, 'recorded'> | 'none-shown';

export type FlameGroup =
  | {
      readonly kind: 'frame';
      /** Function, file or module; C++ without types. */
      readonly label: string;
      /** 'run/train.py:10', or '' if the label says everything. */
      readonly location: string;
      /** One of its frames; when grouped by stack, the frame itself. */
      readonly frame: FrameView;
      /** The search for allocations with it in their stack; undefined if there is none. */
      readonly search: string | undefined;
    }
  | {
      readonly kind: 'class';
      readonly label: string;
      readonly about: string;
      readonly search: string;
    }
  | { readonly kind: 'absent'; readonly reason: NoFrame };

/**
 * The visible boxes, parents before children, siblings by size. Box 0 is the zoomed one or the root. Columns of equal
 * length:
 */
export interface FlameBoxes {
  readonly length: number;
  /** -1 for box 0. */
  readonly parent: Int32Array;
  /** Index into `groups`; -1 for the root and for merged boxes (see `hidden`). */
  readonly group: Int32Array;
  /** Weight including callees; negative where a difference shrank. */
  readonly value: Float64Array;
  /** Width: the value or, in a difference, the sum of its stacks' absolute values. */
  readonly magnitude: Float64Array;
  /** Part of the width that no child box covers. */
  readonly selfMagnitude: Float64Array;
  /** Allocations; in a difference, added minus removed. */
  readonly count: Float64Array;
  /** Part of the width that matches the search; the whole width without a search. */
  readonly matched: Float64Array;
  /** How many boxes too small to see this one merges; 0 for ordinary boxes. */
  readonly hidden: Int32Array;
}

/** One step on the way from the root to the zoomed box. */
export interface FlameStep {
  readonly group: FlameGroup;
  /** Path to it, for `root`. */
  readonly path: string;
  readonly value: number;
}

export interface FlameGraph {
  readonly boxes: FlameBoxes;
  readonly groups: readonly FlameGroup[];
  /** Short name of each group, used in paths. */
  readonly groupKeys: readonly string[];
  /** From the outermost box to the zoomed one; empty at the root. */
  readonly trail: readonly FlameStep[];
  /** False if the path's box does not exist; the trail then ends where the path fails. */
  readonly isRootFound: boolean;
  /** Of the whole graph, regardless of zoom. */
  readonly total: FlameTotal;
}

export interface FlameTotal {
  readonly value: number;
  readonly magnitude: number;
  readonly count: number;
  readonly matched: number;
}

export interface FlameRow {
  /** For stacks the path to their box; for groups the group's key. */
  readonly key: string;
  readonly group: FlameGroup;
  /** A call stack that the row stands for when grouped by stack (see `StackReader`); -1 otherwise. */
  readonly stack: StackIndex;
  /** The user's line of that stack. */
  readonly userFrame: FrameView | undefined;
  /** Weight of the allocations whose innermost box this is, and of all that have it in their stack. */
  readonly self: number;
  readonly total: number;
  readonly count: number;
  /** Part of `total` that matches the search, as a width. */
  readonly matched: number;
}

/** relevance: see {@link byRelevance}; the others are table columns. */
export type FlameOrderBy = 'relevance' | 'name' | 'self' | 'total' | 'count';

export interface FlameTable {
  /** Number of rows in the whole table. */
  readonly length: number;
  readonly rows: readonly FlameRow[];
}
