/**
 * Runs one job per file, as many at once as there are cores. Requests and results are plain data, so a job can run in
 * any thread.
 */
import { availableParallelism } from 'node:os';
import workerpool from 'workerpool';
import { buildProfile } from '../analysis/compare/build-profile.ts';
import type { Moment, RunProfile } from '../analysis/compare/run-profile.ts';
import {
  type ReadRank,
  type ReadRankOptions,
  readRankFile,
} from '../analysis/summary-file/read-rank-file.ts';
import { LoadError, type LoadFailure } from '../base/load-error.ts';
import { deviceOrder } from '../output/report/text.ts';
import { fileSource, nodePlatform } from './byte-sources.ts';
import type { Answer, Question } from './mcp/tools.ts';
import { openSnapshot } from './open-snapshot.ts';

interface Job<Request, Result> {
  readonly name: string;
  run(request: Request): Promise<Result>;
}

export interface RankRequest extends ReadRankOptions {
  readonly path: string;
}

export const READ_RANK: Job<RankRequest, ReadRank> = {
  name: 'readRank',
  run: ({ path, version, allowPartial }) =>
    readRankFile(path, () => fileSource(path), nodePlatform, { version, allowPartial }),
};

export interface SideRequest {
  readonly path: string;
  /** Position in the file; undefined means the device with the highest peak. */
  readonly deviceIndex: number | undefined;
  readonly at: Moment;
  readonly allowPartial: boolean;
}

/** A LoadError loses its class when it crosses threads, so its data is sent instead. */
export type ReadSide = { readonly side: RunProfile } | { readonly failure: LoadFailure };

export const READ_SIDE: Job<SideRequest, ReadSide> = {
  name: 'readSide',
  run: (request) => readSide(request, NO_STDIN),
};

/** Threads have no stdin. */
const NO_STDIN = { stdin: (async function* () {})() };

export const ANSWER_QUESTION: Job<Question, Answer> = {
  name: 'answerQuestion',
  // The agents' tools are as large as the rest of the program, so they are loaded only when needed.
  run: async (question) => (await import('./mcp/tools.ts')).answerQuestion(question),
};

/** @param io its stdin is read for the path '-' */
export async function readSide(
  { path, deviceIndex, at, allowPartial }: SideRequest,
  io: { readonly stdin: AsyncIterable<Uint8Array> },
): Promise<ReadSide> {
  try {
    const { file, contexts } = await openSnapshot(io, path, { partial: allowPartial });
    const position = deviceIndex ?? deviceOrder(contexts).shown[0] ?? 0;
    const context = contexts[position];
    if (context === undefined) {
      const message = `${file.name} has no device at position ${position}; it has ${contexts.length}.`;
      return { failure: new LoadError({ code: 'no-such-device', message }).failure };
    }
    return { side: buildProfile(context, { file, deviceIndex: position, at }) };
  } catch (error) {
    if (!(error instanceof LoadError)) throw error;
    const { failure } = error;
    // With several files, the message must say which one cannot be read.
    const isNamed = failure.message.includes(path);
    return { failure: isNamed ? failure : { ...failure, message: `${path}: ${failure.message}` } };
  }
}

/** Runs in a thread and does what a {@link JobPool} requests. */
export function serveJobs(): void {
  const jobs = [READ_RANK, READ_SIDE, ANSWER_QUESTION];
  workerpool.worker(Object.fromEntries(jobs.map(({ name, run }) => [name, run])));
}

/** The job and its thread were ended: it took too long, or nobody waits for it anymore. */
export class JobEnded extends Error {
  override readonly name = 'JobEnded';
}

export interface JobLimits {
  /** Counted from the start of the job. */
  readonly mostMs: number;
  readonly signal: AbortSignal;
}

/** Worker threads for jobs. Close it when all jobs are done. */
export class JobPool {
  readonly #pool: workerpool.Pool | undefined;
  #last: Promise<unknown> = Promise.resolve();

  /**
   * @param script what threads run; it calls {@link serveJobs}. undefined runs all jobs in this thread, one by one
   * @param threads at most; by default one per core
   */
  constructor(script: string | undefined, threads = availableParallelism()) {
    if (script === undefined) return;
    const maxWorkers = Math.max(1, threads);
    this.#pool = workerpool.pool(script, { workerType: 'thread', maxWorkers });
  }

  /**
   * Time limits hold only with threads: without them, nothing can end a job.
   * @throws JobEnded, and whatever the job throws
   */
  async run<Request, Result>(
    job: Job<Request, Result>,
    request: Request,
    limits?: JobLimits,
  ): Promise<Result> {
    if (this.#pool !== undefined) return withinLimits(this.#pool.exec(job.name, [request]), limits);
    const result = this.#last.then(() => job.run(request));
    this.#last = result.catch(() => undefined);
    return result;
  }

  async close(): Promise<void> {
    await this.#pool?.terminate(true);
  }
}

async function withinLimits<Result>(
  running: workerpool.Promise<Result, Error>,
  limits: JobLimits | undefined,
): Promise<Result> {
  if (limits === undefined) return running;
  const { mostMs, signal } = limits;
  const cancel = () => void running.cancel();
  signal.addEventListener('abort', cancel, { once: true });
  try {
    return await running.timeout(mostMs);
  } catch (error) {
    if (error instanceof workerpool.Promise.CancellationError) throw new JobEnded('Cancelled.');
    if (!(error instanceof workerpool.Promise.TimeoutError)) throw error;
    throw new JobEnded(`This took more than ${mostMs / 1000} s, and was ended.`);
  } finally {
    signal.removeEventListener('abort', cancel);
  }
}
