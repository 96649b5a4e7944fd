/** Hand-made programs: what each line allocates and when it is freed, as a trace. */
import type { DeviceModel } from '../device/model/device-model.ts';
import { contextOf, traceOf } from './contexts.ts';

interface Frame {
  readonly name: string;
  readonly filename: string;
  readonly line: number;
}

/** Innermost first; [] is an autograd thread, which runs no Python. */
type Stack = readonly Frame[];

/** A tensor, until it is freed. */
export interface Tensor {
  readonly addr: number;
  readonly size: number;
}

const TORCH = '/usr/lib/python3.12/site-packages/torch';

/** 'train.py:12' of the program, without callers. */
export const at = (line: number, name = '<module>'): Frame => ({
  name,
  filename: '/workspace/train.py',
  line,
});

/** A PyTorch frame: inTorch('nn/modules/module.py', 'convert'). */
export const inTorch = (file: string, name: string, line = 1): Frame => ({
  name,
  filename: `${TORCH}/${file}`,
  line,
});

const MODULE = 'nn/modules/module.py';
/** The stack of a linear layer in a model called by `line`. */
export const forwardAt = (line: number): Stack => [
  inTorch('nn/modules/linear.py', 'forward', 134),
  inTorch(MODULE, '_call_impl', 1790),
  at(line),
];
/** The stack of model.to() in `line`. */
export const movedAt = (line: number): Stack => [
  inTorch(MODULE, 'convert', 1370),
  inTorch(MODULE, 'to', 1384),
  at(line),
];
export const BACKWARD: Stack = [];
/** The stack of the gradient that `loss.backward()` in `line` begins with. */
export const backwardAt = (line: number): Stack => [
  inTorch('autograd/__init__.py', '_make_grads', 231),
  inTorch('_tensor.py', 'backward', 631),
  at(line),
];
/** The stack of Adam's state for a parameter, made in opt.step() in `line`. */
export const adamAt = (line: number): Stack => [
  inTorch('optim/adam.py', '_init_group', 178),
  inTorch('optim/adam.py', 'step', 238),
  at(line),
];

export class Program {
  readonly #entries: Readonly<Record<string, unknown>>[] = [];
  /** In order of allocation. */
  readonly tensors: Tensor[] = [];

  /** Allocates a tensor of `size` bytes. */
  alloc(size: number, frames: Stack): Tensor {
    const tensor = { addr: 2 ** 21 * (1 + this.tensors.length * 1024), size };
    this.tensors.push(tensor);
    this.#entries.push({ action: 'alloc', ...tensor, frames });
    return tensor;
  }

  free(...tensors: readonly Tensor[]): void {
    for (const tensor of tensors) {
      this.#entries.push({ action: 'free_requested', ...tensor });
      this.#entries.push({ action: 'free_completed', ...tensor });
    }
  }

  /** Frees with the stack of the code that does it, as PyTorch records by default. */
  freeAt(frames: Stack, ...tensors: readonly Tensor[]): void {
    for (const tensor of tensors) {
      this.#entries.push({ action: 'free_requested', ...tensor, frames });
      this.#entries.push({ action: 'free_completed', ...tensor, frames });
    }
  }

  /** A request that fails while the device has `free` bytes. */
  oom(size: number, frames: Stack, free = 0): void {
    this.#entries.push({ action: 'oom', size, device_free: free, addr: 0, frames });
  }

  /** Allocates and frees at once, `times` times, like the rest of a program. */
  work(times: number, frames: Stack): void {
    for (let i = 0; i < times; i++) this.free(this.alloc(512, frames));
  }

  context(): DeviceModel {
    return contextOf(traceOf(...this.#entries));
  }
}
