/**
 * The traces of a file that is still being read, replayed and drawn so far. Runs in the replay worker,
 * beside the decoder; where there is one core, in the session.
 */

import {
  type EventChunk,
  LiveReplay,
  type LiveTables,
} from '../../allocator/replay/live-replay.ts';
import type {
  AllocationIndex,
  AllocationTable,
  CounterName,
  Counters,
  Replay,
} from '../../allocator/replay/types.ts';
import { getOrMake } from '../../base/memoized.ts';
import type { EventIndex } from '../../format/snapshot/tables.ts';
import {
  addBytesOfStacks,
  classesBySites,
  classesOfStacks,
  type StackSites,
} from '../coloring/classes.ts';
import { type BlockExtremes, CounterBlocks } from '../timeline/counter-blocks.ts';
import { stackHits } from '../timeline/stack-hits.ts';
import { TimelineIndex } from '../timeline/timeline-index.ts';
import { TimelinePainter } from '../timeline/timeline-painter.ts';
import type { Palette, TimelineFrame, Viewport } from '../timeline/types.ts';

/** Counters whose extremes are found while events come: those that the timeline draws at first. */
const COUNTERS = ['activeBytes', 'allocatedBytes', 'reservedBytes'] as const;

/** The next events of a trace. */
export interface TraceChunk extends EventChunk {
  /** Position in the file's list of traces. */
  readonly trace: number;
  readonly hasSegments: boolean;
  /** Events that the whole trace may have. */
  readonly expected: number;
}

/** How far the replay of a trace is. */
export interface TraceState {
  readonly trace: number;
  readonly events: number;
  readonly allocations: number;
  readonly peaks: Replay['peaks'];
  /** See ReplaySoFar. */
  readonly isExact: boolean;
}

export interface LiveFrameRequest {
  readonly trace: number;
  readonly viewport: Viewport;
  readonly palette: Palette;
  readonly lines: readonly CounterName[];
  /** Where they have changed since the last request: what stacks are colored by. */
  readonly sites: StackSites | undefined;
}

export interface LiveHitRequest {
  readonly trace: number;
  readonly state: EventIndex;
  readonly bytesFrom: number;
  readonly bytesTo: number;
}

/** What lies under a pixel, without words. */
export interface LiveHit {
  readonly counters: Counters;
  /** Undefined above the stack. */
  readonly allocation: LiveAllocation | undefined;
}

export interface LiveAllocation {
  /** How many lie under the pixel, and what they sum up to. */
  readonly count: number;
  readonly totalBytes: number;
  readonly bottomBytes: number;
  readonly row: AllocationIndex;
  /** Allocations at its address before it. */
  readonly earlier: number;
  readonly start: EventIndex;
  readonly freeRequested: EventIndex;
  readonly address: number;
  readonly requestedBytes: number;
  readonly sizeBytes: number;
  readonly stack: number;
}

/** A trace that was replayed as it came, as plain data. */
export interface LiveResult extends LiveTables {
  readonly extremes: ReadonlyMap<CounterName, BlockExtremes>;
}

export class LiveTraces {
  readonly #traces = new Map<number, LiveTrace>();

