/** Which blocks belong to what is kept, on hand-made programs. */
import { expect, it } from 'vitest';
import { MiB, SIZES } from '../../testing/class-programs.ts';
import {
  adamAt,
  at,
  BACKWARD,
  forwardAt,
  movedAt,
  Program,
  type Tensor,
} from '../../testing/program.ts';
import { AnalysisInput } from '../findings/analysis-input.ts';
import { accountAtEnd } from './account.ts';

const KEPT = 2;
const STEPS = 12;

it('gradients that a hook keeps are apart from the last ones of the weights', () => {
  const program = new Program();
  for (const size of SIZES) program.alloc(size, movedAt(10));
  let gradients: readonly Tensor[] = [];
  for (let step = 0; step < STEPS; step++) {
    program.work(1, [at(20)]);
    const activation = program.alloc(5 * MiB, forwardAt(30));
    program.free(...gradients);
    for (let hook = 0; hook < KEPT; hook++) program.alloc(7 * MiB, BACKWARD);
    gradients = SIZES.map((size) => program.alloc(size, BACKWARD));
    program.free(activation);
    program.work(1, BACKWARD);
    program.work(1, adamAt(31));
  }
  const { entries } = accountAtEnd(new AnalysisInput(program.context()));
  const countOf = (kind: string) => entries.find((entry) => entry.kind === kind)?.count;
  expect([countOf('kept'), countOf('gradients')]).toEqual([KEPT * STEPS, SIZES.length]);
});
