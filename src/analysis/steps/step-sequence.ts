/** A program's steps, as ranges of events. */
import type { FrameIndex, StackIndex } from '../../format/snapshot/tables.ts';
import type { StackClassifier } from '../findings/stack-classifier.ts';
import type { DeviceTables } from '../findings/types.ts';

export type StepSource = 'annotation' | 'optimizer' | 'loop';

export interface StepSequence {
  readonly source: StepSource;
  /** Where the steps come from; reads after 'steps are': 'the ranges named "ProfilerStep#…"'. */
  readonly description: string;
  /** Step i contains the events bounds[i] < event <= bounds[i + 1], so there is one more bound than steps. */
  readonly bounds: Int32Array;
  /** Row in which the loop repeats; 0 for annotations. */
  readonly row: StackIndex;
  /** Where the program loops; only known for the source 'loop'. */
  readonly loop: Loop | undefined;
  /** The first step includes what came before it (model building), so its figures are not typical. */
  readonly firstIsOpen: boolean;
}

export interface Loop {
  /** The line that each iteration returns to. */
  readonly line: FrameIndex;
  /** The row that called the looping function: rows directly below it are lines of that function. */
  readonly caller: StackIndex;
}

export const stepCount = ({ bounds }: StepSequence): number => Math.max(0, bounds.length - 1);

/** Fewer repetitions are not evidence. */
export const MIN_STEPS = 4;

/** The part of an AnalysisInput that step detection needs. */
export interface StepDetectionInput {
  readonly input: DeviceTables;
  readonly classifier: StackClassifier;
  readonly hasTrace: boolean;
}
