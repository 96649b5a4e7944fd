/** What `Module.to()` moves: weights, gradients and buffers. */
import { describe, expect, it } from 'vitest';
import { classesOf, idsOf, MiB, SIZES, train } from '../../testing/class-programs.ts';
import {
  at,
  BACKWARD,
  forwardAt,
  inTorch,
  movedAt,
  Program,
  type Tensor,
} from '../../testing/program.ts';
import { classify } from './classify.ts';

/** What model.to() in `line` makes by a line of Module._apply. */
const appliedAt = (line: number, inApply: number) => [
  inTorch('nn/modules/module.py', 'convert', 1370),
  inTorch('nn/modules/module.py', '_apply', inApply),
  inTorch('nn/modules/module.py', '_apply', 934),
  inTorch('nn/modules/module.py', 'to', 1384),
  at(line),
];
const [PARAMETER, GRADIENT, BUFFER] = [965, 1009, 1035];

/** The loop's next pass, in which the recording ends. */
const goesOn = (program: Program) => {
  program.alloc(5 * MiB, forwardAt(30));
  program.oom(64 * MiB, forwardAt(30));
};

describe('a model that is moved to the CPU, saved, and moved back', () => {
  function saved() {
    const program = new Program();
    const weights = SIZES.map((size) => program.alloc(size, appliedAt(10, PARAMETER)));
    const bias = program.alloc(MiB, appliedAt(10, BUFFER));
    train(program);
    const gradients = SIZES.map((size) => program.alloc(size, BACKWARD));
    program.work(1, BACKWARD);
    program.work(1, forwardAt(30));
    program.free(...weights, ...gradients, bias);
    const back: Tensor[] = [];
    for (const size of SIZES) {
      back.push(program.alloc(size, appliedAt(40, PARAMETER)));
      back.push(program.alloc(size, appliedAt(40, GRADIENT)));
    }
    back.push(program.alloc(MiB, appliedAt(40, BUFFER)));
    goesOn(program);
    return { program, back };
  }

  it('has parameters, gradients and buffers again', () => {
    const { program, back } = saved();
    const classes = classesOf(program.context());
    expect(idsOf(program, back).map((id) => classes[id])).toEqual([
      ...SIZES.flatMap(() => ['parameters', 'gradients']),
      'parameters',
    ]);
  });

  it('is no copy of itself', () => {
    expect(classify(saved().program.context()).copies.size).toBe(0);
  });
});

it('buffers may have the size of the parameter before them, as in BatchNorm', () => {
  const program = new Program();
  const made = [PARAMETER, PARAMETER, BUFFER, BUFFER].map((line) =>
    program.alloc(2 * MiB, appliedAt(10, line)),
  );
  train(program);
  const classes = classesOf(program.context());
  expect(idsOf(program, made).map((id) => classes[id])).toEqual(Array(4).fill('parameters'));
});

it('a copy that lives beside the model is one, also if it was moved', () => {
  const program = new Program();
  for (const size of SIZES) program.alloc(size, movedAt(10));
  const first = SIZES.map((size) => program.alloc(size, movedAt(12)));
  train(program);
  program.free(...first);
  const again = SIZES.map((size) => program.alloc(size, movedAt(13)));
  train(program);
  const { copies } = classify(program.context());
  expect(idsOf(program, [...first, ...again]).map((id) => copies.get(id))).toEqual(
    Array(6).fill(1),
  );
});
