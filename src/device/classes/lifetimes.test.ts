/** How long a tensor lives, and what freed it: the rules of classes on hand-made programs. */
import { describe, expect, it } from 'vitest';
import { classesOf, idsOf, MiB, train } from '../../testing/class-programs.ts';
import { at, forwardAt, inTorch, movedAt, Program, type Tensor } from '../../testing/program.ts';
import { classify } from './classify.ts';
import { classAt, evidenceAt } from './types.ts';

describe('a sampling loop that runs out of memory within a pass', () => {
  /** Three activations of a pass, of which `lasting` outlives it, and a local of the loop that the next turn replaces. */
  function sample({ lasting = false } = {}): Program {
    const program = new Program();
    let before: readonly Tensor[] = [];
    for (let turn = 0; turn < 12; turn++) {
      const made = [7, 6, 5].map((size) => program.alloc(size * MiB, forwardAt(40 + size)));
      program.work(40, forwardAt(40));
      if (turn === 11) program.oom(64 * MiB, forwardAt(40));
      else program.free(...(lasting ? made.slice(1) : made));
      program.work(1, forwardAt(40));
      const local = program.alloc(9 * MiB, [at(50)]);
      program.work(1, [at(51)]);
      program.free(...before);
      before = lasting ? [local, made[0]] : [local];
    }
    return program;
  }

  const lastOf = (program: Program, size: number) => {
    const classes = classesOf(program.context());
    return classes.findLast((_, id) => program.tensors[id].size === size * MiB);
  };

  it('holds temporaries, if earlier passes freed them before they were over', () => {
    expect([7, 6, 5].map((size) => lastOf(sample(), size))).toEqual(Array(3).fill('temporaries'));
  });

  it('holds activations of lines whose tensors outlived earlier passes', () => {
    const program = sample({ lasting: true });
    expect([7, 6].map((size) => lastOf(program, size))).toEqual(['activations', 'temporaries']);
  });

  it('keeps no local that each turn replaces', () => {
    expect(lastOf(sample(), 9)).toBe('inputs');
  });

  it('keeps what a list collects', () => {
    const program = new Program();
    for (let turn = 0; turn < 8; turn++) {
      program.work(4, forwardAt(40));
      program.alloc(9 * MiB, [at(50)]);
    }
    const classes = classesOf(program.context()).filter(
      (_, id) => program.tensors[id].size === 9 * MiB,
    );
    expect(classes.slice(0, 5)).toEqual(Array(5).fill('kept'));
  });
});

describe('what a validation without no_grad() makes', () => {
  /** As the loss goes, when the function that held it returns. */
  const RELEASE = [
    {
      name: 'torch::autograd::generated::ReluBackward0::release_variables()',
      filename: '',
      line: 0,
    },
    { name: 'torch::autograd::deleteNode(torch::autograd::Node*)', filename: '', line: 0 },
    at(60),
  ];

  function evidenceOf(freedBy: readonly (typeof RELEASE)[number][]) {
    const program = new Program();
    train(program);
    const scratch = program.alloc(9 * MiB, forwardAt(40));
    const relu = program.alloc(7 * MiB, forwardAt(40));
    program.freeAt([inTorch('nn/modules/module.py', '_call_impl'), at(40)], scratch);
    program.work(1, forwardAt(40));
    const local = program.alloc(3 * MiB, [at(50)]);
    program.work(4, [at(50)]);
    program.freeAt([at(50)], local);
    program.freeAt(freedBy, relu);
    train(program);
    const context = program.context();
    const found = classify(context);
    return idsOf(program, [scratch, relu, local]).map((id) => evidenceAt(found, id));
  }
  const [freed, dropped, local] = [
    'it was allocated in the forward pass, and freed before that was over',
    'it was allocated in the forward pass, and freed after it, before any backward pass',
    'it was allocated outside of modules, and freed soon or before the next pass',
  ];

  it('was kept by its graph, if the node that saved it freed it', () => {
    expect(evidenceOf(RELEASE)).toEqual([
      freed,
      'it was allocated in the forward pass, and kept by its graph, which was freed without a backward pass',
      local,
    ]);
  });

  it('was freed after its pass, if nothing tells what held it', () => {
    expect(evidenceOf([at(60)])).toEqual([freed, dropped, local]);
  });
});

