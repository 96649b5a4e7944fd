/**
 * What-if runs for the page: setting after setting, reported one by one as they finish, with pauses so that a
 * cancel takes effect within one run. Results are cached, so asking again for the same is answered at once.
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
import { LruCache } from '../../base/lru-cache.ts';
import type { NarrowColumn } from '../../base/table.ts';
import type { DeviceRequest, Query } from '../queries.ts';
import type { AnalysisCall, AnalysisDevice, AnalysisHandlers } from './serve-analysis.ts';

export interface WhatIfRequest extends DeviceRequest {
  /** As PYTORCH_ALLOC_CONF has them; each must be one that parseAllocConf() accepts. */
  readonly settings: readonly string[];
  /** Bytes PyTorch may reserve. 'recorded': as many as the recorded run had, where its failures tell. */
  readonly limit: number | 'recorded' | 'none';
  /** Also search the smallest card for each setting, after all of them have been run. */
  readonly cards: boolean;
}

/** Reported while it runs; all of it is in the result too. */
export type WhatIfProgress =
  | ({ readonly kind: 'recorded' } & Pick<WhatIfAnswer, 'recorded' | 'limitBytes'>)
  /** `done`: share of all that was asked for, 0 to 1. */
  | { readonly kind: 'running'; readonly settings: string; readonly done: number }
  | { readonly kind: 'case'; readonly result: WhatIfResult }
  | { readonly kind: 'lowest'; readonly settings: string; readonly peakReservedBytes: number }
  | { readonly kind: 'card'; readonly settings: string; readonly card: CardFit };

/** The smallest common card that serves all requests. */
export interface CardFit {
  /** undefined: no common one is large enough. */
  readonly gib: number | undefined;
  /** Times that all cached memory is given back on it: where there are many, it serves them slowly. */
  readonly retries: number;
}

export interface RecordedSide {
  readonly run: RecordedRun;
  /** Requests that each run is made of. */
  readonly requests: number;
  /** Part i of all curves is from events[i] to events[i + 1]; one more than there are parts. */
  readonly events: Int32Array;
  /** The same in microseconds since the first event, not decreasing; undefined without times. */
  readonly timesUs: Float64Array | undefined;
}

export interface WhatIfAnswer {
  readonly recorded: RecordedSide;
  /** undefined: no limit. */
  readonly limitBytes: number | undefined;
  /** In the order of the request. */
  readonly cases: readonly WhatIfResult[];
  /**
   * Peak of reserved bytes by setting, had no free waited for another stream; empty where none did. The
   * cases are with the recorded delays, which differ from run to run: what is real lies about between.
   */
  readonly lowest: ReadonlyMap<string, number>;
  /** By setting; empty where they were not asked for. */
  readonly cards: ReadonlyMap<string, CardFit>;
}

export interface WhatIfQueries {
  readonly whatIf: Query<WhatIfRequest, WhatIfAnswer, WhatIfProgress>;
}

export const whatIfHandlers: AnalysisHandlers<WhatIfQueries> = {
  whatIf: (device, request, call) => device.once(runsOf).run(request, call),
};

type WhatIfCall = Pick<AnalysisCall<WhatIfProgress>, 'onProgress' | 'pause'>;

/** Parts of the curves: about two for each pixel of a plot, so that zooming in a little still shows more. */
const PARTS = 2048;
/** Progress is reported in such steps. */
const REPORTED_SHARE = 0.005;
/** Each result has a curve of 32 KiB. */
const CACHED_RESULTS = 256;
/** A search for a card takes about two runs. */
const RUNS_A_CARD = 2;

/** All what-if runs of one device. */
class WhatIfRuns {
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
   * One request after another: two that want the same run it once, and one simulation's memory is enough.
   * @throws what a pause rejects with; what was finished by then is kept
   */
  run(request: WhatIfRequest, call: WhatIfCall): Promise<WhatIfAnswer> {
    const result = this.#earlier.then(() => this.#run(request, call));
    this.#earlier = result.catch(() => undefined);
    return result;
  }

  async #run(request: WhatIfRequest, call: WhatIfCall): Promise<WhatIfAnswer> {
    // Cancelled while it waited for an earlier one.
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
      // The last card that serves all is the smallest.
      if (tried.fits) retries = tried.retries;
      step = search.next(tried.fits);
    }
    const card = { gib: step.value, retries };
    this.#cards.set(conf.text, card);
    work.finish(RUNS_A_CARD - (work.finished - started));
    return card;
  }
}

/** What is asked for, in runs, and how much of it is done. */
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

  /** One run. Pauses after each of its steps, which take a few milliseconds. */
  async run<T>(settings: string, task: Generator<number, T>): Promise<T> {
    let step = task.next();
    for (; step.done !== true; step = task.next()) {
      this.#report(settings, (this.finished + step.value) / this.#total);
      await this.#call.pause();
    }
    this.finish(1);
    return step.value;
  }

  /** A card's search may take more runs than were expected of it: the share never falls. */
  #report(settings: string, share: number): void {
    if (share < this.#reported + REPORTED_SHARE) return;
    this.#reported = Math.min(1, share);
    this.#call.onProgress({ kind: 'running', settings, done: this.#reported });
  }
}

function runsOf(device: AnalysisDevice): WhatIfRuns {
  return new WhatIfRuns(device);
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

/** Clocks of several threads make times step back now and then: a plot's x must not. */
function timesOf(events: Int32Array, timeUs: NarrowColumn): Float64Array {
  const startUs = timeUs[0] ?? 0;
  let latestUs = 0;
  return Float64Array.from(events, (event) => {
    const at = timeUs[Math.min(event, timeUs.length - 1)] ?? startUs;
    latestUs = Math.max(latestUs, at - startUs);
    return latestUs;
  });
}
