/**
 * Plain data about a snapshot: what the page shows and the CLI prints.
 * Names and texts are resolved here (strings, not indices), so that they can cross to another thread.
 */

import type { CarriedColumn, EVENT_COLUMNS, EventIndex } from '../../format/snapshot/tables.ts';

/**
 * Whose code a frame is: 'user' is any Python that is not installed; 'framework' an installed package such as
 * transformers or lightning; 'pytorch' PyTorch's own Python; 'runtime' Python's library and generated code.
 */
export type FrameKind = 'user' | 'framework' | 'pytorch' | 'runtime' | 'cpp';

export interface FrameView {
  /** As recorded; of C++ with all types. `functionText` shortens it. */
  readonly name: string;
  /** As recorded: a path, or what stands for one where none is known. `frameLocation` tells. */
  readonly filename: string;
  readonly line: number;
  readonly kind: FrameKind;
  /** C++ that every stack has: unwinder, dispatcher, interpreter. */
  readonly isPlumbing: boolean;
  /** C++ that names a stack of the backward pass, whose threads run no Python. */
  readonly isBackward?: boolean;
  readonly extras: Readonly<Record<string, string>> | undefined;
}

/** Why a stack is there or not; three different absences have three different words on screen. */
export type StackKind = 'recorded' | 'no-python-stack' | 'no-context' | 'before-recording';

export interface StackView {
  readonly kind: StackKind;
  /** Innermost first. */
  readonly frames: readonly FrameView[];
}

/** What an event carries beside what the allocator needs: a text, or a number, by column. */
export type CarriedValues = {
  readonly [K in Exclude<CarriedColumn, 'forwardFrames'>]:
    | ((typeof EVENT_COLUMNS)[K] extends { readonly type: 'f64' } ? number : string)
    | undefined;
} & {
  /** Forward lines that led to a backward allocation, where anomaly mode recorded them. */
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
  /** False when START or END was not in the file. */
  readonly complete: boolean;
}
