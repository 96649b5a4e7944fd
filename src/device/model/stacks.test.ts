import { describe, expect, test } from 'vitest';
import { loadCapture } from '../../testing/captures.ts';
import { contextOf, contextsOf, traceOf } from '../../testing/contexts.ts';
import { stackKind } from './stacks.ts';

const frame = (filename: string, name: string, line = 1) => ({ filename, name, line });
const NOISE = frame('??', 'torch::unwind::unwind()', 0);
const OPERATOR = frame('??', 'at::native::mm(at::Tensor const&)', 0);
const TORCH = frame('/x/site-packages/torch/nn/functional.py', 'linear', 20);
const TRAINER = frame('/x/site-packages/transformers/trainer.py', 'training_step', 4);
const MINE = frame('/home/ann/train.py', 'step', 7);
const MAIN = frame('/home/ann/train.py', '<module>', 99);

function topOf(...frames: readonly unknown[]) {
  const { trace, stacks } = contextOf(traceOf({ action: 'alloc', addr: 512, size: 1, frames }));
  return stacks.topUserFrameView(trace.events.stack[0]);
}

describe('the line to look at first', () => {
  test('is the innermost of the user', () => {
    expect(topOf(NOISE, OPERATOR, TORCH, MINE, TORCH, MAIN)).toMatchObject({
      ...MINE,
      kind: 'user',
    });
  });
  test('else the innermost of a framework, before PyTorch and Python', () => {
    const runtime = frame('/usr/lib/python3.12/threading.py', 'run');
    expect(topOf(runtime, TORCH, TRAINER, TORCH, TRAINER)).toMatchObject(TRAINER);
    expect(topOf(NOISE, runtime, TORCH)).toMatchObject(TORCH);
    expect(topOf(NOISE, OPERATOR, runtime)).toMatchObject({ ...runtime, kind: 'runtime' });
  });
  test('else the innermost Python', () => {
    expect(topOf(NOISE, OPERATOR, TORCH)).toMatchObject({ ...TORCH, kind: 'pytorch' });
  });
  test('else, in a backward thread, the operator', () => {
    expect(topOf(NOISE, OPERATOR)).toMatchObject(OPERATOR);
    expect(topOf(NOISE, OPERATOR)?.isBackward).toBeUndefined();
  });
  test('else, in the backward pass, the node that ran or the operator between nodes', () => {
    const name = 'torch::autograd::generated::AddmmBackward0::apply(std::vector<at::Tensor>&&)';
    const node = frame('??', name, 0);
    const add = frame('??', 'at::_ops::add_Tensor::call(at::Tensor const&)', 0);
    const engine = frame('??', 'torch::autograd::Engine::thread_main()', 0);
    expect(topOf(NOISE, OPERATOR, node, engine)).toMatchObject({ ...node, isBackward: true });
    expect(topOf(NOISE, OPERATOR, add, engine)).toMatchObject({ ...add, isBackward: true });
    expect(topOf(NOISE, engine)).toBeUndefined();
  });
  test('else the node that frees what it saved, in the backward pass or without one', () => {
    const node = frame('??', 'torch::autograd::generated::ReluBackward0::release_variables()', 0);
    const engine = frame('??', 'torch::autograd::Engine::evaluate_function()', 0);
    const destructor = frame('??', 'torch::autograd::deleteNode(torch::autograd::Node*)', 0);
    expect(topOf(NOISE, node, engine)).toMatchObject({ ...node, isBackward: true });
    expect(topOf(NOISE, node, destructor)).toMatchObject(node);
    expect(topOf(NOISE, node, destructor)?.isBackward).toBeUndefined();
  });
  test('is missing if there is only plumbing, or nothing', () => {
    expect(topOf(NOISE)).toBeUndefined();
    expect(topOf()).toBeUndefined();
  });
});

test('the leaf is what the line to look at led to, if that is another function', () => {
  const leafOf = (...frames: readonly unknown[]) => {
    const { trace, stacks } = contextOf(traceOf({ action: 'alloc', addr: 512, size: 1, frames }));
    return stacks.leafFrameView(trace.events.stack[0]);
  };
  expect(leafOf(TORCH, TRAINER, MAIN)).toMatchObject(TORCH);
  expect(leafOf(NOISE, MINE, MAIN)).toBeUndefined();
  expect(leafOf(NOISE, OPERATOR)).toBeUndefined();
});

