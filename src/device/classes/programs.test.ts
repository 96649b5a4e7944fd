/** The rules of classes, each on a hand-made program that shows it and on one that must not. */
import { describe, expect, it } from 'vitest';
import { classesOf, idsOf, MiB, SIZES, train } from '../../testing/class-programs.ts';
import {
  adamAt,
  at,
  BACKWARD,
  forwardAt,
  inTorch,
  movedAt,
  Program,
  type Tensor,
} from '../../testing/program.ts';
import { classify } from './classify.ts';
import { classAt, evidenceAt } from './types.ts';

const cpp = (name: string) => ({ name, filename: '??', line: 0 });

describe('workspaces of cuBLAS', () => {
  const WORKSPACE = 32 * MiB;

  it('are one per thread: other tensors of 32 MiB that are live at an OOM keep their class', () => {
    const program = new Program();
    for (const size of SIZES) program.alloc(size, movedAt(10));
    const forward = program.alloc(WORKSPACE, forwardAt(30));
    const lt = program.alloc(MiB, forwardAt(30));
    train(program);
    const backward = program.alloc(WORKSPACE, BACKWARD);
    train(program);
    const activations = Array.from({ length: 10 }, () => program.alloc(WORKSPACE, forwardAt(30)));
    const classes = classesOf(program.context());
    for (const id of idsOf(program, [forward, lt, backward]))
      expect(classes[id]).toBe('workspaces');
    for (const id of idsOf(program, activations)) expect(classes[id]).toBe('activations');
  });

  it('are not searched for if C++ frames name them', () => {
    const program = new Program();
    const named = cpp('at::cuda::getCUDABlasLtWorkspace()');
    const workspace = program.alloc(MiB, [named, ...forwardAt(30)]);
    train(program);
    const activation = program.alloc(WORKSPACE, forwardAt(30));
    const classes = classesOf(program.context());
    expect(idsOf(program, [workspace, activation]).map((id) => classes[id])).toEqual([
      'workspaces',
      'activations',
    ]);
  });
});

it('a weight of the size of a workspace is a parameter, whatever else its line moves', () => {
  const program = new Program();
  const [convert, to, line] = movedAt(3);
  const moved = [convert, inTorch('nn/modules/module.py', '_apply', 900), to, line];
  const weight = program.alloc(32 * MiB, moved);
  program.alloc(MiB, moved);
  for (let step = 0; step < 4; step++) {
    program.work(10, forwardAt(30));
    program.work(2, BACKWARD);
    program.work(1, adamAt(31));
  }
  const classes = classesOf(program.context());
  expect(idsOf(program, [weight]).map((id) => classes[id])).toEqual(['parameters']);
});

it('the batch that DataParallel copies to its devices is no communication', () => {
  const program = new Program();
  for (let i = 0; i < 4; i++) program.alloc((2 + i) * MiB, movedAt(3));
  const batches = Array.from({ length: 4 }, () => {
    const scattered = [
      inTorch('nn/parallel/comm.py', 'scatter', 250),
      inTorch('nn/parallel/data_parallel.py', 'forward', 190),
    ];
    const batch = program.alloc(18 * MiB, [...scattered, ...forwardAt(30).slice(1)]);
    program.work(10, forwardAt(30));
    program.work(2, BACKWARD);
    program.work(1, adamAt(31));
    program.free(batch);
    return batch;
  });
  const classes = classesOf(program.context());
  for (const id of idsOf(program, batches)) expect(classes[id]).not.toBe('communication');
});

it('a workspace that cuDNN tries in the backward pass is one, and the gradient beside it is not', () => {
  const program = new Program();
  const backward = [
    cpp('at::native::cudnn_convolution_backward_input(...)'),
    cpp('torch::autograd::generated::ConvolutionBackward0::apply(...)'),
  ];
  const trial = [
    cpp('at::native::generate_and_filter_plans(...)'),
    cpp('at::native::run_single_conv(...)'),
    cpp('at::native::raw_cudnn_convolution_backward_input_out(...)'),
    ...backward,
  ];
  const [tried, made] = [program.alloc(64 * MiB, trial), program.alloc(8 * MiB, backward)];
  program.free(tried);
  program.free(made);
  const classes = classesOf(program.context());
  expect(idsOf(program, [tried, made]).map((id) => classes[id])).toEqual([
    'workspaces',
    'temporaries',
  ]);
});

