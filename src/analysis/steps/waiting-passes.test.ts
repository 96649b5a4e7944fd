/** Graphs that wait together for one backward. */
import { expect, it } from 'vitest';
import { adamAt, at, BACKWARD, forwardAt, Program } from '../../testing/program.ts';
import { mainAccount } from '../account/account.ts';
import { analyse } from '../findings/analyse.ts';
import { AnalysisInput } from '../findings/analysis-input.ts';
import { waitingPasses } from './waiting-passes.ts';

const MIB = 2 ** 20;

/** Steps of four passes of ten activations; `isEach`: with a backward after each. */
function training({ isEach }: { readonly isEach: boolean }) {
  const program = new Program();
  for (let step = 0; step < 6; step++) {
    let waiting: ReturnType<Program['alloc']>[] = [];
    const backward = () => {
      program.work(1, BACKWARD);
      program.free(...waiting);
      program.work(1, BACKWARD);
      waiting = [];
    };
    for (let pass = 0; pass < 4; pass++) {
      waiting.push(...Array.from({ length: 10 }, () => program.alloc(MIB, forwardAt(20))));
      program.work(1, [at(21)]);
      if (isEach) backward();
    }
    if (!isEach) backward();
  }
  return new AnalysisInput(program.context());
}

it('are counted at the peak, with what all but one of them take', async () => {
  const context = training({ isEach: false });
  expect(waitingPasses(context, mainAccount(context))).toMatchObject({
    count: 4,
    bytes: 40 * MIB,
    savedBytes: 30 * MIB,
    lines: [{ line: 20 }],
  });
  const { verdict } = await analyse(context.input);
  expect(verdict).toMatchObject({ pattern: 'waiting-graphs', severity: 'low', tone: 'calm' });
  expect(verdict.advice).toMatchObject([{ id: 'backward-each', savesBytes: 30 * MIB }]);
});

it('are none with a backward after each pass', async () => {
  const context = training({ isEach: true });
  expect(waitingPasses(context, mainAccount(context))).toBeUndefined();
  expect((await analyse(context.input)).verdict.pattern).toBeUndefined();
});

it('are the cause of an OOM, with all lines that call the model, if gradients were taken in between', async () => {
  const program = new Program();
  for (let step = 0; step < 6; step++) {
    const graphs: ReturnType<Program['alloc']>[] = [];
    for (let pass = 0; pass < 4; pass++) {
      for (const line of [20, 21])
        graphs.push(...Array.from({ length: 10 }, () => program.alloc(MIB, forwardAt(line))));
      program.work(2, BACKWARD);
      program.work(1, [at(22)]);
    }
    if (step === 5) program.oom(MIB, forwardAt(20), 2 ** 40);
    else program.free(...graphs);
    program.work(1, BACKWARD);
    program.work(1, adamAt(25));
  }
  const { verdict } = await analyse(program.context());
  expect(verdict).toMatchObject({
    cause: 'activations',
    pattern: 'retained-graph',
    tone: 'severe',
  });
  expect(verdict.text).toContain(
    '8 forward passes called by train.py:20 (<module>) and train.py:21 (<module>) keep their graphs although backward has run between them: 80.00 MiB',
  );
});
