/** Steps of recorded programs: how many there are, and where they were found. */
import { describe, expect, it } from 'vitest';
import { loadCapture } from '../../testing/captures.ts';
import { contextsOf } from '../../testing/contexts.ts';
import { AnalysisInput } from '../findings/analysis-input.ts';
import { type StepSequence, stepCount } from './step-sequence.ts';

function sequencesOf(name: string, device = 0): readonly StepSequence[] {
  return new AnalysisInput(contextsOf(loadCapture(`${name}.pickle.gz`))[device]).stepSequences;
}

describe('the steps of a program', () => {
  // name, steps, source, what the description says
  it.each([
    ['pairs/experts_skewed.python', 14, 'optimizer', 'the calls of the optimizer'],
    ['pairs/batch_grows_at_step_6.python', 12, 'optimizer', 'the calls of the optimizer'],
    ['pairs/leak_hf_trainer.python', 20, 'optimizer', 'the calls of the optimizer'],
    ['train_annotated', 4, 'annotation', '“## step … ##”'],
    ['pairs/leak_output_list.python', 20, 'loop', 'capture.py:328 (leak_output_list)'],
    ['pairs/eval_without_no_grad.python', 6, 'loop', 'capture.py:532 (eval_without_no_grad)'],
    ['pairs/kept_exceptions.python', 12, 'loop', 'capture.py:411 (kept_exceptions)'],
  ])('%s has %d, from the %s', (name, steps, source, description) => {
    const [primary] = sequencesOf(name);
    expect([stepCount(primary), primary.source]).toEqual([steps, source]);
    expect(primary.description).toContain(description);
  });

  it('are never ranges that PyTorch annotates within them', () => {
    const ranges = sequencesOf('fleet/fsdp2_rank3', 3).filter(
      ({ source }) => source === 'annotation',
    );
    expect(ranges).toEqual([]);
    expect(stepCount(sequencesOf('fleet/fsdp2_rank3', 3)[0])).toBe(12);
  });
});

describe('the line of a loop', () => {
  it.each([
    // model(tokens(…)): one line that calls two functions.
    ['pairs/leak_output_list.python', 'capture.py:328 (leak_output_list)'],
    ['pairs/gpt_train.python', 'capture.py:118 (gpt_train)'],
    // Lines of one function.
    ['leak_loss_graph', 'scenarios.py:228 (leak_loss_graph)'],
  ])('of %s is %s', (name, line) => {
    const loop = sequencesOf(name).find(({ source }) => source === 'loop');
    expect(loop?.description).toBe(`the program's returns to ${line}`);
  });
});
