/**
 * What a flame graph adds up, and what it answers: which allocations (a set), how much each counts
 * (a weight), and into what boxes their stacks are sorted (grouping, frames, direction).
 */

import type { EventIndex, StackIndex } from '../../format/snapshot/tables.ts';
import type { FrameView, StackKind } from '../model/types.ts';

/**
 * live: in the state after `event`. window: allocated by events from <= e < to.
 * difference: live after `after` less what was live after `before`.
 */
export type FlameSet =
  | { readonly kind: 'live'; readonly event: EventIndex }
  | { readonly kind: 'window'; readonly from: EventIndex; readonly to: EventIndex }
  | { readonly kind: 'difference'; readonly before: EventIndex; readonly after: EventIndex };

/**
 * How much an allocation counts. Bytes are those of its block, rounding included, so that a total is
 * a counter of the allocator. bytes: active, until its free completed. allocated: until its free was
 * requested. count: 1. lifetime: block bytes times the time they were held, in byte microseconds, or
 * byte events where the trace has no times; what began before the trace or outlived it counts from
 * its first and to its last event. These two take what 'bytes' takes.
 */
export type FlameWeight = 'bytes' | 'allocated' | 'count' | 'lifetime';

/**
 * What a box, and a row of the table, stands for: a source line, or all lines of a function, a file
 * or a module. stack: boxes are lines, rows whole call stacks. class: the outermost boxes are what the
 * allocations are (src/device/classes), and lines stand on them.
 */
export type FlameGrouping = 'class' | 'line' | 'stack' | 'function' | 'file' | 'module';

/**
 * Frames that get boxes. own: of the user's code; known: also libraries and what C++ computed; all:
 * also unwinder, dispatcher and interpreter. Those without a box pass their bytes to their caller.
 */
export type FlameFrames = 'own' | 'known' | 'all';

/** Why an allocation has no frame to stand in: no stack, or none of the frames asked for. */
export type NoFrame = Exclude<StackKind, 'recorded'> | 'none-shown';

/** What one box stands for. */
export type FlameGroup =
  | {
      readonly kind: 'frame';
      /** Function, file or module; for C++ without its types. */
      readonly label: string;
      /** 'run/train.py:10', or '' where the label says all. */
      readonly location: string;
      /** One of its frames: the one, when grouped by stack. */
      readonly frame: FrameView;
      /** Search that finds the allocations with it in their stack; undefined where none can. */
      readonly search: string | undefined;
    }
  | {
      readonly kind: 'class';
      /** 'optimizer state' */
      readonly label: string;
      readonly about: string;
      readonly search: string;
    }
  | { readonly kind: 'absent'; readonly reason: NoFrame };

/**
 * The boxes that can be seen, parents before children, siblings by size. Box 0 is the one zoomed
 * into, or the whole. Columns of equal length:
 */
export interface FlameBoxes {
  readonly length: number;
  /** -1 for box 0. */
  readonly parent: Int32Array;
  /** Index into `groups`; -1 for the whole, and for what was too small to see (see `hidden`). */
  readonly group: Int32Array;
  /** Sum of weights, of its callees too; negative where a difference shrank. */
  readonly value: Float64Array;
  /** Width: the value, in a difference the sum of its stacks' absolute values. */
  readonly magnitude: Float64Array;
  /** Part of the width that lies in no box above it. */
  readonly selfMagnitude: Float64Array;
  /** Allocations; in a difference those that came less those that went. */
  readonly count: Float64Array;
  /** Part of the width that matches the search; equal to it when there is none. */
  readonly matched: Float64Array;
  /** How many boxes too small to see this one stands for; 0 for ordinary boxes. */
  readonly hidden: Int32Array;
}

/** One step from the whole to the box zoomed into. */
export interface FlameStep {
  readonly group: FlameGroup;
  /** Path to it, for `root`. */
  readonly path: string;
  readonly value: number;
}

export interface FlameGraph {
  readonly boxes: FlameBoxes;
  readonly groups: readonly FlameGroup[];
  /** Short name of each group, a part of paths. */
  readonly groupKeys: readonly string[];
  /** From the outermost box to the one zoomed into; empty for the whole. */
  readonly trail: readonly FlameStep[];
  /** False when the path led to a box that is not there; the trail goes as far as it does. */
  readonly isRootFound: boolean;
  /** Of the whole, whatever is zoomed into. */
  readonly total: FlameTotal;
}

export interface FlameTotal {
  readonly value: number;
  readonly magnitude: number;
  readonly count: number;
  readonly matched: number;
}

export interface FlameRow {
  /** For stacks the path to their box, for groups the group's key. */
  readonly key: string;
  readonly group: FlameGroup;
  /** By stack: a call stack that it stands for, see `StackReader`; else, and without one, -1. */
  readonly stack: StackIndex;
  /** The user's line of that stack to look at first. */
  readonly userFrame: FrameView | undefined;
  /** Weight of the allocations whose innermost box this is, and of all that have it in their stack. */
  readonly self: number;
  readonly total: number;
  readonly count: number;
  /** Part of `total` that matches the search, as a width. */
  readonly matched: number;
}

/** relevance: see {@link byRelevance}; the others are columns of the table. */
export type FlameOrderBy = 'relevance' | 'name' | 'self' | 'total' | 'count';

export interface FlameTable {
  /** How many rows there are in all. */
  readonly length: number;
  readonly rows: readonly FlameRow[];
}
