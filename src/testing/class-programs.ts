/** Hand-made programs for tests of classes: a model that trains, and the classes of what a program allocates. */
import { classify } from '../device/classes/classify.ts';
import { classAt } from '../device/classes/types.ts';
import type { DeviceModel } from '../device/model/device-model.ts';
import { adamAt, BACKWARD, forwardAt, type Program, type Tensor } from './program.ts';

export const MiB = 2 ** 20;
export const SIZES = [4, 3, 2].map((size) => size * MiB);

/** The class of each tensor, such as 'parameters', by its position in `program.tensors`. */
export function classesOf(context: DeviceModel): readonly string[] {
  const found = classify(context);
  return Array.from(
    { length: context.replay.allocations.length },
    (_, id) => classAt(found, id).id,
  );
}

export const idsOf = (program: Program, tensors: readonly Tensor[]): number[] =>
  tensors.map((tensor) => program.tensors.indexOf(tensor));

/**
 * `steps` steps of a model whose weights have the given `sizes`; `inStep` is called in each, before its backward
 * pass.
 */
export function train(
  program: Program,
  {
    sizes = SIZES,
    steps = 5,
    line = 30,
    hasState = true,
    inStep,
  }: {
    sizes?: readonly number[];
    steps?: number;
    line?: number;
    hasState?: boolean;
    inStep?: (step: number) => void;
  } = {},
): void {
  for (let step = 0; step < steps; step++) {
    const activations = [5, 6].map((size) => program.alloc(size * MiB, forwardAt(line)));
    inStep?.(step);
    const gradients = sizes.map((size) => program.alloc(size, BACKWARD));
    program.free(...activations);
    program.work(1, BACKWARD);
    if (hasState && step === 0) for (const size of sizes) program.alloc(size, adamAt(line + 1));
    program.work(1, adamAt(line + 1));
    program.free(...gradients);
  }
}
