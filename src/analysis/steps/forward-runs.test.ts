/** Whether a backward used what a forward pass kept. */
import { expect, it } from 'vitest';
import { BACKWARD, forwardAt, Program } from '../../testing/program.ts';
import { detect } from '../findings/analyse.ts';
import { AnalysisInput } from '../findings/analysis-input.ts';

const MIB = 2 ** 20;

/** Passes of ten activations and `locals` tensors that their function drops as it returns. */
function answerOf({ locals, isUsed }: { locals: number; isUsed: boolean }) {
  const program = new Program();
  for (let step = 0; step < 6; step++) {
    const graph = Array.from({ length: 10 }, () => program.alloc(MIB, forwardAt(20)));
    const scratch = Array.from({ length: locals }, () => program.alloc(4 * MIB, forwardAt(20)));
    program.free(...scratch);
    program.work(1, forwardAt(21));
    if (!isUsed) program.free(...graph);
    const gradient = program.alloc(MIB, BACKWARD);
    if (isUsed) program.free(...graph);
    program.work(1, BACKWARD);
    program.free(gradient);
  }
  return detect('no-grad', new AnalysisInput(program.context()));
}

it('a backward uses the graph of a straight-through estimator, whose distances and codes are dropped first', () => {
  expect(answerOf({ locals: 5, isUsed: true }).status).toBe('clear');
  expect(answerOf({ locals: 0, isUsed: true }).status).toBe('clear');
});

it('no backward uses what is dropped before it', () => {
  expect(answerOf({ locals: 5, isUsed: false }).status).toBe('found');
  expect(answerOf({ locals: 0, isUsed: false }).status).toBe('found');
});
