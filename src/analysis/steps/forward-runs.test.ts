/** What is one forward pass, and whether a backward used what it kept. */
import { expect, it } from 'vitest';
import { at, BACKWARD, forwardAt, inTorch, Program, type Tensor } from '../../testing/program.ts';
import { detect } from '../findings/analyse.ts';
import { AnalysisInput } from '../findings/analysis-input.ts';
import { forwardRuns, largerPass } from './forward-runs.ts';

const MIB = 2 ** 20;

/** Passes of ten activations and `locals` tensors that their function drops as it returns. */
function answerOf({ locals, isUsed }: { locals: number; isUsed: boolean }) {
  const program = new Program();
  for (let step = 0; step < 6; step++) {
    const graph = Array.from({ length: 10 }, () => program.alloc(MIB, forwardAt(20)));
    const scratch = Array.from({ length: locals }, () => program.alloc(4 * MIB, forwardAt(20)));
    program.free(...scratch);
    program.work(1, forwardAt(21));
    if (!isUsed) program.free(...graph);
    const gradient = program.alloc(MIB, BACKWARD);
    if (isUsed) program.free(...graph);
    program.work(1, BACKWARD);
    program.free(gradient);
  }
  return detect('no-grad', new AnalysisInput(program.context()));
}

it('a backward uses the graph of a straight-through estimator, whose distances and codes are dropped first', () => {
  expect(answerOf({ locals: 5, isUsed: true }).status).toBe('clear');
  expect(answerOf({ locals: 0, isUsed: true }).status).toBe('clear');
});

it('no backward uses what is dropped before it', () => {
  expect(answerOf({ locals: 5, isUsed: false }).status).toBe('found');
  expect(answerOf({ locals: 0, isUsed: false }).status).toBe('found');
});

/** Where a layer's locals go as its forward returns: still in the model that line 20 called. */
const RETURNING = [inTorch('nn/modules/module.py', '_call_impl', 1790), at(20)];
const LAYERS = 6;

/**
 * An evaluation of `passes` batches by a model of six layers, whose outputs the next call gets as its memories. With
 * `keepsGraph`, autograd keeps half of what a layer makes until line 20 has the next output.
 */
function evaluation({ passes, keepsGraph }: { passes: number; keepsGraph: boolean }) {
  const program = new Program();
  let dropped: readonly { addr: number; size: number }[] = [];
  for (let pass = 0; pass < passes; pass++) {
    const kept = [];
    for (let layer = 0; layer < LAYERS; layer++) {
      const made = Array.from({ length: 20 }, () => program.alloc(MIB, forwardAt(20)));
      const [memory, ...rest] = made;
      const graph = keepsGraph ? rest.slice(0, 10) : [];
      kept.push(memory, ...graph);
      program.freeAt(RETURNING, ...rest.slice(graph.length));
    }
    program.freeAt([at(20)], ...dropped, program.alloc(512, forwardAt(20)));
    program.work(1, [at(22)]);
    dropped = kept;
  }
  return new AnalysisInput(program.context());
}

it('a call of the model is one pass, however many tensors its layers drop as they return', () => {
  const passes = evaluation({ passes: 8, keepsGraph: false }).once(forwardRuns);
  expect(passes).toHaveLength(8);
  expect(passes[0]).toMatchObject({ allocations: 20 * LAYERS + 1, keptCount: LAYERS });
});

it('memories that the next call gets are no graph', () => {
  expect(detect('no-grad', evaluation({ passes: 8, keepsGraph: false }))).toEqual({
    status: 'clear',
    checked:
      '8 calls of modules from your code with 8 allocations or more: 8 kept some tensors, with or without a graph.',
  });
});

it('a graph without backward is what was live at one moment, by call sites that add up to it', () => {
  const context = evaluation({ passes: 8, keepsGraph: true });
  const result = detect('no-grad', context);
  if (result.status !== 'found') throw new Error(result.status);
  const [{ bytes, parts, evidence, moment }] = result.findings;
  const { start, freeRequested } = context.input.replay.allocations;
  // Two graphs: line 20 drops one as it gets the next.
  expect(bytes).toBe(2 * 11 * LAYERS * MIB);
  expect(parts.map((part) => part.bytes)).toEqual([bytes]);
  expect(evidence.allocations).toHaveLength(parts[0].count);
  for (const id of evidence.allocations) {
    expect(start[id]).toBeLessThanOrEqual(moment);
    expect(freeRequested[id]).toBeGreaterThan(moment);
  }
});

it('of passes that keep little, those whose graphs a backward or nothing used are told apart', () => {
  const RELEASE = [
    {
      name: 'torch::autograd::generated::ReluBackward0::release_variables()',
      filename: '',
      line: 0,
    },
    at(30),
  ];
  const program = new Program();
  for (let epoch = 0; epoch < 5; epoch++) {
    for (const line of [20, 25]) {
      const relu = program.alloc(MIB, forwardAt(line));
      for (let i = 0; i < 9; i++)
        program.freeAt(forwardAt(line), program.alloc(MIB, forwardAt(line)));
      const output = program.alloc(MIB, forwardAt(line));
      program.work(1, [at(line + 1)]);
      const gradient = line === 20 ? program.alloc(MIB, BACKWARD) : undefined;
      program.freeAt(line === 20 ? BACKWARD : RELEASE, relu);
      if (gradient !== undefined) program.free(gradient, program.alloc(MIB, BACKWARD));
      program.freeAt([at(31)], output);
    }
  }
  expect(detect('no-grad', new AnalysisInput(program.context()))).toEqual({
    status: 'clear',
    checked:
      '10 calls of modules from your code with 8 allocations or more: 5 kept a graph until a backward came, 5 kept a graph that no backward used, too little or too rarely to matter.',
  });
});

