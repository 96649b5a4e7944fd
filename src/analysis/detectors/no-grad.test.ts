/** Evaluations that run out of memory in their first pass: whether it kept a graph is judged by what training passes keep. */
import { expect, it } from 'vitest';
import { adamAt, at, BACKWARD, forwardAt, Program } from '../../testing/program.ts';
import { detect } from '../findings/analyse.ts';
import { AnalysisInput } from '../findings/analysis-input.ts';

const MIB = 2 ** 20;

/** Training passes keep a third of their tensors; then a pass at line 20 fails of which every `each`th tensor is live. */
function failedAfterTraining(each: number): AnalysisInput {
  const program = new Program();
  const pass = (line: number, every: number) =>
    Array.from({ length: 60 }, (_, i) => {
      const tensor = program.alloc(MIB, forwardAt(line));
      if (i % every === 0) return [tensor];
      program.free(tensor);
      return [];
    }).flat();
  for (let step = 0; step < 6; step++) {
    const graph = pass(10, 3);
    program.work(1, [at(11)]);
    program.work(1, BACKWARD);
    program.free(...graph);
    program.work(1, BACKWARD);
    program.work(1, adamAt(12));
  }
  pass(20, each);
  program.oom(MIB, forwardAt(20), 2 ** 40);
  return new AnalysisInput(program.context());
}

it('a pass that keeps as much as those of the training had a graph', () => {
  const result = detect('no-grad', failedAfterTraining(3));
  expect(result).toMatchObject({
    status: 'found',
    findings: [{ kind: 'graph-at-oom', frame: { line: 20 }, bytes: 20 * MIB }],
  });
});

it('a pass that keeps a third of that had none', () => {
  expect(detect('no-grad', failedAfterTraining(10)).status).toBe('clear');
});