describe('a kept tensor outlives several turns of the loop', () => {
  it('which two states of a batch, made by one line, do not if a turn has two optimizers', () => {
    const program = new Program();
    const batches: Tensor[] = [];
    for (let turn = 0; turn < 6; turn++) {
      const states = [0, 1].map(() => program.alloc(9 * MiB, [at(50)]));
      batches.push(...states);
      for (const line of [30, 40]) train(program, { steps: 1, line, hasState: turn === 0 });
      for (const line of [60, 70]) train(program, { steps: 1, line, hasState: turn === 0 });
      program.work(40, [at(55)]);
      program.free(...states);
    }
    const classes = classesOf(program.context());
    // The first is from before the first step.
    for (const id of idsOf(program, batches.slice(2))) expect(classes[id]).toBe('inputs');
  });

  it('which nothing in the last of several forward passes does', () => {
    const program = new Program();
    for (let pass = 0; pass < 3; pass++) {
      program.work(4, forwardAt(40));
      program.work(1, [at(41)]);
    }
    const input = program.alloc(9 * MiB, [at(50)]);
    program.work(4, forwardAt(60));
    expect(classesOf(program.context())[program.tensors.indexOf(input)]).toBe('inputs');
  });
});

it('in the only pass, which breaks off, a line that freed what it made before makes temporaries', () => {
  const program = new Program();
  for (let block = 0; block < 3; block++) {
    const scratch = program.alloc(9 * MiB, forwardAt(40));
    program.alloc(4 * MiB, forwardAt(41));
    program.work(2, forwardAt(42));
    program.free(scratch);
  }
  const last = program.alloc(9 * MiB, forwardAt(40));
  for (let block = 0; block < 70; block++) program.alloc(MiB, forwardAt(43));
  program.oom(99 * MiB, forwardAt(40));
  const found = classify(program.context());
  const [id] = idsOf(program, [last]);
  expect(classAt(found, id).id).toBe('temporaries');
  expect(evidenceAt(found, id)).toBe(
    'what the same line allocated before was freed in the forward pass or soon after, and this pass breaks off',
  );
});

it('what a script moves to the device is input, also if no pass was recorded', () => {
  const program = new Program();
  program.alloc(440 * MiB, [at(232)]);
  program.alloc(30 * MiB, [at(233)]);
  program.oom(900 * MiB, [at(239)]);
  const found = classify(program.context());
  expect([0, 1].map((id) => classAt(found, id).id)).toEqual(['inputs', 'inputs']);
  expect(evidenceAt(found, 0)).toBe(
    'it was allocated outside of modules, and no forward pass, backward pass or optimizer was recorded',
  );
});

it('what most of a pass left, freed without a backward pass, is its graph, whichever pass it was', () => {
  const program = new Program();
  const made: Tensor[] = [];
  let before: Tensor[] = [];
  train(program);
  for (let pass = 0; pass < 3; pass++) {
    const graph = Array.from({ length: 8 }, () => program.alloc(7 * MiB, forwardAt(40)));
    program.work(1, [at(41)]);
    program.free(...before);
    made.push(...graph);
    before = graph;
  }
  const classes = classify(program.context());
  // The last pass breaks off.
  const evidence = idsOf(program, made.slice(0, 16)).map((id) => evidenceAt(classes, id));
  expect([...new Set(evidence)]).toEqual([
    'it was allocated in the forward pass, and kept by its graph, which was freed without a backward pass',
  ]);
});

it.each([
  ['a line of yours', { name: 'average', filename: '/workspace/model.py', line: 73 }, 'parameters'],
  ['a library', inTorch('nn/utils/weight_norm.py', 'compute_weight', 26), 'activations'],
])('weights that %s makes again in each pass are %s', (_, maker, expected) => {
  const program = new Program();
  const sizes = Array.from({ length: 9 }, (_, i) => (2 + i) * MiB);
  for (const size of sizes) program.alloc(size, movedAt(3));
  let weights: Tensor[] = [];
  train(program, {
    sizes,
    inStep: () => {
      const next = sizes.map((size) => program.alloc(size, [maker, ...forwardAt(30).slice(1)]));
      program.free(...weights);
      weights = next;
    },
  });
  const classes = classesOf(program.context());
  expect(idsOf(program, weights).map((id) => classes[id])).toEqual(sizes.map(() => expected));
});