it('what a convolution frees at once in the backward pass is a workspace, as in the forward pass', () => {
  const program = new Program();
  const backward = [
    cpp('at::native::slow_conv2d_backward_cuda(...)'),
    cpp('at::native::convolution_backward(...)'),
    cpp('torch::autograd::generated::ConvolutionBackward0::apply(...)'),
  ];
  const columns = program.alloc(64 * MiB, backward);
  program.free(columns);
  const gradient = program.alloc(8 * MiB, backward);
  program.work(4, BACKWARD);
  program.free(gradient);
  const classes = classesOf(program.context());
  expect(idsOf(program, [columns, gradient]).map((id) => classes[id])).toEqual([
    'workspaces',
    'temporaries',
  ]);
});

describe('what an evaluation gathers', () => {
  const logitsAt = forwardAt(40);
  const gatherAt = [
    {
      name: 'pad_and_concatenate',
      filename: '/usr/lib/python3.12/site-packages/x/utils.py',
      line: 87,
    },
    at(41),
  ];

  /** Batch by batch: what `gather` makes of each stays until the next one, or to the end. */
  function evaluate(program: Program, batches: number, gather: (batch: number) => void): void {
    for (let batch = 0; batch < batches; batch++) {
      const input = program.alloc(MiB, [at(39)]);
      const logits = program.alloc(8 * MiB, logitsAt);
      program.work(40, logitsAt);
      gather(batch);
      program.free(logits, input);
    }
  }

  it('into one tensor is growing state, also during training', () => {
    const program = new Program();
    train(program);
    let all = program.alloc(8 * MiB, gatherAt);
    const gathered = [all];
    evaluate(program, 8, (batch) => {
      const larger = program.alloc((batch + 2) * 8 * MiB, gatherAt);
      program.free(all);
      all = larger;
      gathered.push(all);
    });
    program.work(20, [at(51)]);
    program.free(all);
    train(program, { steps: 2 });
    const classes = classesOf(program.context());
    for (const id of idsOf(program, gathered)) expect(classes[id]).toBe('growing-state');
  });

  it('into a list is kept over the steps of the evaluation, while its batches are inputs', () => {
    const program = new Program();
    train(program);
    const list: Tensor[] = [];
    evaluate(program, 8, () => list.push(program.alloc(2 * MiB, [at(42)])));
    program.free(...list);
    train(program, { steps: 2 });
    const classes = classesOf(program.context());
    const [first] = idsOf(program, list);
    expect(classes[first]).toBe('kept');
    expect(classes.filter((of) => of === 'kept').length).toBe(list.length - 3);
  });

  it('at its end, when no forward pass follows, is not an input', () => {
    const program = new Program();
    train(program);
    evaluate(program, 3, () => undefined);
    const all = program.alloc(24 * MiB, [at(50)]);
    program.work(40, [at(51)]);
    program.free(all);
    train(program, { steps: 2 });
    expect(classesOf(program.context())[idsOf(program, [all])[0]]).toBe('temporaries');
  });
});

describe('growing state', () => {
  /** A loop of forward passes; `sizes` are what one line makes in each, and keeps until it makes the next. */
  function replacing(sizes: readonly number[]): readonly string[] {
    const program = new Program();
    train(program);
    const line = [at(60)];
    let last: Tensor | undefined;
    const made = sizes.map((size) => {
      program.work(20, forwardAt(40));
      const next = program.alloc(size * MiB, line);
      if (last !== undefined) program.free(last);
      last = next;
      return next;
    });
    const classes = classesOf(program.context());
    return idsOf(program, made).map((id) => classes[id]);
  }

  it('is replaced by larger tensors', () => {
    expect(new Set(replacing([1, 2, 3, 4, 5, 6]))).toEqual(new Set(['growing-state']));
  });

  it('is not alternating models, nor sizes that vary or grow occasionally', () => {
    expect(replacing([1, 9, 1, 9, 2, 9, 2, 9, 3, 9])).not.toContain('growing-state');
    expect(replacing([1, 2, 4, 2, 3, 1, 5, 2, 6, 3, 4])).not.toContain('growing-state');
    expect(replacing([1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6])).not.toContain('growing-state');
  });

  it('is not found if all batches grow, such as sentences sorted by length', () => {
    const program = new Program();
    let last: Tensor[] = [];
    for (let size = 1; size < 9; size++) {
      const input = program.alloc(size * MiB, [at(59)]);
      const next = [60, 61, 62].map((line) => program.alloc(size * MiB, forwardAt(line)));
      program.free(input, ...last);
      last = next;
    }
    expect(classesOf(program.context())).not.toContain('growing-state');
  });

  it('counts as kept once its line has started over several times while it is still live', () => {
    const program = new Program();
    train(program);
    const remembered: Tensor[] = [];
    for (let request = 0; request < 5; request++) {
      let cache = program.alloc(MiB, [at(60)]);
      for (let size = 2; size < 8; size++) {
        program.work(20, forwardAt(40));
        const longer = program.alloc(size * MiB, [at(60)]);
        program.free(cache);
        cache = longer;
      }
      program.work(20, forwardAt(40));
      remembered.push(cache);
    }
    const classes = classesOf(program.context());
    const [first, ...others] = idsOf(program, remembered).map((id) => classes[id]);
    expect(first).toBe('kept');
    expect(others.at(-1)).toBe('growing-state');
  });

  it('is not what grows within one forward pass', () => {
    const program = new Program();
    train(program);
    let last = program.alloc(MiB, forwardAt(40));
    for (let size = 2; size < 9; size++) {
      program.work(12, forwardAt(40));
      const next = program.alloc(size * MiB, forwardAt(40));
      program.free(last);
      last = next;
    }
    expect(classesOf(program.context())).not.toContain('growing-state');
  });
});

