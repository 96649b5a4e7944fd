/**
 * The work on one file, in a thread or in this one: the same messages and the same pool as the page's workers have.
 */
import { parentPort, Worker } from 'node:worker_threads';
import { buildProfile } from '../analysis/compare/build-profile.ts';
import type { Moment, RunProfile } from '../analysis/compare/types.ts';
import {
  type ReadRank,
  type ReadRankOptions,
  readRankFile,
} from '../analysis/summary-file/read-rank-file.ts';
import { LoadError } from '../base/load-error.ts';
import {
  connect,
  type Endpoint,
  type Handlers,
  inThisThread,
  type Method,
  serve,
} from '../worker/rpc.ts';
import { WorkerPool } from '../worker/worker-pool.ts';
import { fileSource, nodePlatform } from './byte-sources.ts';
import type { Question } from './mcp/tools.ts';
import { openSnapshot } from './open-snapshot.ts';
import { deviceOf } from './output-options.ts';

export interface RankRequest extends ReadRankOptions {
  readonly path: string;
}

export interface SideRequest {
  readonly path: string;
  /** Position in the file; undefined means the device with the highest peak. */
  readonly deviceIndex: number | undefined;
  readonly at: Moment;
  readonly allowPartial: boolean;
}

interface Jobs {
  readonly readRank: Method<RankRequest, ReadRank>;
  readonly readSide: Method<SideRequest, RunProfile>;
  readonly answerQuestion: Method<Question, string>;
}

const HANDLERS: Handlers<Jobs> = {
  readRank,
  readSide: (request) => readSide(request, NO_STDIN),
  // The agents' tools are as large as the rest of the program, so they are loaded only when needed.
  answerQuestion: async (question) => (await import('./mcp/tools.ts')).answerQuestion(question),
};

/** Threads have no stdin. */
const NO_STDIN = { stdin: (async function* () {})() };

export function readRank({ path, ...options }: RankRequest): Promise<ReadRank> {
  return readRankFile(path, () => fileSource(path), nodePlatform, options);
}

/**
 * @param io its stdin is read for the path '-'
 * @throws LoadError whose message names the file: there are several
 */
export async function readSide(
  { path, deviceIndex, at, allowPartial }: SideRequest,
  io: { readonly stdin: AsyncIterable<Uint8Array> },
): Promise<RunProfile> {
  const opened = openSnapshot(io, path, { partial: allowPartial });
  const snapshot = await opened.catch((error: unknown) => {
    if (!(error instanceof LoadError) || error.message.includes(path)) throw error;
    throw new LoadError({ ...error.failure, message: `${path}: ${error.message}` });
  });
  const { context, position } = deviceOf(snapshot, deviceIndex);
  return buildProfile(context, { file: snapshot.file, deviceIndex: position, at });
}

export type JobPool = WorkerPool<Jobs>;

/**
 * @param script the program, which does jobs in threads; undefined does them in this thread, one by one, where nothing
 * can end a job that takes too long
 */
export function createJobPool(script: string | undefined, threads: number): JobPool {
  const create = script === undefined ? thisThread : () => startThread(script);
  const crashed = ['A thread of vramscope has stopped', 'It may be short of memory.'] as const;
  return new WorkerPool<Jobs>(() => connect(create(), crashed), script === undefined ? 1 : threads);
}

function startThread(script: string): Endpoint {
  const thread = new Worker(script);
  return {
    postMessage: (message, moved) => thread.postMessage(message, moved),
    addEventListener: (type, listener) =>
      thread.on(type, (data) => listener(type === 'message' ? { data } : data)),
    terminate: () => thread.terminate(),
  };
}

const thisThread = (): Endpoint => inThisThread((caller) => serve<Jobs>(caller, HANDLERS));

/** What a thread does instead of reading a command line. */
export function serveJobs(): void {
  if (parentPort !== null) serve<Jobs>(parentPort, HANDLERS);
}
