import { expect, it } from 'vitest';
import { loadCapture } from '../../testing/captures.ts';
import { contextsOf } from '../../testing/contexts.ts';
import { adamAt, BACKWARD, forwardAt, movedAt, Program } from '../../testing/program.ts';
import { analyse } from '../findings/analyse.ts';
import { gainText } from './types.ts';

const MIB = 2 ** 20;
const GIB = 1024 * MIB;

/** A model of eight layers on the device. */
function model(): Program {
  const program = new Program();
  for (let i = 0; i < 8; i++) program.alloc(512 * MIB, movedAt(3));
  return program;
}

const forward = (program: Program) =>
  Array.from({ length: 8 }, () => program.alloc(MIB, forwardAt(10)));

const verdictOf = async (program: Program) => (await analyse(program.context())).verdict;

it('names in the first backward only what is there, and how much its gradients need', async () => {
  const program = model();
  forward(program);
  for (let i = 0; i < 5; i++) program.alloc(512 * MIB, BACKWARD);
  program.oom(512 * MIB, BACKWARD, 40 * GIB);
  const { cause, brief, text, also, advice } = await verdictOf(program);
  expect(cause).toBe('model-state');
  expect(brief).toBe(
    'Out of memory: parameters and gradients already take 6.50 GiB, in the first backward pass.',
  );
  expect(text).toContain('parameters and gradients already take 6.50 GiB of the 6.51 GiB');
  expect(also[0]).toContain('(up to 4.00 GiB); 2.50 GiB of them was there.');
  expect(advice.map(({ isEnough }) => isEnough)).toEqual(advice.map(() => undefined));
  // A higher limit is not the whole answer.
  expect(advice[1].id).toBe('raise-limit');
  expect(gainText(advice[0])).toMatch(/^Saves .* so far\.$/);
});

it('says of the first forward pass what it takes so far, and of no remedy that it is enough', async () => {
  const [context] = contextsOf(loadCapture('pairs/oom_first_forward.python.pickle.gz'));
  const { brief, text, also, advice } = (await analyse(context)).verdict;
  expect(brief).toContain('of activations so far, in the first forward pass.');
  expect(text).toMatch(
    /^Out of memory: activations already take .* in the first forward pass, and/,
  );
  expect(also[0]).toContain('would have requested more after it.');
  expect(advice.length).toBeGreaterThan(0);
  expect(advice.every(({ isEnough }) => isEnough === undefined)).toBe(true);
});

/** @param steps whole steps before memory runs out in the next backward */
function trained(steps: number): Program {
  const program = model();
  for (let i = 0; i < steps; i++) {
    const activations = forward(program);
    const gradients = activations.map(() => program.alloc(512 * MIB, BACKWARD));
    if (i === 0) for (const _ of gradients) program.alloc(512 * MIB, adamAt(12));
    program.free(...activations, ...gradients);
  }
  forward(program);
  program.alloc(512 * MIB, BACKWARD);
  program.oom(512 * MIB, BACKWARD, 40 * GIB);
  return program;
}

it('knows what is needed once a step has been completed', async () => {
  const { brief, text, also, advice } = await verdictOf(trained(2));
  expect(brief).toMatch(/^Out of memory: parameters, gradients and optimizer state take/);
  expect([text, ...also].join(' ')).not.toMatch(/already|first/);
  expect(advice.some(({ isEnough }) => isEnough === true)).toBe(true);
});

it('says that the optimizer was in its first step', async () => {
  const program = model();
  const activations = forward(program);
  for (const _ of activations) program.alloc(512 * MIB, BACKWARD);
  for (let i = 0; i < 4; i++) program.alloc(512 * MIB, adamAt(12));
  program.oom(512 * MIB, adamAt(12), 40 * GIB);
  const { brief, advice } = await verdictOf(program);
  expect(brief).toContain("optimizer state already take 10.00 GiB, in the optimizer's first step.");
  // The GPU had room beyond the process's own limit: that comes before more GPUs.
  expect(advice.map(({ id }) => id).slice(0, 2)).toEqual(['raise-limit', 'shard']);
});

it("knows Adam's two moments of each gradient before the first of them is there", async () => {
  const program = model();
  for (const _ of forward(program)) program.alloc(512 * MIB, BACKWARD);
  program.oom(512 * MIB, adamAt(12), 100 * GIB);
  const { also } = await verdictOf(program);
  expect(also[0]).toContain(
    'its state takes about 8.00 GiB in all; nothing of it was there. With the whole state, the model takes about 16.00 GiB.',
  );
});
