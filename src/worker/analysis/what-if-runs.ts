/**
 * What-if runs for the page, one setting after another, each reported as it finishes. Pauses let a cancel take effect
 * within one run. Results are cached.
 */

import { type AllocConf, parseAllocConf } from '../../allocator/simulator/alloc-conf.ts';
import { firstEventOfPart } from '../../allocator/simulator/recorded-memory.ts';
import {
  type RecordedRun,
  recordedLimit,
  recordedRun,
} from '../../allocator/simulator/recorded-run.ts';
import type { WhatIfInput } from '../../allocator/simulator/simulation.ts';
import type { WhatIfResult } from '../../allocator/simulator/types.ts';
import { probe, searchCard, whatIf, whatIfInput } from '../../allocator/simulator/what-if.ts';
import { assert } from '../../base/assert.ts';
import { LruCache } from '../../base/collections.ts';
import type { NarrowColumn } from '../../base/table.ts';
import type { DeviceRequest } from '../queries.ts';
import type { AnalysisDevice } from './device-copy.ts';
import type { AnalysisCall } from './serve-analysis.ts';

export interface WhatIfRequest extends DeviceRequest {
  /** In the format of PYTORCH_ALLOC_CONF; parseAllocConf() must accept each. */
  readonly settings: readonly string[];
  /** Bytes PyTorch may reserve. 'recorded' is the recorded run's limit, if its failures reveal one. */
  readonly limit: number | 'recorded' | 'none';
  /** After all runs, also search the smallest card for each setting. */
  readonly cards: boolean;
}

/** Reported along the way; the result contains all of it too. */
export type WhatIfProgress =
  | ({ readonly kind: 'recorded' } & Pick<WhatIfAnswer, 'recorded' | 'limitBytes'>)
  /** `done`: share of the whole request, 0 to 1. */
  | { readonly kind: 'running'; readonly settings: string; readonly done: number }
  | { readonly kind: 'case'; readonly result: WhatIfResult }
  | { readonly kind: 'lowest'; readonly settings: string; readonly peakReservedBytes: number }
  | { readonly kind: 'card'; readonly settings: string; readonly card: CardFit };

/** The smallest common card that serves all requests. */
export interface CardFit {
  /** Undefined if no common card is large enough. */
  readonly gib: number | undefined;
  /** How often all cached memory is released on it; a card with many retries is slow. */
  readonly retries: number;
}

export interface RecordedSide {
  readonly run: RecordedRun;
  readonly requests: number;
  /** Part i of all curves runs from events[i] to events[i + 1], so this has one more entry than there are parts. */
  readonly events: Int32Array;
  /** The same in microseconds since the first event, non-decreasing; undefined without times. */
  readonly timesUs: Float64Array | undefined;
}

export interface WhatIfAnswer {
  readonly recorded: RecordedSide;
  /** Undefined: no limit. */
  readonly limitBytes: number | undefined;
  /** In the order of the request. */
  readonly cases: readonly WhatIfResult[];
  /**
   * Peak reserved bytes by setting, without waiting for other streams; empty if no free waited. The cases use the
   * recorded delays, which vary from run to run, so the real peak lies roughly between the two.
   */
  readonly lowest: ReadonlyMap<string, number>;
  /** By setting; empty unless requested. */
  readonly cards: ReadonlyMap<string, CardFit>;
}

type WhatIfCall = Pick<AnalysisCall<WhatIfProgress>, 'onProgress' | 'pause'>;

/** Parts of the curves: about two per pixel of a plot, so that zooming in a little still shows more. */
const PARTS = 2048;
/** Progress is reported in steps of this share. */
const REPORTED_SHARE = 0.005;
/** Each result has a curve of 32 KiB. */
const CACHED_RESULTS = 256;
/** Searching for a card takes about two runs. */
const RUNS_A_CARD = 2;

export class WhatIfRuns {
  readonly #device: AnalysisDevice;
  readonly #results = new LruCache<WhatIfResult>(CACHED_RESULTS);
  readonly #cards = new Map<string, CardFit>();
  #earlier: Promise<unknown> = Promise.resolve();
  #input: WhatIfInput | undefined;
  #recorded: RecordedSide | undefined;

  constructor(device: AnalysisDevice) {
    this.#device = device;
  }

  /**
   * Runs one request at a time, so that two requests share their runs and only one simulation's memory is needed.
   * @throws what a pause rejects with; runs finished by then stay cached
   */
  run(request: WhatIfRequest, call: WhatIfCall): Promise<WhatIfAnswer> {
    const result = this.#earlier.then(() => this.#run(request, call));
    this.#earlier = result.catch(() => undefined);
    return result;
  }

