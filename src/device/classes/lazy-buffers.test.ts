/** What a module makes in its first pass and keeps. */
import { describe, expect, it } from 'vitest';
import { classesOf, idsOf, MiB, train } from '../../testing/class-programs.ts';
import { at, forwardAt, inTorch, Program, type Tensor } from '../../testing/program.ts';

/** A line of the model that line 30 trains. */
const inModelAt = (line: number) => [
  at(line, 'forward'),
  inTorch('nn/modules/module.py', '_call_impl', 1790),
  at(30),
];

describe('what a forward pass makes, and nothing frees,', () => {
  /** The class of what the first of eight steps makes by `stack`; later ones make it in `moreSteps`. */
  function classOf(stack: ReturnType<typeof forwardAt>, moreSteps: readonly number[] = []) {
    const program = new Program();
    const made: Tensor[] = [];
    train(program, {
      steps: 8,
      inStep: (step) => {
        program.work(1, forwardAt(30));
        if (step === 0 || moreSteps.includes(step)) made.push(program.alloc(7 * MiB, stack));
        program.work(1, forwardAt(30));
      },
    });
    return classesOf(program.context())[idsOf(program, made)[0]];
  }

  it('is a buffer, if the same model goes on without another', () => {
    expect(classOf(inModelAt(39))).toBe('parameters');
  });

  it('is kept, if its line makes more', () => {
    expect(classOf(inModelAt(39), [4])).toBe('kept');
  });

  it('is kept, if its model is not called again', () => {
    expect(classOf(forwardAt(12))).toBe('kept');
  });
});
