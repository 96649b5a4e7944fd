/** Runs the recorded requests of one device under one set of settings and one limit. */

import type { DeviceTrace, EventIndex } from '../../format/snapshot/tables.ts';
import { NO_BLOCK } from '../replay/block-list.ts';
import type { ReservedSteps } from '../replay/counters.ts';
import type { AllocationTable, ReplayColumns } from '../replay/types.ts';
import type { AllocConf, AllocSettings } from './alloc-conf.ts';
import { CachingAllocator } from './allocator.ts';
import { DeviceMemory, type SegmentChange } from './device-memory.ts';
import {
  type ByteCurve,
  ByteCurveBuilder,
  PlaceGuesser,
  type RecordedPlaces,
} from './recorded-memory.ts';
import { RequestKind, type Requests } from './requests.ts';
import { seeder } from './seed.ts';
import type { EndState, SimulatedOom } from './types.ts';

/** A device's recording, ready to be run any number of times. */
export interface WhatIfInput {
  readonly trace: DeviceTrace;
  readonly replay: ReplayColumns;
  readonly reserved: ReservedSteps;
  readonly requests: Requests;
  readonly places: RecordedPlaces;
  readonly recorded: AllocConf;
}

export interface SimulationOptions {
  readonly settings: AllocSettings;
  /** Bytes that PyTorch may reserve (before per_process_memory_fraction); Infinity: no limit. */
  readonly limitBytes: number;
  readonly parts: number;
  readonly onSegment?: ((change: SegmentChange) => void) | undefined;
  /** Ends at the first OOM, even a recorded one: to find the smallest limit. */
  readonly stopsAtAnyOom?: boolean;
  /**
   * Frees never wait for another stream. Such waits vary from run to run; real reserved memory lies roughly between
   * this run and one with the recorded delays.
   */
  readonly freesAtOnce?: boolean;
}

/** @param freeBytes of each free block */
export function endStateOf(
  reservedBytes: number,
  allocatedBytes: number,
  freeBytes: readonly number[],
): EndState {
  const largestFreeBytes = freeBytes.reduce((most, bytes) => Math.max(most, bytes), 0);
  return { reservedBytes, allocatedBytes, largestFreeBytes };
}

/** A slice takes a few milliseconds. */
const REQUESTS_A_SLICE = 1 << 14;
/** The block of an allocation that has ended or never got one. */
const GONE = NO_BLOCK;

export class Simulation {
  readonly allocator: CachingAllocator;
  readonly memory: DeviceMemory;
  readonly ooms: SimulatedOom[] = [];
  servedOoms = 0;
  retriedOoms = 0;
  /** Bytes of the workspaces that cuDNN only tried and that did not fit. */
  readonly failedTrials: number[] = [];
  readonly #input: WhatIfInput;
  readonly #allocations: AllocationTable;
  readonly #stopsAtAnyOom: boolean;
  readonly #freesAtOnce: boolean;
  readonly #curve: ByteCurveBuilder;
  readonly #allocated: ByteCurveBuilder;
  readonly #blockOf: Int32Array;
  readonly #pending = new Set<number>();
  #isStopped = false;

  constructor(input: WhatIfInput, options: SimulationOptions) {
    this.#input = input;
    this.#allocations = input.requests.allocations;
    this.#stopsAtAnyOom = options.stopsAtAnyOom === true;
    this.#freesAtOnce = options.freesAtOnce === true;
    const { trace } = input;
    const curve = new ByteCurveBuilder(trace.events.length, options.parts);
    this.#curve = curve;
    this.#allocated = new ByteCurveBuilder(trace.events.length, options.parts);
    const { onSegment } = options;
    const guesser = new PlaceGuesser(input.places);
    this.memory = new DeviceMemory(limitUnder(options), (change, reservedBytes) => {
      curve.set(change.event, reservedBytes);
      onSegment?.(change);
    });
    this.allocator = new CachingAllocator(options.settings, this.memory, trace.streams.length, {
      beforeRelease: () => this.#completePending(),
      likelyAddresses: (bytes) => guesser.places(bytes, this.memory.event),
    });
    this.#blockOf = new Int32Array(this.#allocations.length).fill(GONE);
    this.#seed(options.settings);
  }

  /** Runs all requests. Yields the share that is done, 0 to 1, every few milliseconds. */
  *run(): Generator<number, void> {
    const { kind, row, event, length } = this.#input.requests;
    for (let at = 0; at < length && !this.#isStopped; at++) {
      if (at > 0 && at % REQUESTS_A_SLICE === 0) yield at / length;
      this.memory.event = event[at];
      switch (kind[at]) {
        case RequestKind.Alloc:
          this.#alloc(row[at], event[at]);
          break;
        case RequestKind.Free:
          this.#free(row[at]);
          break;
        default:
          this.#runRare(kind[at], row[at], event[at]);
      }
      this.#allocated.set(event[at], this.allocator.allocatedBytes);
    }
  }

