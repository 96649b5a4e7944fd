/** What finding a program's steps needs of a {@link AnalysisContext}, which in turn offers them. */

import type { StackClassifier } from '../stack-classifier.ts';
import type { AnalysisInput } from '../types.ts';
import type { PythonTree } from './python-tree.ts';

export interface StepDetectionInput {
  readonly input: AnalysisInput;
  readonly traits: StackClassifier;
  readonly tree: PythonTree;
  readonly hasTrace: boolean;
  checkCancelled(): void;
}