  async #run(request: WhatIfRequest, call: WhatIfCall): Promise<WhatIfAnswer> {
    // Rejects if the request was cancelled while it waited.
    await call.pause();
    this.#recorded ??= recordedSide(this.#inputOnce());
    const recorded = this.#recorded;
    const limitBytes = limitOf(request.limit, recorded.run, this.#inputOnce());
    call.onProgress({ kind: 'recorded', recorded, limitBytes });
    const confs = request.settings.map(confOf);
    const waiting = this.#inputOnce().requests.delayedFrees > 0 ? confs : [];
    const searched = request.cards ? confs : [];
    const work = new Work(confs.length + waiting.length + searched.length * RUNS_A_CARD, call);
    const cases: WhatIfResult[] = [];
    for (const conf of confs) {
      const result = await this.#result(conf, limitBytes, work);
      cases.push(result);
      call.onProgress({ kind: 'case', result });
    }
    const lowest = new Map<string, number>();
    for (const conf of waiting) {
      const { peakReservedBytes } = await this.#result(conf, limitBytes, work, true);
      lowest.set(conf.text, peakReservedBytes);
      call.onProgress({ kind: 'lowest', settings: conf.text, peakReservedBytes });
    }
    const cards = new Map<string, CardFit>();
    for (const conf of searched) {
      const card = await this.#card(conf, work);
      cards.set(conf.text, card);
      call.onProgress({ kind: 'card', settings: conf.text, card });
    }
    return { recorded, limitBytes, cases, lowest, cards };
  }

  #inputOnce(): WhatIfInput {
    const { input, settings } = this.#device;
    this.#input ??= whatIfInput(input.trace, input.replay, settings);
    return this.#input;
  }

  async #result(
    conf: AllocConf,
    limitBytes: number | undefined,
    work: Work,
    freesAtOnce = false,
  ): Promise<WhatIfResult> {
    const key = `${limitBytes} ${freesAtOnce} ${conf.text}`;
    const known = this.#results.get(key);
    if (known !== undefined) {
      work.finish(1);
      return known;
    }
    const options = { limitBytes, parts: PARTS, freesAtOnce };
    const result = await work.run(conf.text, whatIf(this.#inputOnce(), conf, options));
    this.#results.set(key, result);
    return result;
  }

  async #card(conf: AllocConf, work: Work): Promise<CardFit> {
    const known = this.#cards.get(conf.text);
    if (known !== undefined) {
      work.finish(RUNS_A_CARD);
      return known;
    }
    const started = work.finished;
    const unlimited = await this.#result(conf, undefined, work);
    const search = searchCard(conf, unlimited);
    let { retries } = unlimited;
    let step = search.next();
    while (!step.done) {
      const tried = await work.run(conf.text, probe(this.#inputOnce(), conf, step.value));
      // The last card that fits is the smallest.
      if (tried.fits) retries = tried.retries;
      step = search.next(tried.fits);
    }
    const card = { gib: step.value, retries };
    this.#cards.set(conf.text, card);
    work.finish(RUNS_A_CARD - (work.finished - started));
    return card;
  }
}

/** The size of the request in runs, and how much is done. */
class Work {
  readonly #total: number;
  readonly #call: WhatIfCall;
  #reported = -1;
  finished = 0;

  constructor(total: number, call: WhatIfCall) {
    this.#total = total;
    this.#call = call;
  }

  finish(runs: number): void {
    this.finished += runs;
  }

  /** Does one run and pauses after each of its steps, which take a few milliseconds. */
  async run<T>(settings: string, task: Generator<number, T>): Promise<T> {
    let step = task.next();
    for (; step.done !== true; step = task.next()) {
      this.#report(settings, (this.finished + step.value) / this.#total);
      await this.#call.pause();
    }
    this.finish(1);
    return step.value;
  }

  /** A card search may take more runs than expected, so the share never falls. */
  #report(settings: string, share: number): void {
    if (share < this.#reported + REPORTED_SHARE) return;
    this.#reported = Math.min(1, share);
    this.#call.onProgress({ kind: 'running', settings, done: this.#reported });
  }
}

function limitOf(limit: WhatIfRequest['limit'], run: RecordedRun, input: WhatIfInput) {
  if (limit === 'recorded') return recordedLimit(run, input);
  return limit === 'none' ? undefined : limit;
}

function confOf(text: string): AllocConf {
  const conf = parseAllocConf(text);
  assert(conf.ok, 'the page asks only for settings that can be read');
  return conf;
}

function recordedSide(input: WhatIfInput): RecordedSide {
  const { length, timeUs } = input.trace.events;
  const run = recordedRun(input, PARTS);
  const parts = run.reserved.highest.length;
  const events = Int32Array.from({ length: parts + 1 }, (_, part) =>
    parts === 0 ? 0 : firstEventOfPart(part, length, parts),
  );
  return {
    run,
    requests: input.requests.length,
    events,
    timesUs: timeUs && timesOf(events, timeUs),
  };
}

/** Clocks of several threads sometimes step back; a plot's x must not. */
function timesOf(events: Int32Array, timeUs: NarrowColumn): Float64Array {
  const startUs = timeUs[0] ?? 0;
  let latestUs = 0;
  return Float64Array.from(events, (event) => {
    const at = timeUs[Math.min(event, timeUs.length - 1)] ?? startUs;
    latestUs = Math.max(latestUs, at - startUs);
    return latestUs;
  });
}
