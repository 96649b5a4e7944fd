import { describe, expect, test } from 'vitest';
import { loadCapture } from '../../testing/captures.ts';
import { contextOf, contextsOf, traceOf } from '../../testing/contexts.ts';
import { stackKind } from './stacks.ts';

const frame = (filename: string, name: string, line = 1) => ({ filename, name, line });
const NOISE = frame('??', 'torch::unwind::unwind()', 0);
const OPERATOR = frame('??', 'at::native::mm(at::Tensor const&)', 0);
const TORCH = frame('/x/site-packages/torch/nn/functional.py', 'linear', 20);
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
      role: 'user',
    });
  });
  test('else the innermost Python', () => {
    expect(topOf(NOISE, OPERATOR, TORCH)).toMatchObject({ ...TORCH, role: 'library' });
  });
  test('else, in a backward thread, the operator', () => {
    expect(topOf(NOISE, OPERATOR)).toMatchObject(OPERATOR);
  });
  test('is missing where there is nothing but noise, or nothing', () => {
    expect(topOf(NOISE)).toBeUndefined();
    expect(topOf()).toBeUndefined();
  });
});

test('frames come innermost first, as PyTorch writes them', () => {
  const frames = [TORCH, MINE, MAIN];
  const { trace, stacks } = contextOf(traceOf({ action: 'alloc', addr: 512, size: 1, frames }));
  const view = stacks.view(trace.events.stack[0]);
  expect(view.kind).toBe('recorded');
  expect(view.frames.map(({ line }) => line)).toEqual([20, 7, 99]);
});

test('three absences have three words', () => {
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
  // The frees of autograd's own threads: nothing but the engine, its nodes letting go of tensors.
  for (const stack of without) {
    const names = stacks.view(stack).frames.map(({ name }) => name);
    expect(names.join()).toContain('torch::autograd::Engine::thread_main');
  }
});
