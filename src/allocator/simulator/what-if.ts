/**
 * What a recorded run would have used under other allocator settings, or on another card.
 *
 *   const input = whatIfInput(trace, replay, snapshot.settings);
 *   const conf = parseAllocConf('expandable_segments:True');
 *   if (conf.ok) simulate(input, conf, { limitBytes: 16 * 2 ** 30 }).peakReservedBytes
 *
 * A worker that wants to look for messages meanwhile takes a WhatIfJob and runs it slice by slice.
 */
import { CancelledError } from '../../base/errors.ts';
import type { DeviceTrace, Snapshot } from '../../format/snapshot/tables.ts';
import type { ReplayColumns } from '../replay/types.ts';
import { type AllocConf, type AllocSettings, recordedSettings } from './alloc-conf.ts';
import { confidenceOf, unknownsOf } from './confidence.ts';
import { COMMON_CARDS_GIB, cardFor, limitOfCard } from './presets.ts';
import { ReservedSteps, recordedPlaces } from './recorded-memory.ts';
import { collectRequests } from './requests.ts';
import { REQUESTS_A_SLICE, Simulation, type WhatIfInput } from './simulation.ts';
import type { WhatIfResult } from './types.ts';

export interface WhatIfOptions {
  /** Bytes PyTorch may reserve, or its per_process_memory_fraction of them; undefined is no limit. */
  readonly limitBytes?: number | undefined;
  /** Parts of the curve of reserved bytes. */
  readonly parts?: number;
  /**
   * No free waits for another stream, whose timing differs from run to run: what a run reserves lies
   * between this and a run with the recorded delays, about.
   */
  readonly freesAtOnce?: boolean;
}

export interface WhatIfCalls {
  /** Share of the work that is done, 0 to 1. */
  readonly onProgress?: (done: number) => void;
  /** Asked every few milliseconds. */
  readonly isCancelled?: () => boolean;
}

const DEFAULT_PARTS = 1000;

/** Gathers the requests of a device once, for any number of runs. `trace` must be a CUDA device's. */
export function whatIfInput(
  trace: DeviceTrace,
  replay: ReplayColumns,
  settings: Snapshot['settings'],
): WhatIfInput {
  const reserved = new ReservedSteps(replay.segmentSpans);
  const recorded = recordedSettings(settings);
  const requests = collectRequests(trace, replay, reserved, recorded.settings);
  const places = recordedPlaces(replay.segmentSpans);
  return { trace, replay, reserved, requests, places, recorded };
}

/** A run that can be interrupted between slices of a few milliseconds. */
export class WhatIfJob {
  readonly #input: WhatIfInput;
  readonly #conf: AllocConf;
  readonly #simulation: Simulation;

  constructor(input: WhatIfInput, conf: AllocConf, options: WhatIfOptions = {}) {
    this.#input = input;
    this.#conf = conf;
    this.#simulation = new Simulation(input, {
      settings: conf.settings,
      limitBytes: options.limitBytes ?? Infinity,
      parts: options.parts ?? DEFAULT_PARTS,
      freesAtOnce: options.freesAtOnce === true,
    });
  }

  /** 0 to 1 */
  get progress(): number {
    const { done, total } = this.#simulation;
    return total === 0 ? 1 : done / total;
  }

  /** Runs to the end, or until `shouldStop` says so between two slices: then undefined, and run() goes on. */
  run(shouldStop: () => boolean = () => false): WhatIfResult | undefined {
    while (!this.#simulation.run(REQUESTS_A_SLICE)) {
      if (shouldStop()) return undefined;
    }
    return this.#result();
  }

  #result(): WhatIfResult {
    const { memory, allocator, ooms, retriedOoms, servedOoms, events } = this.#simulation;
    const unknowns = unknownsOf(this.#input, this.#conf, this.#simulation);
    return {
      settings: this.#conf.text,
      limitBytes: memory.limitBytes === Infinity ? undefined : memory.limitBytes,
      peakReservedBytes: memory.peakReservedBytes,
      peakAllocatedBytes: allocator.peakAllocatedBytes,
      ooms,
      retriedOoms,
      servedOoms,
      retries: allocator.retries,
      deviceAllocs: memory.deviceAllocs,
      deviceFrees: memory.deviceFrees,
      end: this.#simulation.endState(),
      events,
      reserved: this.#simulation.curve(),
      confidence: confidenceOf(unknowns),
      unknowns,
    };
  }
}

/** One run to its end. @throws CancelledError when isCancelled says so */
export function simulate(
  input: WhatIfInput,
  conf: AllocConf,
  options: WhatIfOptions = {},
  calls: WhatIfCalls = {},
): WhatIfResult {
  const job = new WhatIfJob(input, conf, options);
  const isCancelled = () => {
    calls.onProgress?.(job.progress);
    return calls.isCancelled?.() === true;
  };
  const result = job.run(isCancelled);
  if (result === undefined) throw new CancelledError();
  calls.onProgress?.(1);
  return result;
}

/** The least memory, or the smallest card, with which the recorded requests would have been served: found by trying limits. */

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