test('a generated file, a wrapper or a launcher is not the line if there is another one', () => {
  const propagate = frame(
    '/tmp/torch_geometric.nn.conv.gat_conv_GATConv_propagate_a1.py',
    'propagate',
  );
  const wrapper = frame('/usr/lib/python3.12/contextlib.py', 'inner');
  const torchrun = frame('/opt/conda/bin/torchrun', '<module>', 8);
  expect(topOf(propagate, TORCH, wrapper, MINE, MAIN, torchrun)).toMatchObject(MINE);
  expect(topOf(propagate, wrapper, TRAINER, TORCH, torchrun)).toMatchObject(TRAINER);
  expect(topOf(TORCH, MAIN, torchrun)).toMatchObject({ ...MAIN, kind: 'user' });
  expect(topOf(propagate, torchrun)).toMatchObject({ ...propagate, kind: 'runtime' });
});

test('code that runs a script through runpy is a launcher, not a line of the program', () => {
  const runpy = frame('<frozen runpy>', 'run_path', 286);
  const launch = frame('/home/ann/launch.py', 'main', 12);
  expect(topOf(TORCH, MAIN, runpy, launch)).toMatchObject(MAIN);
  expect(topOf(TORCH, TRAINER, runpy, launch)).toMatchObject(TRAINER);
  expect(topOf(TORCH, TRAINER, launch)).toMatchObject(launch);
});

test('frames come innermost first, as PyTorch writes them', () => {
  const frames = [TORCH, MINE, MAIN];
  const { trace, stacks } = contextOf(traceOf({ action: 'alloc', addr: 512, size: 1, frames }));
  const view = stacks.view(trace.events.stack[0]);
  expect(view.kind).toBe('recorded');
  expect(view.frames.map(({ line }) => line)).toEqual([20, 7, 99]);
});

test('the three absences have different words', () => {
  const { trace } = contextOf(
    traceOf(
      { action: 'alloc', addr: 512, size: 1, frames: [] },
      { action: 'alloc', addr: 1024, size: 1 },
    ),
  );
  const [empty, none] = trace.events.stack;
  expect(stackKind(empty, false)).toBe('no-python-stack');
  expect(stackKind(none, false)).toBe('no-context');
  expect(stackKind(empty, true)).toBe('before-recording');
  expect(stackKind(none, true)).toBe('before-recording');
});

test('every stack of a real capture with C++ frames has a line to look at', () => {
  const [{ trace, stacks }] = contextsOf(loadCapture('train_gpt_cpp_stacks.pickle.gz'));
  const without = new Set<number>();
  for (const stack of trace.events.stack) {
    if (stack > 0 && stacks.topUserFrame(stack) === undefined) without.add(stack);
  }
  // Frees by autograd's own threads: only the engine, whose nodes release their tensors.
  for (const stack of without) {
    const names = stacks.view(stack).frames.map(({ name }) => name);
    expect(names.join()).toContain('torch::autograd::Engine::thread_main');
  }
});

describe('the call site of a stack', () => {
  const NODE = frame('??', 'torch::autograd::generated::MmBackward0::apply()', 0);
  const ENGINE = frame('??', 'torch::autograd::Engine::thread_main()', 0);
  const CLONE = frame('??', 'at::native::clone(at::Tensor const&)', 0);
  const alloc = (at: number, ...frames: readonly unknown[]) => {
    return { action: 'alloc', addr: 512 * at, size: 1, frames };
  };
  function sitesOf(...entries: ReturnType<typeof alloc>[]) {
    const { trace, stacks } = contextOf(traceOf(...entries));
    return Array.from(trace.events.stack, (stack) => stacks.siteOf(stack));
  }

  test('is one for all paths through C++, and one for each name in the backward pass', () => {
    const [a, b, other, node, same, empty, plumbing] = sitesOf(
      alloc(1, NOISE, TORCH, MINE, MAIN),
      alloc(2, OPERATOR, TORCH, ENGINE, MINE, MAIN),
      alloc(3, OPERATOR, MINE, MAIN),
      alloc(4, OPERATOR, NODE, ENGINE),
      alloc(5, CLONE, NOISE, NODE, ENGINE),
      alloc(6),
      alloc(7, NOISE, ENGINE),
    );
    expect(b).toBe(a);
    expect(other).not.toBe(a);
    expect(same).toBe(node);
    expect(node).not.toBe(empty);
    // Nothing says what ran, as in a Python-only recording.
    expect(plumbing).toBe(empty);
  });

  test('is each stack if no Python was recorded at all', () => {
    const [a, b] = sitesOf(alloc(1, OPERATOR, ENGINE), alloc(2, NOISE, OPERATOR, ENGINE));
    expect(a).not.toBe(b);
  });
});
