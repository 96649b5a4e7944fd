/**
 * Plain data about a snapshot for the page and the CLI. It contains strings rather than indices, so it can cross
 * threads.
 */

import type { CarriedColumn, EVENT_COLUMNS, EventIndex } from '../../format/snapshot/tables.ts';

/**
 * Whose code a frame is: 'user' is any Python that is not installed; 'framework' an installed package such as
 * transformers or lightning; 'pytorch' PyTorch's own Python; 'runtime' Python's library and generated code.
 */
export type FrameKind = 'user' | 'framework' | 'pytorch' | 'runtime' | 'cpp';

export interface FrameView {
  /** As recorded; C++ with all types. `functionText` shortens it. */
  readonly name: string;
  /** As recorded: a path, or a placeholder for an unknown one. See `frameLocation`. */
  readonly filename: string;
  readonly line: number;
  readonly kind: FrameKind;
  /** C++ in every stack: unwinder, dispatcher, interpreter. */
  readonly isPlumbing: boolean;
  /** C++ that names a backward-pass stack, whose thread runs no Python. */
  readonly isBackward?: boolean;
  readonly extras: Readonly<Record<string, string>> | undefined;
}

/** Why a stack exists or not; the three kinds of absence have different words on screen. */
export type StackKind = 'recorded' | 'no-python-stack' | 'no-context' | 'before-recording';

export interface StackView {
  readonly kind: StackKind;
  /** Innermost first. */
  readonly frames: readonly FrameView[];
}

/** Values in an event beyond what the allocator needs: a text or a number per column. */
export type CarriedValues = {
  readonly [K in Exclude<CarriedColumn, 'forwardFrames'>]:
    | ((typeof EVENT_COLUMNS)[K] extends { readonly type: 'f64' } ? number : string)
    | undefined;
} & {
  /** Forward lines that led to a backward allocation, if anomaly mode recorded them. */
  readonly forwardFrames?: readonly string[] | undefined;
};

export interface AnnotationSpan {
  readonly name: string;
  /** Nesting level, 0 outermost. */
  readonly depth: number;
  readonly startUs: number;
  readonly endUs: number;
  /** First event inside, and one past the last. */
  readonly startEvent: EventIndex;
  readonly endEvent: EventIndex;
  /** False if START or END was not in the file. */
  readonly complete: boolean;
}
