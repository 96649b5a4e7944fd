/**
 * The page's handle on the analysis worker. The worker starts with the first query, or sooner where one is
 * to come, and ends soon after the last result, because it holds a copy of the device: an idle tab has the
 * tables once.
 */

import { abortError } from '../../base/errors.ts';
import { startTimer } from '../../base/task.ts';
import {
  connectWorker,
  type RemoteCallOptions,
  type WorkerConnection,
  type WorkerLike,
} from '../connect.ts';
import { crashError } from '../errors.ts';
import { createIdleCounter, type IdleCounter } from '../instrumentation.ts';
import { newAnalysisWorker } from '../workers.ts';
import type { AnalysisApi, AnalysisMethods, AnalysisQueries } from './protocol.ts';

const CRASHED = 'The analysis has stopped';
const AFTER_CRASH =
  'The snapshot stays open. Try again. If the analysis stops again, your browser may be short of memory: run vramscope analyze FILE on the command line.';

export interface AnalysisClient extends AnalysisApi {
  /** Starts the worker, and keeps it and what it knows until the returned function is called. */
  hold(): () => void;
  /** The user moves through the views: a running analysis waits a moment. Cheap, also when none runs. */
  yieldToInteraction(): void;
  /** Another snapshot is open: drops the copy; what is pending rejects with an AbortError. */
  forget(): void;
}

export interface AnalysisClientOptions {
  /** Hands the session worker a port on which it serves copies of its devices. */
  readonly attachAnalysis: (port: MessagePort) => Promise<unknown>;
  /** The session worker that served them is gone, another one is there: from SessionClient. */
  readonly onReplaced?: (listener: () => void) => () => void;
  readonly idle?: IdleCounter;
  readonly createWorker?: () => WorkerLike;
  /** How long the copy is kept for another query. */
  readonly idleTimeoutMs?: number;
  /** Milliseconds since some moment. */
  readonly now?: () => number;
}

/** Long enough for a user who tries one setting after another, short enough to be no burden. */
const IDLE_TIMEOUT_MS = 2000;

/** Interactions that follow each other sooner than this are reported once. */
const REPORT_INTERVAL_MS = 50;

interface Connection extends WorkerConnection<AnalysisMethods> {
  /** Set when the session that it copies from was replaced: what it was asked is asked again. */
  isStale: boolean;
}

export function createAnalysisClient(options: AnalysisClientOptions): AnalysisClient {
  const { attachAnalysis, idle = createIdleCounter(), createWorker = newAnalysisWorker } = options;
  const { idleTimeoutMs = IDLE_TIMEOUT_MS, now = () => performance.now() } = options;
  const { onReplaced = () => () => undefined } = options;
  let connection: Connection | undefined;
  let holders = 0;
  let running = 0;
  let reportedMs = -Infinity;
  let stopTimer: (() => void) | undefined;

  function end(error: Error): void {
    stopTimer?.();
    connection?.end(error);
    connection = undefined;
  }

  function open(): Connection {
    const session = new MessageChannel();
    const fail = (error: Error) => {
      if (connection === opened) end(error);
    };
    const onCrash = (event: Event) => fail(crashError(event, CRASHED, AFTER_CRASH));
    const ports = [session.port2];
    const beside = connectWorker<AnalysisMethods>(createWorker(), onCrash, 'connect', ports);
    const unsubscribe = onReplaced(() => {
      opened.isStale = true;
      fail(abortError('The session was replaced'));
    });
    const opened: Connection = {
      remote: beside.remote,
      isStale: false,
      end(error) {
        unsubscribe();
        beside.end(error);
      },
    };
    attachAnalysis(session.port1).catch(fail);
    return opened;
  }

  function connected(): Connection {
    connection ??= open();
    return connection;
  }

  function hold(): () => void {
    stopTimer?.();
    connected();
    holders++;
    let isHeld = true;
    return () => {
      if (isHeld) holders--;
      isHeld = false;
      if (holders > 0) return;
      stopTimer = startTimer(idleTimeoutMs, () => end(abortError('Not needed')));
    };
  }

  async function call<K extends keyof AnalysisQueries>(
    name: K,
    request: AnalysisQueries[K]['request'],
    callOptions?: RemoteCallOptions<AnalysisQueries[K]['progress']>,
  ): Promise<AnalysisQueries[K]['result']> {
    const release = hold();
    running++;
    try {
      return await idle.during(async () => {
        for (;;) {
          const asked = connected();
          try {
            return await asked.remote.call(name, request, callOptions);
          } catch (error) {
            if (!asked.isStale || callOptions?.signal?.aborted) throw error;
          }
        }
      });
    } finally {
      running--;
      release();
    }
  }

  function yieldToInteraction(): void {
    const nowMs = now();
    if (running === 0 || nowMs < reportedMs + REPORT_INTERVAL_MS) return;
    reportedMs = nowMs;
    // A worker that has ended needs not wait.
    connection?.remote.call('yieldToInteraction', undefined).catch(() => undefined);
  }

  return {
    findings: (request, callOptions) => call('findings', request, callOptions),
    account: (request, callOptions) => call('account', request, callOptions),
    whatIf: (request, callOptions) => call('whatIf', request, callOptions),
    hold,
    yieldToInteraction,
    forget: () => end(abortError('Another snapshot is open')),
  };
}
