/**
 * What a recorded run would have used under other allocator settings, or on another card.
 *
 *   const input = whatIfInput(trace, replay, snapshot.settings);
 *   const conf = parseAllocConf('expandable_segments:True');
 *   if (conf.ok) simulate(input, conf, { limitBytes: 16 * 2 ** 30 }).peakReservedBytes
 *
 * Code that must not block runs `whatIf`, `commonCard` and `smallestLimit` step by step: they yield every few milliseconds.
 */
import { runToEnd } from '../../base/task.ts';
import type { DeviceTrace, Snapshot } from '../../format/snapshot/tables.ts';
import { ReservedSteps } from '../replay/counters.ts';
import type { StackSites } from '../replay/trace-events.ts';
import type { ReplayColumns } from '../replay/types.ts';
import { type AllocConf, type AllocSettings, recordedSettings } from './alloc-conf.ts';
import { confidenceOf, unknownsOf } from './confidence.ts';
import { COMMON_CARDS_GIB, cardFor, limitOfCard } from './presets.ts';
import { recordedPlaces } from './recorded-memory.ts';
import { collectRequests, failuresOf } from './requests.ts';
import { Simulation, type SimulationOptions, type WhatIfInput } from './simulation.ts';
import type { WhatIfResult } from './types.ts';

/** There is no limit without `limitBytes`. */
export type WhatIfOptions = Partial<
  Pick<SimulationOptions, 'parts' | 'freesAtOnce'> & { readonly limitBytes: number | undefined }
>;

const DEFAULT_PARTS = 1000;
/** Memory is reserved in multiples of this. */
const STEP_BYTES = 2 * 2 ** 20;

/**
 * Collects the requests of a device once, for any number of runs. `trace` must be a CUDA device's.
 *
 * @param stacks tells which stacks are of one line: see findRetriedOoms
 */
export function whatIfInput(
  trace: DeviceTrace,
  replay: ReplayColumns,
  settings: Snapshot['settings'],
  stacks?: StackSites,
): WhatIfInput {
  const reserved = new ReservedSteps(replay.segmentSpans);
  const recorded = recordedSettings(settings);
  const requests = collectRequests(trace, replay, reserved, recorded.settings, stacks);
  const places = recordedPlaces(replay.segmentSpans);
  return { trace, replay, reserved, requests, places, recorded };
}

/** One run. Yields the share that is done, 0 to 1. */
export function* whatIf(
  input: WhatIfInput,
  conf: AllocConf,
  options: WhatIfOptions = {},
): Generator<number, WhatIfResult> {
  const simulation = new Simulation(input, {
    settings: conf.settings,
    limitBytes: options.limitBytes ?? Infinity,
    parts: options.parts ?? DEFAULT_PARTS,
    freesAtOnce: options.freesAtOnce === true,
  });
  yield* simulation.run();
  const { memory, allocator, ooms, servedOoms, events } = simulation;
  const unknowns = unknownsOf(input, conf, simulation);
  return {
    settings: conf.text,
    limitBytes: memory.limitBytes === Infinity ? undefined : memory.limitBytes,
    startReservedBytes: memory.startReservedBytes,
    peakReservedBytes: memory.peakReservedBytes,
    peakAllocatedBytes: allocator.peakAllocatedBytes,
    ooms,
    retriedOoms: simulation.retriedOoms + simulation.failedTrials.length,
    servedOoms,
    retries: allocator.retries,
    deviceAllocs: memory.deviceAllocs,
    deviceFrees: memory.deviceFrees,
    end: simulation.endState(),
    events,
    reserved: simulation.curve(),
    allocated: simulation.allocatedCurve(),
    confidence: confidenceOf(unknowns),
    unknowns,
  };
}

/** Runs without pauses. */
export const simulate = (...run: Parameters<typeof whatIf>): WhatIfResult =>
  runToEnd(whatIf(...run));

/** A card and how well it serves: the smallest common one on which no request fails. */
export interface CardFit {
  /** Undefined if no common card is large enough, or if the recording can't tell. */
  readonly gib: number | undefined;
  /** The recorded run ran out of memory: what it would have requested after that needs an unknown amount. */
  readonly isUnknown?: true;
  /** How often all cached memory is released on it; a card with many retries is slow. */
  readonly retries: number;
  /** Of cudaMalloc and cudaFree on it. */
  readonly calls: number;
}

export interface SmallestLimit {
  /** The smallest limit for PyTorch, exact to 2 MiB. */
  readonly limitBytes: number;
  /** The smallest common card with that much besides what CUDA takes; undefined: none has enough. */
  readonly cardGib: number | undefined;
}

/** Results of a run without a limit, from which a search starts. */
type Unlimited = Pick<
  WhatIfResult,
  'peakReservedBytes' | 'peakAllocatedBytes' | 'retries' | 'deviceAllocs' | 'deviceFrees'
>;

