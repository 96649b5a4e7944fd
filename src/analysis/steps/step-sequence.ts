/** A program's steps, as ranges of events. */
import type { FrameIndex, StackIndex } from '../../format/snapshot/tables.ts';
import type { StackClassifier } from '../findings/stack-classifier.ts';
import type { DeviceTables } from '../findings/types.ts';

export type StepSource = 'annotation' | 'optimizer' | 'loop';

export interface StepSequence {
  readonly source: StepSource;
  /** Where the steps come from, to be read after 'steps are': 'the ranges named "ProfilerStep#…"'. */
  readonly description: string;
  /** Step i is the events bounds[i] < event <= bounds[i + 1]; one more than there are steps. */
  readonly bounds: Int32Array;
  /** Row in which the loop repeats; 0 for annotations. */
  readonly row: StackIndex;
  /** Where the program loops; undefined for other sources, which don't show it. */
  readonly loop: Loop | undefined;
  /** What lies before the first step is part of it (model building): its figures are no step's. */
  readonly firstIsOpen: boolean;
}

export interface Loop {
  /** The line that it comes back to. */
  readonly line: FrameIndex;
  /** The row that called the function which loops: rows right below it are lines of that function. */
  readonly caller: StackIndex;
}

export const stepCount = ({ bounds }: StepSequence): number => Math.max(0, bounds.length - 1);

/** Fewer repetitions say nothing. */
export const MIN_STEPS = 4;

/** What finding a program's steps needs of an AnalysisInput, which in turn offers them. */
export interface StepDetectionInput {
  readonly input: DeviceTables;
  readonly classifier: StackClassifier;
  readonly hasTrace: boolean;
}
