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
import { type AllocConf, recordedSettings } from './alloc-conf.ts';
import { confidenceOf, unknownsOf } from './confidence.ts';
import { recordedPlaces } from './recorded-places.ts';
import { collectRequests } from './requests.ts';
import { ReservedSteps } from './reserved-steps.ts';
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