/** Yields how many runs it has made, in fractions. */
export type CardSearch<Found> = (
  input: WhatIfInput,
  conf: AllocConf,
  unlimited?: Unlimited,
) => Generator<number, Found>;

/**
 * Few cards lie between the allocated peak and the reserved peak without a limit, so besides the unlimited run, this
 * takes a run or two, often none.
 */
export const commonCard: CardSearch<CardFit> = function* (input, conf, unlimited) {
  if (failuresOf(input.requests) > 0)
    return { gib: undefined, retries: 0, calls: 0, isUnknown: true };
  const { found, retries, calls } = yield* tryLimits(input, conf, searchCard, unlimited);
  return { gib: found, retries, calls };
};

/** Bisects between the peak of allocated bytes and the peak of reserved bytes without a limit: about ten runs. */
export const smallestLimit: CardSearch<SmallestLimit> = function* (input, conf, unlimited) {
  const { found, peakReservedBytes } = yield* tryLimits(input, conf, searchLimit, unlimited);
  const onCard = mayNeedMore(conf.settings) ? found : Math.min(found, peakReservedBytes);
  return { limitBytes: found, cardGib: cardFor(onCard) };
};

/** Yields a limit in bytes to try, and receives whether all requests fit under it. */
type LimitSearch<Found> = Generator<number, Found, boolean>;

/**
 * Makes the runs that a search asks for. `peakReservedBytes` is that without a limit; `retries` and `calls` are those of the
 * last limit that fits, which is the one found.
 */
function* tryLimits<Found>(
  input: WhatIfInput,
  conf: AllocConf,
  search: (unlimited: Unlimited, settings: AllocSettings) => LimitSearch<Found>,
  known: Unlimited | undefined,
): Generator<
  number,
  { readonly found: Found } & Pick<CardFit, 'retries' | 'calls'> &
    Pick<Unlimited, 'peakReservedBytes'>
> {
  let runs = 0;
  const { settings } = conf;
  const tryLimit = function* (limitBytes: number) {
    const run = new Simulation(input, { settings, limitBytes, parts: 1, stopsAtAnyOom: true });
    for (const share of run.run()) yield runs + share;
    runs++;
    const { peakAllocatedBytes, retries } = run.allocator;
    const { peakReservedBytes, deviceAllocs, deviceFrees } = run.memory;
    const peaks = { peakAllocatedBytes, peakReservedBytes };
    return { fits: run.ooms.length === 0, retries, deviceAllocs, deviceFrees, ...peaks };
  };
  const unlimited = known ?? (yield* tryLimit(Infinity));
  let fitting = unlimited;
  // Without what cuDNN only tries, the peak may be lower.
  const hasTrials = input.requests.trials.size > 0;
  const searching = search(
    hasTrials ? { ...unlimited, peakAllocatedBytes: 0 } : unlimited,
    settings,
  );
  let step = searching.next();
  while (!step.done) {
    const tried = yield* tryLimit(step.value);
    if (tried.fits) fitting = tried;
    step = searching.next(tried.fits);
  }
  const { retries, deviceAllocs, deviceFrees } = fitting;
  const { peakReservedBytes } = unlimited;
  return { found: step.value, retries, calls: deviceAllocs + deviceFrees, peakReservedBytes };
}

/** The smallest sufficient limit, exact to 2 MiB. */
function* searchLimit({ peakReservedBytes, peakAllocatedBytes }: Unlimited): LimitSearch<number> {
  const limitOf = (steps: number) => steps * STEP_BYTES;
  let high = Math.ceil(peakReservedBytes / STEP_BYTES);
  // With garbage collection a limit changes the run even if it would be sufficient.
  while (!(yield limitOf(high))) high = Math.ceil(high * 1.25);
  return limitOf(yield* bisect(Math.floor(peakAllocatedBytes / STEP_BYTES), high, limitOf));
}

/** The first place from `low` on whose limit is sufficient; `high` if none before it is. */
function* bisect(
  low: number,
  high: number,
  limitOf: (place: number) => number,
): LimitSearch<number> {
  let [from, to] = [low, high];
  while (from < to) {
    const middle = (from + to) >>> 1;
    if (yield limitOf(middle)) to = middle;
    else from = middle + 1;
  }
  return to;
}

/**
 * The bytes reserved without a limit may not be enough: with garbage collection a limit changes the run, and a fraction is
 * less than the card. (An expandable segment wants room for a whole request even if its free end needs only one more page,
 * but only under a fraction: a card without one maps what is missing.)
 */
const mayNeedMore = ({ garbageCollectionThreshold, memoryFraction }: AllocSettings): boolean =>
  garbageCollectionThreshold > 0 || memoryFraction < 1;

/** The smallest common card; undefined: none has enough. */
function* searchCard(
  { peakReservedBytes, peakAllocatedBytes }: Unlimited,
  settings: AllocSettings,
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
  return cards[yield* bisect(low, high, (place) => limitOfCard(cards[place]))];
}
