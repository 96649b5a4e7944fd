/**
 * The page's handle on the analysis worker of the open file. The worker starts with the first query, or earlier if
 * one is expected. It ends soon after the last result, so that an idle tab holds the tables only once, and with the
 * file.
 */
import { abortError } from '../../base/errors.ts';
import { startTimer } from '../../base/task.ts';
import type { Idle, SessionApi } from '../protocol.ts';
import { type Call, connect, type Endpoint, type Remote, transferring } from '../rpc.ts';
import { newAnalysisWorker } from '../workers.ts';
import type { AnalysisMethods, AnalysisQueries } from './serve-analysis.ts';

const CRASHED = [
  'The analysis has stopped',
  'The snapshot stays open. Try again. If the analysis stops again, your browser may be short of memory: run vramscope analyze FILE on the command line.',
] as const;

export interface AnalysisClient {
  /** Rejects with LoadError (also if the worker crashes) or an AbortError. */
  readonly query: Call<AnalysisQueries>;
  /** Starts the worker and keeps it and its data until the returned function is called. Call it once. */
  hold(): () => void;
  /** The user is moving through the views, so a running analysis pauses briefly. Cheap, even if none runs. */
  yieldToInteraction(): void;
  close(): void;
}

export interface AnalysisClientOptions {
  /** Serves copies of the open file's devices. */
  readonly session: Pick<SessionApi, 'attachAnalysis'>;
  readonly idle: Idle;
  readonly createWorker?: () => Endpoint;
}

/** Keeps the copy for the next query, since users try one setting after another. Short, to free the memory soon. */
const IDLE_TIMEOUT_MS = 2000;

/** Interactions closer together than this are reported once. */
const REPORT_INTERVAL_MS = 50;

export function createAnalysisClient({
  session,
  idle,
  createWorker = newAnalysisWorker,
}: AnalysisClientOptions): AnalysisClient {
  let connection: Remote<AnalysisMethods> | undefined;
  let holders = 0;
  let running = 0;
  let reportedMs = -Infinity;
  let stopTimer = () => {};

  function connected(): Remote<AnalysisMethods> {
    if (connection !== undefined && !connection.isOver) return connection;
    const { port1, port2 } = new MessageChannel();
    const opened = connect<AnalysisMethods>(createWorker(), CRASHED);
    connection = opened;
    opened.call('attach', transferring({ session: port2 })).catch(() => undefined);
    // Rejects when the file is closed.
    session.attachAnalysis({ port: port1 }).catch(opened.end);
    return opened;
  }

  function close(): void {
    stopTimer();
    connection?.end(abortError('Not needed'));
  }

  function hold(): () => void {
    stopTimer();
    connected();
    holders++;
    return () => {
      if (--holders === 0) stopTimer = startTimer(IDLE_TIMEOUT_MS, close);
    };
  }

  return {
    async query(name, request, callOptions) {
      const release = hold();
      running++;
      try {
        return await idle.during(() => connected().call(name, request, callOptions));
      } finally {
        running--;
        release();
      }
    },
    hold,
    close,
    yieldToInteraction() {
      const nowMs = performance.now();
      if (running === 0 || nowMs < reportedMs + REPORT_INTERVAL_MS) return;
      reportedMs = nowMs;
      // A worker that has ended need not pause.
      connection?.call('yieldToInteraction', undefined).catch(() => undefined);
    },
  };
}
