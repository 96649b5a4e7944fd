import { expect, it } from 'vitest';
import { BEFORE_TRACE, NEVER } from '../../allocator/replay/types.ts';
import { modelCopies } from './copies.ts';

const MiB = 2 ** 20;
const SIZES = [8 * MiB, 4 * MiB, 2 * MiB];

/** Two sets of one model, by lines of __init__; the first lies lower. */
function copiesOf(lines: readonly [number, number], begin: number): readonly number[] {
  const sizes = [...SIZES, ...SIZES];
  const table = {
    start: Int32Array.from(sizes, (_, id) => (begin < 0 ? begin : begin + id)),
    freeRequested: new Int32Array(sizes.length).fill(NEVER),
    requestedBytes: Float64Array.from(sizes),
    stack: Int32Array.of(2, 2, 2, 3, 3, 3),
  };
  // Below one line of main.py: two lines of Agent.__init__.
  const stacks = {
    length: 4,
    frame: Int32Array.of(-1, 0, 1, 2),
    parent: Int32Array.of(-1, 0, 1, 1),
  };
  const frames = {
    name: Int32Array.of(1, 2, 2),
    filename: Int32Array.of(3, 4, 4),
    line: Int32Array.of(90, ...lines),
  };
  const copies = modelCopies(table, stacks, {
    parameters: [...sizes.keys()],
    candidates: [],
    gradients: new Map(SIZES.map((size) => [size, 1])),
    isDeepCopy: () => false,
    frames,
  });
  return [...copies.keys()].sort((a, b) => a - b);
}

it('before the recording, the model is what an earlier line of one function made', () => {
  expect(copiesOf([40, 25], BEFORE_TRACE)).toEqual([0, 1, 2]);
  expect(copiesOf([25, 40], BEFORE_TRACE)).toEqual([3, 4, 5]);
});

it('in the recording, the model is what was made first', () => {
  expect(copiesOf([40, 25], 10)).toEqual([3, 4, 5]);
});
