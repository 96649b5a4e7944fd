/** What sets the peak of a run without a fault. */
import { expect, it } from 'vitest';
import {
  adamAt,
  at,
  BACKWARD,
  backwardAt,
  forwardAt,
  movedAt,
  Program,
  type Tensor,
} from '../../testing/program.ts';
import { analyse } from '../findings/analyse.ts';

const MIB = 2 ** 20;
const GIB = 1024 * MIB;
const LOADED = [at(5, '__init__'), at(90)];
const LOADED_TOO = [at(6, '__init__'), at(90)];
const KNN = [at(23, 'knn'), ...forwardAt(10)];

const TEACHER = [...forwardAt(30).slice(0, -1), at(30, 'forward'), ...forwardAt(10).slice(1)];

interface Parts {
  /** Made before the first step, by lines 5 and 6. */
  readonly data?: number;
  /** Made before the first step by lines 5 and 6, of which only the latter's stays. */
  readonly loaded?: number;
  /** Made by each step, and freed when its data is no longer needed. */
  readonly batch?: number;
  /** Freed within each forward pass. */
  readonly scratch?: number;
  /** Made by a teacher that line 30 calls in the model's forward, twenty tensors which are freed as that returns. */
  readonly teacher?: number;
  /** Freed within the only pass that line 40 calls. */
  readonly test?: number;
}

function trained({
  data = 0,
  loaded = 0,
  batch = MIB,
  scratch = MIB,
  teacher = 0,
  test = MIB,
}: Parts): Program {
  const program = new Program();
  for (let i = 0; i < 8; i++) program.alloc(8 * MIB, movedAt(3));
  if (data > 0) program.alloc(data / 2, LOADED);
  if (data > 0) program.alloc(data / 2, LOADED_TOO);
  if (loaded > 0) {
    const whole = program.alloc(loaded / 2, LOADED);
    program.alloc(loaded / 2, LOADED_TOO);
    program.work(40, [at(91)]);
    program.free(whole);
  }
  for (let step = 0; step < 8; step++) {
    const input = program.alloc(batch, [at(8)]);
    const taught = Array.from({ length: teacher > 0 ? 20 : 0 }, () =>
      program.alloc(teacher / 20, TEACHER),
    );
    const graph = Array.from({ length: 8 }, () => {
      const kept = program.alloc(8 * MIB, forwardAt(10));
      program.free(program.alloc(scratch, KNN));
      return kept;
    });
    program.free(...taught);
    const gradients = graph.map(() => program.alloc(8 * MIB, BACKWARD));
    program.free(...graph, input);
    if (step === 0) for (const _ of graph) program.alloc(8 * MIB, adamAt(12));
    program.free(...gradients);
  }
  for (let layer = 0; layer < 8; layer++) {
    program.freeAt([at(40)], program.alloc(test, [...forwardAt(40)]));
  }
  return program;
}

const verdictOf = async (parts: Parts) => (await analyse(trained(parts).context())).verdict;

it('data that stays, by all lines that put it there', async () => {
  const { text, tone, lines, also, advice } = await verdictOf({ data: 4 * GIB });
  expect(text).toBe(
    'No out-of-memory error, but train.py:5 (__init__) and train.py:6 (__init__) put data on the GPU that stays there: 4.00 GiB of the 4.25 GiB in use at the peak.',
  );
  expect([tone, lines[0].line]).toEqual(['calm', 5]);
  expect(also).toContain(
    '2 of its tensors have 2.00 GiB each: if they hold the same, one would do.',
  );
  expect(advice[0]).toMatchObject({ id: 'to-cpu', savesBytes: 4 * GIB });
});

it('data that was cut on the GPU before the first step', async () => {
  const { text, also, advice } = await verdictOf({ loaded: 2 * GIB });
  expect(text).toBe(
    'No out-of-memory error, but train.py:5 (__init__) and train.py:6 (__init__) put data on the GPU before the first forward pass: 2.00 GiB of the 2.06 GiB in use at the peak. 1.00 GiB of it stays to the end.',
  );
  expect(also[0]).toMatch(
    /^That was before the first forward pass: from there on, at most 1\.\d+ GiB/,
  );
  expect(advice[0]).toMatchObject({ id: 'to-cpu' });
});

it('a batch does not stay, however large it is', async () => {
  expect((await verdictOf({ batch: 2 * GIB })).cause).toBe('none');
});

it("one line's scratch tensors", async () => {
  const { pattern, bytes, tone, lines, advice } = await verdictOf({ scratch: 2 * GIB });
  expect({ pattern, bytes, tone, line: lines[0].line }).toEqual({
    ...{ pattern: 'line-scratch', bytes: 2 * GIB },
    ...{ tone: 'calm', line: 23 },
  });
  // Without it the backward pass sets the peak.
  expect(advice[0].savesBytes).toBeLessThan(2 * GIB);
});

it("a teacher's graph that no backward uses, by the line that calls it", async () => {
  const { pattern, bytes, lines, advice } = await verdictOf({ teacher: 2.5 * GIB });
  expect({ pattern, bytes, line: lines[0].line }).toEqual({
    ...{ pattern: 'evaluation-without-no-grad', bytes: 2.5 * GIB, line: 30 },
  });
  expect(advice[0].id).toBe('no-grad');
});