  /** Number of events run: all, or those up to the OOM that ended the run. */
  get events(): number {
    return this.#isStopped ? this.memory.event + 1 : this.#input.trace.events.length;
  }

  curve(): ByteCurve {
    return this.#curve.finish(this.events);
  }

  allocatedCurve(): ByteCurve {
    return this.#allocated.finish(this.events);
  }

  endState(): EndState {
    const { allocator, memory } = this;
    const free = allocator.arenas.all.flatMap((arena) =>
      arena.free.all().map((row) => allocator.table.sizeBytes[row]),
    );
    return endStateOf(memory.reservedBytes, allocator.allocatedBytes, free);
  }

  #seed({ expandableSegments }: AllocSettings): void {
    const { recorded, replay } = this.#input;
    const { allocator } = this;
    const seeds = seeder(allocator, this.#allocations, replay.segmentSpans, this.#blockOf);
    if (expandableSegments === recorded.settings.expandableSegments) {
      seeds.restore();
      this.#keepToLimit();
    } else {
      const failedBytes = seeds.allocate();
      if (failedBytes !== undefined) this.#fail(failedBytes, -1, false);
    }
    for (let row = 0; row < this.#allocations.preexisting; row++) {
      if (this.#allocations.freeRequested[row] === -1) this.#pending.add(row);
    }
    if (this.#freesAtOnce) this.#completePending();
    this.memory.startCounting();
    allocator.startCounting();
    this.#curve.set(-1, this.memory.reservedBytes);
    this.#allocated.set(-1, allocator.allocatedBytes);
  }

  /** A recording may begin with more reserved than the limit: such a process would have given back its cache before. */
  #keepToLimit(): void {
    const { memory, allocator } = this;
    if (memory.reservedBytes > memory.limitBytes) allocator.emptyCache();
    const overBytes = memory.reservedBytes - memory.limitBytes;
    if (overBytes > 0) this.#fail(overBytes, -1, false);
  }

  #alloc(row: number, event: EventIndex): void {
    const { requestedBytes, stream, pool } = this.#allocations;
    const block = this.allocator.malloc(requestedBytes[row], stream[row], pool[row]);
    this.#blockOf[row] = block;
    if (block !== NO_BLOCK) return;
    if (this.#input.requests.trials.has(row)) this.failedTrials.push(requestedBytes[row]);
    else this.#fail(requestedBytes[row], event, false);
  }

  #free(row: number): void {
    const block = this.#blockOf[row];
    if (block === GONE) return;
    this.#blockOf[row] = GONE;
    this.allocator.requestFree(block);
    this.allocator.completeFree(block);
  }

  #runRare(kind: number, row: number, event: EventIndex): void {
    if (kind === RequestKind.EmptyCache) {
      this.allocator.emptyCache();
    } else if (kind === RequestKind.Oom) {
      this.#retryOom(event);
    } else if (kind === RequestKind.FreeRequested) {
      if (this.#freesAtOnce) this.#free(row);
      if (this.#blockOf[row] === GONE) return;
      this.allocator.requestFree(this.#blockOf[row]);
      this.#pending.add(row);
    } else if (this.#pending.has(row)) {
      this.#complete(row);
    }
  }

  #complete(row: number): void {
    this.#pending.delete(row);
    const block = this.#blockOf[row];
    this.#blockOf[row] = GONE;
    if (block !== GONE) this.allocator.completeFree(block);
  }

  /** Releasing all cached memory waits for the other streams. */
  #completePending(): void {
    for (const row of [...this.#pending]) this.#complete(row);
  }

  /**
   * Retries a request that failed in the recording. Its lifetime is unknown, so it is freed at once. A request that the
   * program immediately repeated with less is optional: its failure does not count, and without a limit it is not made.
   */
  #retryOom(event: EventIndex): void {
    const isNeeded = !this.#input.requests.retriedOoms.has(event);
    if (!isNeeded && this.memory.limitBytes === Infinity) return;
    const { sizeBytes, stream, pool } = this.#input.trace.events;
    const block = this.allocator.malloc(sizeBytes[event], stream[event], pool?.[event] ?? 0);
    if (block === NO_BLOCK) {
      if (isNeeded) this.#fail(sizeBytes[event], event, true);
      else this.retriedOoms++;
      return;
    }
    if (isNeeded) this.servedOoms++;
    this.allocator.requestFree(block);
    this.allocator.completeFree(block);
  }

  #fail(requestedBytes: number, event: EventIndex, isRecorded: boolean): void {
    const missingBytes = this.allocator.missingBytes(requestedBytes);
    this.ooms.push({ event, requestedBytes, missingBytes, isRecorded });
    if (!isRecorded || this.#stopsAtAnyOom) this.#isStopped = true;
  }
}

/** per_process_memory_fraction is a share of the existing memory. */
function limitUnder({ limitBytes, settings }: SimulationOptions): number {
  return limitBytes === Infinity ? Infinity : Math.round(limitBytes * settings.memoryFraction);
}
