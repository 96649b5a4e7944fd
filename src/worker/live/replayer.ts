/** Where a file is replayed while it is read: in a worker of its own, or in this thread. */

import { abortError } from '../../base/errors.ts';
import {
  type LiveFrameRequest,
  type LiveHit,
  type LiveHitRequest,
  type LiveResult,
  LiveTraces,
  type TraceChunk,
  type TraceState,
} from '../../draw/partial/live-traces.ts';
import type { TimelineFrame } from '../../draw/timeline/types.ts';
import { connectWorker, type WorkerLike } from '../connect.ts';
import { type Handlers, type Method, serve, transferablesOf, transferring } from '../rpc.ts';

/** Rejects once the worker has died. */
export interface Replayer {
  /** Chunks keep their order. Their columns may be written to again once this has resolved. */
  feed(chunk: TraceChunk): Promise<Fed>;
  frame(request: LiveFrameRequest): Promise<TimelineFrame>;
  hit(request: LiveHitRequest): Promise<LiveHit>;
  /** What was replayed, once; it is not kept here. */
  finish(): Promise<ReadonlyMap<number, LiveResult | undefined>>;
  close(): void;
  /** Chunks move to another thread: they must own their columns. */
  readonly isBeside: boolean;
}

export interface Fed {
  readonly state: TraceState;
  /** The chunk, with its columns. */
  readonly chunk: TraceChunk;
}

interface ReplayerMethods {
  readonly feed: Method<TraceChunk, Fed>;
  readonly frame: Method<LiveFrameRequest, TimelineFrame>;
  readonly hit: Method<LiveHitRequest, LiveHit>;
  readonly finish: Method<undefined, ReadonlyMap<number, LiveResult | undefined>>;
}

/** In this thread: for one core, and for tests. */
export function replayerHere(): Replayer {
  const traces = new LiveTraces();
  return {
    isBeside: false,
    feed: async (chunk) => ({ chunk, state: traces.feed(chunk) }),
    frame: async (request) => traces.frame(request),
    hit: async (request) => traces.hit(request),
    finish: async () => traces.finish(),
    close: () => undefined,
  };
}

/** In a worker, which takes the port that comes with its first message. */
export function replayerBeside(worker: WorkerLike): Replayer {
  const { remote, end } = connectWorker<ReplayerMethods>(worker, () =>
    end(new Error('The replay worker has stopped')),
  );
  return {
    isBeside: true,
    feed: (chunk) => remote.call('feed', chunk, { transfer: transferablesOf(transferring(chunk)) }),
    frame: (request) => remote.call('frame', request),
    hit: (request) => remote.call('hit', request),
    finish: () => remote.call('finish', undefined),
    close: () => end(abortError('The file is not read any more')),
  };
}

/** The worker's side. */
export function serveReplayer(port: MessagePort): void {
  const traces = new LiveTraces();
  const handlers: Handlers<ReplayerMethods> = {
    feed: (chunk) => {
      const state = traces.feed(chunk);
      return transferring({ chunk, state }, chunk);
    },
    frame: (request) => transferring(traces.frame(request)),
    hit: (request) => traces.hit(request),
    finish: () => transferring(traces.finish()),
  };
  serve(port, handlers);
}