describe('copies of the model', () => {
  const deepCopyAt = (line: number) => [
    inTorch('nn/parameter.py', '__deepcopy__', 79),
    { name: 'deepcopy', filename: '/usr/lib/python3.12/copy.py', line: 137 },
    at(line),
  ];

  /** Numbers of copies, by the allocations of `tensors`. */
  function copiesOf(program: Program, tensors: readonly Tensor[]): (number | undefined)[] {
    const found = classify(program.context());
    const ids = idsOf(program, tensors);
    for (const id of ids) expect(classAt(found, id).id).toBe('parameters');
    return ids.map((id) => found.copies.get(id));
  }

  it.each([
    ['a deep copy', deepCopyAt(12)],
    ['a model that another line moved', movedAt(12)],
    ['clones in a dictionary', [at(12)]],
  ])('%s, not trained', (_name, stack) => {
    const program = new Program();
    const model = SIZES.map((size) => program.alloc(size, movedAt(10)));
    const copy = SIZES.map((size) => program.alloc(size, stack));
    train(program);
    expect(copiesOf(program, model)).toEqual([undefined, undefined, undefined]);
    expect(copiesOf(program, copy)).toEqual([1, 1, 1]);
    const found = classify(program.context());
    expect(evidenceAt(found, idsOf(program, copy)[0])).toMatch(/several copies/);
  });

  it('include one without small buffers', () => {
    const program = new Program();
    const model = [...SIZES, 512].map((size) => program.alloc(size, movedAt(10)));
    const copy = SIZES.map((size) => program.alloc(size, [at(12)]));
    train(program);
    expect(copiesOf(program, [...model, ...copy])).toEqual([
      ...model.map(() => undefined),
      1,
      1,
      1,
    ]);
  });

  it('are numbered, even those from one line', () => {
    const program = new Program();
    for (const size of SIZES) program.alloc(size, movedAt(10));
    const copies = [0, 1, 2].map(() => SIZES.map((size) => program.alloc(size, deepCopyAt(12))));
    train(program);
    expect(copiesOf(program, copies.flat())).toEqual([1, 1, 1, 2, 2, 2, 3, 3, 3]);
  });

  it('are neither two trained models nor layers of one', () => {
    const program = new Program();
    for (const line of [10, 11]) for (const size of SIZES) program.alloc(size, movedAt(line));
    train(program, { sizes: [...SIZES, ...SIZES] });
    expect(classify(program.context()).copies.size).toBe(0);
  });

  it('do not include frozen weights: the rest of the model is not a copy', () => {
    const program = new Program();
    for (const size of [...SIZES, ...SIZES]) program.alloc(size, movedAt(10));
    train(program);
    expect(classify(program.context()).copies.size).toBe(0);
  });

  it('do not include what each step keeps, even with the sizes of the weights', () => {
    const program = new Program();
    for (const size of SIZES) program.alloc(size, movedAt(10));
    train(program, {
      steps: 8,
      inStep: () => {
        for (const size of SIZES) program.alloc(size, [at(70)]);
      },
    });
    expect(classify(program.context()).copies.size).toBe(0);
  });
});