/** Eight layers of 64 MiB of activations each, of which the optimizer trains `trained`. */
function finetuned(trained: number): Program {
  const program = new Program();
  const sizes = Array.from({ length: 8 }, (_, layer) => (2 + layer) * MIB);
  for (const size of sizes) program.alloc(size, movedAt(3));
  for (let step = 0; step < 8; step++) {
    const graph = sizes.map(() => program.alloc(64 * MIB, forwardAt(10)));
    const gradients = sizes.map((size) => program.alloc(size, BACKWARD));
    program.free(...graph);
    if (step === 0) for (const size of sizes.slice(-trained)) program.alloc(size, adamAt(12));
    if (step < 7) program.free(...gradients);
  }
  return program;
}

it('a part that no optimizer trains, though it has gradients', async () => {
  const part = (await analyse(finetuned(2).context())).verdict;
  expect([part.pattern, part.tone, part.lines[0].line]).toEqual(['untrained-part', 'calm', 10]);
  expect(part.also.join(' ')).toContain(
    '6 gradients (27.00 MiB) of the run are of parameters that no optimizer',
  );
  expect((await analyse(finetuned(8).context())).verdict.cause).toBe('none');
});

/** An encoder that line 30 calls, whose gradients nobody clears, before a model of as many layers that Adam trains. */
function encoded(): Program {
  const program = new Program();
  const layers = Array.from({ length: 20 }, (_, layer) => (2 + layer) * MIB);
  for (const size of [...layers, ...layers]) program.alloc(size, movedAt(3));
  for (let step = 0; step < 8; step++) {
    const graph = [30, 10].flatMap((line) =>
      layers.map(() => program.alloc((line === 30 ? 64 : 8) * MIB, forwardAt(line))),
    );
    const gradients = layers.map((size) => program.alloc(size, BACKWARD));
    if (step === 0) for (const size of layers) program.alloc(size / 2, BACKWARD);
    program.free(...graph);
    const moments = step === 0 ? layers.flatMap((size) => [size, size]) : [];
    for (const size of moments) program.alloc(size, adamAt(12));
    if (step < 7) program.free(...gradients);
  }
  return program;
}

it("a step's first call of a model, if gradients that no optimizer has state for are of it", async () => {
  const { verdict } = await analyse(encoded().context());
  expect([verdict.pattern, verdict.tone, verdict.lines[0].line]).toEqual([
    'untrained-part',
    'calm',
    30,
  ]);
  expect(verdict.also.join(' ')).toContain('20 gradients (115.00 MiB)');
});

/**
 * Two discriminators whose losses one backward serves with retain_graph=True, then a generator's pass. Their graphs go as
 * the next step's loss replaces theirs, with `between` allocations after those of the first.
 */
function adversarial(between: number): Program {
  const program = new Program();
  const passOf = (line: number) =>
    Array.from({ length: 20 }, () => program.alloc(16 * MIB, forwardAt(line)));
  let retained: (readonly Tensor[])[] = [];
  for (let step = 0; step < 6; step++) {
    const losses = [20, 21].map((line) => {
      const graph = passOf(line);
      program.work(1, [at(line + 10)]);
      return graph;
    });
    for (const graph of retained) {
      program.free(...graph);
      program.work(between, [at(32)]);
    }
    retained = losses;
    const first = program.alloc(512, backwardAt(33));
    program.free(program.alloc(MIB, BACKWARD), first);
    program.work(1, [at(33)]);
    const own = passOf(24);
    program.work(1, [at(34)]);
    const gradient = program.alloc(MIB, BACKWARD);
    program.free(...own, gradient);
    program.work(1, [at(35)]);
  }
  return program;
}

it('graphs of several models that outlive the backward of their common loss, and its line', async () => {
  const { pattern, bytes, lines, text } = (await analyse(adversarial(0).context())).verdict;
  expect({ pattern, bytes, lines: lines.map(({ line }) => line).sort() }).toEqual({
    ...{ pattern: 'retained-graph', bytes: 2 * 20 * 16 * MIB, lines: [20, 21, 33] },
  });
  expect(text).toMatch(/keep their graphs after their own backward at train\.py:33 \(<module>\): /);
});

it('what goes at another time had no backward in common', async () => {
  const { pattern, lines } = (await analyse(adversarial(1).context())).verdict;
  expect({ pattern, lines: lines.map(({ line }) => line) }).not.toMatchObject({
    lines: [20, 21, 33],
  });
});

it('a part of the program that needs far more than the rest', async () => {
  const { text, tone, lines } = await verdictOf({ test: 2 * GIB });
  expect(text).toMatch(
    /^No out-of-memory error, but forward passes called by train.py:40 \(<module>\) need 2\.\d+ GiB, the rest of the run at most \d+\.\d+ MiB\.$/,
  );
  expect([tone, lines[0].line]).toEqual(['calm', 40]);
});

it('nothing of that in an ordinary run', async () => {
  expect((await verdictOf({})).cause).toBe('none');
});
