/** Worker threads for {@link Jobs}: the program starts itself once more and is told what to do. */
import { availableParallelism } from 'node:os';
import { parentPort, Worker, workerData } from 'node:worker_threads';
import { LoadError, type LoadFailure } from '../core/base/load-error.ts';
import { JOBS, type JobName, type Jobs } from './jobs.ts';

interface JobMessage<K extends JobName = JobName> {
  readonly name: K;
  readonly request: Jobs[K]['request'];
}

type JobOutcome = { readonly result: Jobs[JobName]['result'] } | { readonly failure: LoadFailure };

/** Runs one job in a thread that ends with it. Rejects with what the job does. */
export function runInThread<K extends JobName>(
  script: string,
  name: K,
  request: Jobs[K]['request'],
): Promise<Jobs[K]['result']> {
  return new Promise((resolve, reject) => {
    const message: JobMessage<K> = { name, request };
    const worker = new Worker(script, { workerData: message });
    worker.once('message', (outcome: JobOutcome) => {
      if ('failure' in outcome) reject(new LoadError(outcome.failure));
      else resolve(outcome.result as Jobs[K]['result']);
    });
    worker.once('error', reject);
    worker.once('exit', (code) => reject(new Error(`A worker thread ended with code ${code}`)));
  });
}

/** The other end: does the job that this thread was started for. */
export async function serveJob(): Promise<void> {
  const { name, request } = workerData as JobMessage;
  // A thread has no stdin: jobs on it stay in the main one.
  const stdin = (async function* () {})();
  try {
    const result = await JOBS[name](request, { stdin });
    parentPort?.postMessage({ result } satisfies JobOutcome);
  } catch (error) {
    if (!(error instanceof LoadError)) throw error;
    parentPort?.postMessage({ failure: error.failure } satisfies JobOutcome);
  }
}

/**
 * All of the requests, as many at a time as there are cores, in their order.
 * @param run does one of them
 */
export async function runAll<Request, Result>(
  requests: readonly Request[],
  run: (request: Request) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  let next = 0;
  const takeTurns = async () => {
    for (let i = next++; i < requests.length; i = next++) {
      results[i] = await run(requests[i] as Request);
    }
  };
  const lanes = Math.min(requests.length, Math.max(1, availableParallelism()));
  await Promise.all(Array.from({ length: lanes }, takeTurns));
  return results;
}
