/**
 * A flame graph's questions and answers: which allocations count (set), how much each counts (weight), and into which
 * boxes their stacks are sorted (grouping, frames, direction).
 */

import type { EventIndex } from '../../format/snapshot/tables.ts';
import type { FrameView, StackKind } from '../model/types.ts';
import type { FrameLevel, FrameTarget } from './transform-text.ts';

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
 * top. holder: no frames, but the parts of the name of the variable that holds it.
 */
export type FlameGrouping = 'class' | 'line' | 'stack' | 'function' | 'file' | 'module' | 'holder';

/**
 * Frames that get boxes. own: user code; known: also libraries and C++ that computes; all: also unwinder, dispatcher
 * and interpreter. A frame without a box passes its bytes to its caller.
 */
export type FlameFrames = 'own' | 'known' | 'all';

/**
 * Why an allocation has no frame: no stack, or none of the requested frames. By holder, why it has no name: no variable
 * was found, or it was freed before names were looked for.
 */
export type NoFrame = Exclude<StackKind, 'recorded'> | 'none-shown' | 'no-name' | 'freed';

export type FlameGroup =
  | {
      readonly kind: 'frame';
      /** Function, file or module; C++ without types. */
      readonly label: string;
      /** 'run/train.py:10', or '' if the label says everything. */
      readonly location: string;
      /** One of its frames; when grouped by stack, the frame itself. */
      readonly frame: FrameView;
      /** What the box is made of: coarser than the grouping if its frames were collapsed. */
      readonly level: FrameLevel;
      /** What transforms can be applied to: its function and its library, or itself. */
      readonly targets: readonly (FrameTarget & { readonly label: string })[];
      /** The search for allocations with it in their stack; undefined if there is none. */
      readonly search: string | undefined;
    }
  | {
      readonly kind: 'class';
      readonly label: string;
      readonly about: string;
      readonly search: string;
    }
  | {
      readonly kind: 'holder';
      /** A part of a name: '[0]'. */
      readonly label: string;
      /** The name as far as this part: 'losses[0]'. */
      readonly name: string;
      readonly isGraph: boolean;
      readonly search: string;
    }
  | { readonly kind: 'absent'; readonly reason: NoFrame; readonly search?: string };

/** A column of the table. */
export type FlameOrderBy = 'name' | 'self' | 'total' | 'count';
