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
import { MemoryClass } from './types.ts';

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

it('weights that remove_weight_norm() makes of others take their place, beside the checkpoint', () => {
  const program = new Program();
  const sizes = Array.from({ length: 8 }, (_, at) => (at + 1) * MiB);
  const norms = sizes.map((size) => [
    program.alloc(size, movedAt(10)),
    program.alloc(512, movedAt(10)),
  ]);
  const loaded = [inTorch('serialization.py', 'load', 1500), at(11)];
  const checkpoint = sizes.map((size) => program.alloc(size, loaded));
  const weights = sizes.map((size, i) => {
    const weight = program.alloc(size, [inTorch('nn/utils/weight_norm.py', 'remove', 70), at(12)]);
    program.free(...norms[i]);
    return weight;
  });
  for (let pass = 0; pass < 4; pass++) {
    program.work(9, forwardAt(30));
    program.work(1, [at(31)]);
  }
  const { classOf, copies } = classify(program.context());
  const ids = idsOf(program, [...weights, ...checkpoint]);
  expect(new Set(ids.map((id) => classOf[id]))).toEqual(new Set([MemoryClass.Parameters]));
  expect(ids.map((id) => copies.get(id))).toEqual([
    ...weights.map(() => undefined),
    ...checkpoint.map(() => 1),
  ]);
});