  feed(chunk: TraceChunk): TraceState {
    const trace = getOrMake(this.#traces, chunk.trace, () => new LiveTrace(chunk.hasSegments));
    return { trace: chunk.trace, ...trace.feed(chunk) };
  }

  frame(request: LiveFrameRequest): TimelineFrame {
    return this.#trace(request.trace).frame(request);
  }

  hit(request: LiveHitRequest): LiveHit {
    return this.#trace(request.trace).hit(request);
  }

  /** By trace; undefined where the whole file is needed. */
  finish(): ReadonlyMap<number, LiveResult | undefined> {
    return new Map([...this.#traces].map(([trace, live]) => [trace, live.finish()]));
  }

  #trace(index: number): LiveTrace {
    const trace = this.#traces.get(index);
    if (trace === undefined) throw new Error(`No events of trace ${index} have come`);
    return trace;
  }
}

/** What is drawn of the events so far. */
interface Picture {
  readonly index: TimelineIndex<AllocationTable>;
  readonly painter: TimelinePainter;
  /** Known once a frame is asked for. */
  classOf: Uint8Array | undefined;
}

class LiveTrace {
  readonly #replay: LiveReplay;
  readonly #counters = new Map<CounterName, CounterBlocks>();
  #picture: Picture | undefined;
  #sites: StackSites = { siteOf: new Int32Array(0), hashes: new Uint32Array(0) };
  /** Bytes of all allocations of each stack, up to the row that comes next. */
  #bytesOf = new Float64Array(0);
  #nextRow = 0;

  constructor(hasSegments: boolean) {
    this.#replay = new LiveReplay(hasSegments);
  }

  feed(chunk: TraceChunk): Omit<TraceState, 'trace'> {
    this.#replay.advance(chunk, chunk.expected);
    this.#picture = undefined;
    const { length, allocations, peaks, isExact } = this.#replay.soFar();
    for (const name of COUNTERS) {
      const blocks = this.#counters.get(name);
      if (blocks === undefined) {
        this.#counters.set(name, new CounterBlocks(this.#replay, name, length));
      } else blocks.extend(length);
    }
    return { events: length, allocations: allocations.length, peaks, isExact };
  }

  frame({ viewport, palette, lines, sites }: LiveFrameRequest): TimelineFrame {
    const picture = this.#draw();
    if (sites !== undefined) {
      this.#sites = sites;
      picture.classOf = undefined;
    }
    picture.classOf ??= this.#classes(picture.index.allocations, palette.classes.length);
    const scene = { viewport, palette, classOf: picture.classOf, selected: -1 };
    // What was there before is not known, so neither is what all memory sums up to.
    const drawn = { ...scene, lines: this.#replay.soFar().isExact ? lines : [] };
    return picture.painter.draw(drawn);
  }

  hit({ state, bytesFrom, bytesTo }: LiveHitRequest): LiveHit {
    const { index } = this.#draw();
    const { ids, main, totalBytes, mainBottomBytes } = stackHits(index, state, bytesFrom, bytesTo);
    const counters = this.#replay.countersAt(state);
    if (main < 0) return { counters, allocation: undefined };
    const { start, freeRequested, address, requestedBytes, sizeBytes, stack } = index.allocations;
    let earlier = 0;
    for (let id = 0; id < main; id++) if (address[id] === address[main]) earlier++;
    const allocation: LiveAllocation = {
      ...{ count: ids.length, totalBytes, bottomBytes: mainBottomBytes, row: main, earlier },
      start: start[main],
      freeRequested: freeRequested[main],
      address: address[main],
      requestedBytes: requestedBytes[main],
      sizeBytes: sizeBytes[main],
      stack: stack[main],
    };
    return { counters, allocation };
  }

  finish(): LiveResult | undefined {
    if (!this.#replay.soFar().isExact) return undefined;
    const extremes = new Map<CounterName, BlockExtremes>();
    for (const [name, blocks] of this.#counters) extremes.set(name, blocks.extremes);
    return { ...this.#replay.finish(), extremes };
  }

  #draw(): Picture {
    if (this.#picture === undefined) {
      const { allocations, length } = this.#replay.soFar();
      const fillCounter: Replay['fillCounter'] = (...range) => this.#replay.fillCounter(...range);
      const drawn = { allocations, fillCounter };
      const index = new TimelineIndex(drawn, length, undefined, this.#counters);
      this.#picture = { index, painter: new TimelinePainter(index), classOf: undefined };
    }
    return this.#picture;
  }

  /** As all allocations are colored, by what there is of them. */
  #classes(allocations: AllocationTable, classCount: number): Uint8Array {
    const { siteOf } = this.#sites;
    // Stacks may have come since the sites were found: they have the first class until then.
    let stacks = siteOf.length;
    for (let id = this.#nextRow; id < allocations.length; id++) {
      if (allocations.stack[id] >= stacks) stacks = allocations.stack[id] + 1;
    }
    if (this.#bytesOf.length < stacks) {
      const larger = new Float64Array(stacks).fill(Number.NaN);
      larger.set(this.#bytesOf);
      this.#bytesOf = larger;
    }
    addBytesOfStacks(this.#bytesOf, allocations, this.#nextRow);
    this.#nextRow = allocations.length;
    return classesBySites(allocations, classesOfStacks(this.#sites, this.#bytesOf, classCount));
  }
}
