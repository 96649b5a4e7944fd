/**
 * The replay worker: replays a file's traces while the session worker reads it, and draws them so far like any
 * timeline. A trace is not replayed again unless the end of the file contradicts it.
 */
import {
  type EventChunk,
  PartialReplay,
  type PartialTables,
} from '../../allocator/replay/partial-replay.ts';
import type { CounterName, Replay } from '../../allocator/replay/types.ts';
import { getOrMake } from '../../base/collections.ts';
import { StackColors, type StackSites } from '../../draw/coloring/first-colorings.ts';
import { type BlockExtremes, CounterBlocks } from '../../draw/timeline/counter-blocks.ts';
import { TimelineIndex } from '../../draw/timeline/timeline-index.ts';
import { drawFrame } from '../../draw/timeline/timeline-painter.ts';
import type { Palette, TimelineFrame } from '../../draw/timeline/types.ts';
import { type Endpoint, type Method, serve, transferring } from '../rpc.ts';

export interface TraceChunk extends EventChunk {
  /** Position in the file's list of traces. */
  readonly trace: number;
  readonly hasSegments: boolean;
  /** An estimate of the whole trace's events. */
  readonly expected: number;
}

export interface PartialState {
  readonly trace: number;
  readonly events: number;
  readonly peaks: Replay['peaks'];
  /** As far as is known, no memory was allocated before the first event: see PartialResult. */
  readonly isExact: boolean;
}

/** A picture of all events so far. */
export interface PartialFrameRequest {
  readonly trace: number;
  readonly width: number;
  readonly height: number;
  readonly palette: Palette;
}

/** A trace that was replayed as it came, as plain data. */
export interface PartialResult extends PartialTables {
  readonly extremes: ReadonlyMap<CounterName, BlockExtremes>;
}

export interface ReplayMethods {
  /** Chunks keep their order. */
  readonly feed: Method<TraceChunk, PartialState>;
  /** `sites`: the keys by which stacks are colored, if they have changed since the last frame. */
  readonly frame: Method<
    PartialFrameRequest & { readonly sites: StackSites | undefined },
    TimelineFrame
  >;
  /** The replays by trace, undefined if the whole file is needed. Can be called once; nothing is kept. */
  readonly finish: Method<undefined, ReadonlyMap<number, PartialResult | undefined>>;
}

export function servePartialReplay(caller: Endpoint): void {
  const traces = new Map<number, PartialTrace>();
  let sites: StackSites = { siteOf: new Int32Array(0), hashes: new Uint32Array(0) };
  serve<ReplayMethods>(caller, {
    feed(chunk) {
      const { trace, hasSegments } = chunk;
      return getOrMake(traces, trace, () => new PartialTrace(hasSegments)).feed(chunk);
    },
    frame(request) {
      sites = request.sites ?? sites;
      const trace = traces.get(request.trace);
      if (trace === undefined) throw new Error(`No events of trace ${request.trace} have come`);
      return transferring(trace.frame(request, sites));
    },
    finish: () => transferring(new Map([...traces].map(([trace, one]) => [trace, one.finish()]))),
  });
}

/** Counters whose extremes are tracked as events arrive: those that the timeline draws first. */
const COUNTERS = ['activeBytes', 'allocatedBytes', 'reservedBytes'] as const;

class PartialTrace {
  readonly #replay: PartialReplay;
  readonly #counters = new Map<CounterName, CounterBlocks>();
  readonly #colors = new StackColors();

  constructor(hasSegments: boolean) {
    this.#replay = new PartialReplay(hasSegments);
  }

  feed(chunk: TraceChunk): PartialState {
    this.#replay.advance(chunk, chunk.expected);
    const { length, peaks, isExact } = this.#replay.soFar();
    for (const name of COUNTERS) {
      const blocks = this.#counters.get(name);
      if (blocks !== undefined) blocks.extend(length);
      else this.#counters.set(name, new CounterBlocks(this.#replay, name, length));
    }
    return { trace: chunk.trace, events: length, peaks, isExact };
  }

  frame(request: PartialFrameRequest, sites: StackSites): TimelineFrame {
    const { width, height, palette } = request;
    const { allocations, length, peaks } = this.#replay.soFar();
    const fillCounter: Replay['fillCounter'] = (...range) => this.#replay.fillCounter(...range);
    const drawn = { allocations, fillCounter };
    const index = new TimelineIndex(drawn, length, undefined, this.#counters);
    const y = { y0: 0, y1: Math.max(1, peaks.activeBytes.bytes) };
    const viewport = {
      axis: 'event',
      x0: 0,
      x1: Math.max(1, length),
      ...y,
      width,
      height,
    } as const;
    const classOf = this.#colors.classesOf(allocations, sites, palette.classes.length);
    return drawFrame(index, { viewport, palette, classOf, lines: [], selected: -1 });
  }

  finish(): PartialResult | undefined {
    if (!this.#replay.soFar().isExact) return undefined;
    const extremes = new Map<CounterName, BlockExtremes>();
    for (const [name, blocks] of this.#counters) extremes.set(name, blocks.extremes);
    return { ...this.#replay.finish(), extremes };
  }
}
