/** The least memory, or the smallest card, with which the recorded requests would have been served: found by trying limits. */
import { CancelledError } from '../../base/errors.ts';
import type { AllocConf, AllocSettings } from './alloc-conf.ts';
import { REQUESTS_A_SLICE, Simulation, type WhatIfInput } from './simulation.ts';
import type { WhatIfResult } from './types.ts';
import type { WhatIfCalls } from './what-if.ts';

/** Memory is reserved in multiples of it. */
const STEP_BYTES = 2 * 2 ** 20;

export interface SmallestCard {
  /** Least limit for PyTorch, exact to 2 MiB: a little less is not enough. */
  readonly limitBytes: number;
  /** The smallest common card with so much beside what CUDA takes; undefined: none has. */
  readonly cardGib: number | undefined;
  /** Runs that it took. */
  readonly runs: number;
}

/** What a run without a limit says already: the search begins with it. */
export type UnlimitedPeaks = Pick<WhatIfResult, 'peakReservedBytes' | 'peakAllocatedBytes'>;

/**
 * A search that yields a limit in bytes, learns whether all requests fit under it, and goes on. Its
 * caller decides how to run it: at once, or with pauses.
 */
export type LimitSearch<R> = Generator<number, R, boolean>;

/** A run to tell whether all requests fit: it ends at the first that does not. */
export function startProbe(input: WhatIfInput, conf: AllocConf, limitBytes: number): Simulation {
  const { settings } = conf;
  return new Simulation(input, { settings, limitBytes, parts: 1, stopsAtAnyOom: true });
}

/** Bisects between what was allocated at the peak and what is reserved without any limit: about ten runs. */
export function smallestCard(
  input: WhatIfInput,
  conf: AllocConf,
  calls: WhatIfCalls = {},
): SmallestCard {
  let runs = 0;
  const run = (limitBytes: number): Simulation => {
    const probe = startProbe(input, conf, limitBytes);
    while (!probe.run(REQUESTS_A_SLICE)) {
      if (calls.isCancelled?.() === true) throw new CancelledError();
    }
    runs++;
    return probe;
  };
  const { memory, allocator } = run(Infinity);
  const { peakReservedBytes } = memory;
  const search = searchLimit({
    peakReservedBytes,
    peakAllocatedBytes: allocator.peakAllocatedBytes,
  });
  let step = search.next();
  while (!step.done) {
    step = search.next(run(step.value).ooms.length === 0);
    calls.onProgress?.(Math.min(1, runs / EXPECTED_RUNS));
  }
  return { limitBytes: step.value, cardGib: cardFor(step.value), runs };
}

const EXPECTED_RUNS = 12;

/** The least limit, exact to 2 MiB. */
function* searchLimit({
  peakReservedBytes,
  peakAllocatedBytes,
}: UnlimitedPeaks): LimitSearch<number> {
  let low = Math.floor(peakAllocatedBytes / STEP_BYTES) - 1;
  let high = Math.ceil(peakReservedBytes / STEP_BYTES);
  // With garbage collection a limit changes the run even where it would suffice.
  while (!(yield high * STEP_BYTES)) high = Math.ceil(high * 1.25);
  while (high - low > 1) {
    const middle = (low + high) >>> 1;
    if (yield middle * STEP_BYTES) high = middle;
    else low = middle;
  }
  return high * STEP_BYTES;
}

/**
 * What is reserved without a limit may not be enough as one: with garbage collection a limit changes
 * the run, a fraction is less than the card, and an expandable segment wants room for all of a request
 * even where its free end needs a page more only.
 */
function mayNeedMore(settings: AllocSettings): boolean {
  const { garbageCollectionThreshold, memoryFraction, expandableSegments } = settings;
  return garbageCollectionThreshold > 0 || memoryFraction < 1 || expandableSegments;
}

/**
 * The smallest common card; undefined: none has enough. Few cards lie between what was allocated and
 * what is reserved without a limit, so it takes a run or two, often none.
 */
export function* searchCard(
  { settings }: AllocConf,
  { peakReservedBytes, peakAllocatedBytes }: UnlimitedPeaks,
): LimitSearch<number | undefined> {
  const cards = COMMON_CARDS_GIB.filter((gib) => limitOfCard(gib) >= peakAllocatedBytes);
  let low = 0;
  let high = cards.findIndex((gib) => limitOfCard(gib) >= peakReservedBytes);
  if (high < 0) high = cards.length;
  if (mayNeedMore(settings)) {
    while (high < cards.length && !(yield limitOfCard(cards[high]))) {
      high++;
      low = high;
    }
  }
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (yield limitOfCard(cards[middle])) high = middle;
    else low = middle + 1;
  }
  return cards[high];
}

/** Memory of common cards, and what of it is left for PyTorch. */

const GIB = 2 ** 30;
/**
 * What a process takes of a card beside PyTorch's memory: CUDA context, kernels, cuBLAS and cuDNN. On an
 * H200 with CUDA 13 the OOM messages of our recordings say 0.5 to 0.65 GiB; NCCL takes more.
 */
export const CONTEXT_BYTES = 0.65 * GIB;

/** In GiB. */
export const COMMON_CARDS_GIB: readonly number[] = [
  4, 6, 8, 10, 11, 12, 16, 20, 24, 32, 40, 48, 64, 80, 96, 141, 192,
];

/** What PyTorch may reserve on a card of so many GiB. */
export function limitOfCard(gib: number): number {
  return Math.floor(gib * GIB - CONTEXT_BYTES);
}

/** 16.2 GiB → 20: the smallest common card that has so much for PyTorch. */
export function cardFor(limitBytes: number): number | undefined {
  return COMMON_CARDS_GIB.find((gib) => limitOfCard(gib) >= limitBytes);
}