it('a new optimizer made while the old one is live has its state numbered', () => {
  const program = new Program();
  for (const size of SIZES) program.alloc(size, movedAt(10));
  train(program, { steps: 3 });
  train(program, { steps: 3 });
  const context = program.context();
  const { classOf, copies } = classify(context);
  const states = [...classOf.keys()].filter((id) => classesOf(context)[id] === 'optimizer-state');
  expect(states.map((id) => copies.get(id))).toEqual([undefined, undefined, undefined, 1, 1, 1]);
});

it('a state that each step replaces is not a second optimizer', () => {
  const program = new Program();
  for (const size of SIZES) program.alloc(size, movedAt(10));
  let states: Tensor[] = [];
  for (let step = 0; step < 4; step++) {
    train(program, { steps: 1, hasState: false });
    const next = SIZES.map((size) => program.alloc(size, adamAt(31)));
    program.free(...states);
    states = next;
  }
  const { copies } = classify(program.context());
  expect(idsOf(program, states).map((id) => copies.has(id))).toEqual([false, false, false]);
});

it('what a line keeps from each step also counts as kept in the last steps', () => {
  const program = new Program();
  const kept: Tensor[] = [];
  train(program, { steps: 6, inStep: () => kept.push(program.alloc(7 * MiB, forwardAt(33))) });
  const classes = classesOf(program.context());
  expect(idsOf(program, kept).map((id) => classes[id])).toEqual(kept.map(() => 'kept'));
});

describe('what backward passes leave', () => {
  /** Classes of what five passes leave: as large as a weight, or of another size. */
  const leftBy = (size: number) => {
    const program = new Program();
    for (const weight of SIZES) program.alloc(weight, movedAt(10));
    const left: Tensor[] = [];
    for (let step = 0; step < 5; step++) {
      const activation = program.alloc(5 * MiB, forwardAt(30));
      for (let i = 0; i < 4; i++) left.push(program.alloc(size, BACKWARD));
      program.free(activation);
      program.work(1, BACKWARD);
      program.work(1, adamAt(31));
    }
    const classes = classesOf(program.context());
    return new Set(idsOf(program, left.slice(0, 8)).map((id) => classes[id]));
  };

  it('are gradients if a parameter has their size', () => {
    expect(leftBy(4 * MiB)).toEqual(new Set(['gradients']));
  });

  it('belong to a graph if they are more than the parameters, and of no size of theirs', () => {
    expect(leftBy(6 * MiB)).toEqual(new Set(['activations']));
  });
});

describe('an evaluation with backward passes of its own, as torch.autograd.grad runs', () => {
  /** Trains, then adapts to eight tasks; `end` gets what the passes of each made. */
  function evaluate(end: (graph: readonly Tensor[], program: Program) => void): Program {
    const program = new Program();
    for (const size of SIZES) program.alloc(size, movedAt(10));
    train(program);
    for (let task = 0; task < 8; task++) {
      const adapted = program.alloc(5 * MiB, forwardAt(50));
      const gradient = program.alloc(MiB, BACKWARD);
      program.free(adapted);
      program.work(1, BACKWARD);
      end([program.alloc(7 * MiB, forwardAt(51)), program.alloc(6 * MiB, forwardAt(51))], program);
      program.free(gradient);
    }
    return program;
  }

  const classesOfGraphs = (program: Program) =>
    classesOf(program.context())
      .filter((_, id) => program.tensors[id].size > 5 * MiB)
      .slice(-16);

  it('keeps the graphs that are never freed', () => {
    const classes = classesOfGraphs(evaluate(() => undefined));
    expect(classes.slice(0, -6)).toEqual(Array(10).fill('kept'));
  });

  it('keeps none of those that it drops', () => {
    const classes = classesOfGraphs(evaluate((graph, program) => program.free(...graph)));
    expect(classes).not.toContain('kept');
  });

  it('uses what is freed while a later backward runs, however many passes come before', () => {
    const program = new Program();
    for (const size of SIZES) program.alloc(size, movedAt(10));
    for (let step = 0; step < 3; step++) {
      const graphs = Array.from({ length: 5 }, () => {
        const made = program.alloc(7 * MiB, forwardAt(51));
        program.work(2, BACKWARD);
        return made;
      });
      program.work(1, forwardAt(52));
      const [first, last] = [program.alloc(MiB, BACKWARD), program.alloc(MiB, BACKWARD)];
      program.free(...graphs, first);
      program.work(1, BACKWARD);
      program.free(last);
    }
    const classes = classesOf(program.context());
    expect(new Set(classes.filter((_, id) => program.tensors[id].size === 7 * MiB))).toEqual(
      new Set(['activations']),
    );
  });
});
