/** The replay worker: replays and draws a file's traces while the session worker reads it. */
import type { EventChunk } from '../../allocator/replay/partial-replay.ts';
import { getOrMake } from '../../base/collections.ts';
import type { StackSites } from '../../draw/coloring/first-colorings.ts';
import {
  PartialTimeline,
  type PartialTimelineTables,
  type PictureSize,
} from '../../draw/timeline/partial-timeline.ts';
import type { TimelineFrame } from '../../draw/timeline/types.ts';
import { type Endpoint, type Method, serve, transferring } from '../rpc.ts';

interface OfTrace {
  /** Position in the file's list of traces. */
  readonly trace: number;
}

interface TraceChunk extends EventChunk, OfTrace {
  readonly hasSegments: boolean;
  /** An estimate of the whole trace's events. */
  readonly expected: number;
}

export type PartialState = OfTrace & ReturnType<PartialTimeline['feed']>;

export interface PartialFrameRequest extends PictureSize, OfTrace {}

export interface ReplayMethods {
  /** Chunks keep their order. */
  readonly feed: Method<TraceChunk, PartialState>;
  /** `sites`: the keys by which stacks are colored, if they have changed since the last frame. */
  readonly frame: Method<
    PartialFrameRequest & { readonly sites: StackSites | undefined },
    TimelineFrame
  >;
  /** By trace. Can be called once; nothing is kept. */
  readonly finish: Method<undefined, ReadonlyMap<number, PartialTimelineTables | undefined>>;
}

export function servePartialReplay(caller: Endpoint): void {
  const traces = new Map<number, PartialTimeline>();
  let sites: StackSites = { siteOf: new Int32Array(0), hashes: new Uint32Array(0) };
  serve<ReplayMethods>(caller, {
    feed({ trace, hasSegments, expected, ...chunk }) {
      const timeline = getOrMake(traces, trace, () => new PartialTimeline(hasSegments));
      return { trace, ...timeline.feed(chunk, expected) };
    },
    frame(request) {
      sites = request.sites ?? sites;
      const timeline = traces.get(request.trace);
      if (timeline === undefined) throw new Error(`No events of trace ${request.trace} have come`);
      return transferring(timeline.draw(request, sites));
    },
    finish: () => transferring(new Map([...traces].map(([trace, one]) => [trace, one.finish()]))),
  });
}
