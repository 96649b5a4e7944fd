/** What finding a program's steps needs of a {@link Study}, which in turn offers them. */

import type { StackTraits } from '../stack-classifier.ts';
import type { AnalysisInput } from '../types.ts';
import type { PythonTree } from './python-tree.ts';

export interface Program {
  readonly input: AnalysisInput;
  readonly traits: StackTraits;
  readonly tree: PythonTree;
  readonly hasTrace: boolean;
  checkCancelled(): void;
}