/** `train()` and `test()` both call `iteration()`, line 10, and it calls `model.forward(x)` by name, lines 20 and 21. */
const iteration = (line: number, caller: number) => [
  ...forwardAt(line).slice(0, -1),
  at(line, 'forward'),
  at(10, 'iteration'),
  at(caller, caller < 40 ? 'train' : 'test'),
  at(90),
];

it('a forward called by name is one pass, and an evaluation is named by the line that only it has', () => {
  const program = new Program();
  for (const caller of [30, 30, 30, 30, 40, 40, 40, 40]) {
    const graph = [20, 21].flatMap((line) =>
      Array.from({ length: 6 }, () => program.alloc(MIB, iteration(line, caller))),
    );
    if (caller === 30) program.work(1, BACKWARD);
    program.freeAt([at(50)], ...graph);
    program.work(1, [at(50)]);
  }
  const context = new AnalysisInput(program.context());
  const passes = context.once(forwardRuns);
  expect(passes.map(({ allocations }) => allocations)).toEqual(Array(8).fill(12));
  expect(detect('no-grad', context)).toMatchObject({
    status: 'found',
    findings: [{ frame: { line: 40, name: 'test' } }],
  });
});

it('an evaluation whose passes keep as much as those of training keeps its graph, however little that is', () => {
  const program = new Program();
  const pass = (line: number) => {
    // Most of what a pass makes is dropped in it.
    for (let i = 0; i < 30; i++) program.free(program.alloc(MIB, forwardAt(line)));
    return Array.from({ length: 10 }, () => program.alloc(MIB, forwardAt(line)));
  };
  for (const line of [20, 20, 20, 20, 60, 60]) {
    const graph = pass(line);
    if (line === 20) program.work(1, BACKWARD);
    program.freeAt(line === 20 ? BACKWARD : [at(61)], ...graph);
    program.work(1, [at(62)]);
  }
  expect(detect('no-grad', new AnalysisInput(program.context()))).toMatchObject({
    status: 'found',
    findings: [{ frame: { line: 60 } }],
  });
});

it('where memory runs out in a layer, what it would have freed is not kept by the graph', () => {
  const program = new Program();
  const GRAPH = 10;
  for (let layer = 0; layer < GRAPH; layer++) {
    program.alloc(MIB, forwardAt(20));
    const scratch = program.alloc(3 * MIB, [at(12, 'forward'), ...RETURNING]);
    program.work(1, forwardAt(20));
    if (layer === GRAPH - 1) program.oom(64 * MIB, forwardAt(20));
    program.freeAt(RETURNING, scratch);
  }
  const [pass] = new AnalysisInput(program.context()).once(forwardRuns).slice(-1);
  const sizes = pass.kept.map((id) => program.tensors[id].size);
  expect(sizes).toEqual(Array(GRAPH).fill(MIB));
});

/** Passes of a recurrence whose tensors have `grows` MiB more each; the last runs out in its backward. */
function recurrence(grows: readonly number[]) {
  const program = new Program();
  let memory: readonly Tensor[] = [];
  for (const [pass, size] of grows.entries()) {
    const graph = Array.from({ length: 20 }, () => program.alloc((20 + size) * MIB, forwardAt(20)));
    const next = Array.from({ length: 4 }, () => program.alloc((10 + size) * MIB, MEMORY));
    const outputs = Array.from({ length: 3 }, () => program.alloc(512, forwardAt(20)));
    program.free(...memory);
    memory = next;
    program.work(1, [at(22)]);
    const gradient = program.alloc(MIB, BACKWARD);
    if (pass === grows.length - 1) program.oom(300 * MIB, BACKWARD);
    program.free(...graph, ...outputs, gradient);
    program.work(1, [at(24)]);
  }
  const context = new AnalysisInput(program.context());
  return largerPass(context, context.input.trace.events.length - 1);
}

/** Of the model that line 20 calls. */
const MEMORY = [at(50, 'update_memory'), ...forwardAt(20)];

it('passes that leave more each time, by the line whose tensors the next pass still uses', () => {
  const rising = recurrence([0, 4, 8, 12]);
  expect(rising).toMatchObject({ count: 3, risesBytes: expect.any(Number) });
  expect(rising?.carried?.bytes).toBe(4 * 18 * MIB);
});

it('a single longer batch is no rise', () => {
  expect(recurrence([0, 4, 0, 4, 16])).toMatchObject({ count: 4, risesBytes: undefined });
  expect(recurrence([0, 0, 0, 0, 0])).toBeUndefined();
});
