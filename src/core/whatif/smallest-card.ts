/** The least memory with which the recorded requests would have been served, found by trying limits. */
import { CancelledError } from '../base/cancelled.ts';
import { REQUESTS_A_SLICE, Simulation, type WhatIfInput } from './simulation.ts';
import type { AllocConf, WhatIfCalls } from './what-if.ts';

const GIB = 2 ** 30;
const MIB = 2 ** 20;
/** Memory is reserved in multiples of it. */
const STEP_BYTES = 2 * MIB;
/**
 * What a process takes of a card beside PyTorch's memory: CUDA context, kernels, cuBLAS and cuDNN. On an
 * H200 with CUDA 13 the OOM messages of our recordings say 0.5 to 0.65 GiB; NCCL takes more.
 */
export const CONTEXT_BYTES = 0.65 * GIB;
/** Memory of common cards in GiB. */
export const COMMON_CARDS_GIB: readonly number[] = [
  4, 6, 8, 10, 11, 12, 16, 20, 24, 32, 40, 48, 64, 80, 96, 141, 192,
];

export interface SmallestCard {
  /** Least limit for PyTorch, exact to 2 MiB: a little less is not enough. */
  readonly limitBytes: number;
  /** The smallest common card with so much beside {@link CONTEXT_BYTES}; undefined: none has. */
  readonly cardGib: number | undefined;
  /** Runs that it took. */
  readonly runs: number;
}

/** Bisects between what was allocated at the peak and what is reserved without any limit: about ten runs. */
export function smallestCard(
  input: WhatIfInput,
  conf: AllocConf,
  calls: WhatIfCalls = {},
): SmallestCard {
  let runs = 0;
  const run = (limitBytes: number): Simulation => {
    const simulation = new Simulation(input, {
      settings: conf.settings,
      limitBytes,
      parts: 1,
      stopsAtAnyOom: true,
    });
    while (!simulation.run(REQUESTS_A_SLICE)) {
      if (calls.isCancelled?.() === true) throw new CancelledError();
    }
    runs++;
    return simulation;
  };
  const { memory, allocator } = run(Infinity);
  let low = Math.floor(allocator.peakAllocatedBytes / STEP_BYTES) - 1;
  let high = Math.ceil(memory.peakReservedBytes / STEP_BYTES);
  // With garbage collection a limit changes the run even where it would suffice.
  while (run(high * STEP_BYTES).ooms.length > 0) high = Math.ceil(high * 1.25);
  const width = Math.max(1, high - low);
  while (high - low > 1) {
    const middle = (low + high) >>> 1;
    if (run(middle * STEP_BYTES).ooms.length > 0) low = middle;
    else high = middle;
    calls.onProgress?.(1 - Math.log2(high - low) / Math.log2(width));
  }
  const limitBytes = high * STEP_BYTES;
  return { limitBytes, cardGib: cardFor(limitBytes), runs };
}

/** 16.2 GiB → 20: the smallest common card that has so much for PyTorch. */
export function cardFor(limitBytes: number): number | undefined {
  return COMMON_CARDS_GIB.find((gib) => gib * GIB >= limitBytes + CONTEXT_BYTES);
}
