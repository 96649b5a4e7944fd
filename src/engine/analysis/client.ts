/**
 * The page's handle on the analysis worker. The worker is made for the first question and ended soon
 * after the last answer, for it holds a copy of the device: at rest a tab has the tables once.
 */
import { abortError } from '../abort.ts';
import { crashError } from '../crash-error.ts';
import { createIdleCounter, type IdleCounter } from '../idle.ts';
import { connect, type Remote, type RemoteCallOptions } from '../rpc.ts';
import { newAnalysisWorker } from '../workers.ts';
import type { AnalysisApi, AnalysisMethods, AnalysisQueries } from './protocol.ts';

const CRASHED = 'The analysis has stopped';
const AFTER_CRASH =
  'The snapshot stays open. Try again; if it stops again, there may be too little memory for it: vramscope analyze FILE does the same on the command line.';

export interface AnalysisClient extends AnalysisApi {
  /** Keeps the worker and what it knows until the function that it gives is called. */
  hold(): () => void;
  /** The user moves through the views: what is being analysed waits a moment. Cheap, also when nothing is. */
  yieldToInteraction(): void;
  /** Another snapshot is open: the copy is let go, and what is pending rejects with an AbortError. */
  forget(): void;
}

type AnalysisWorker = Pick<Worker, 'postMessage' | 'addEventListener' | 'terminate'>;

export interface AnalysisClientOptions {
  /** Hands the session worker a port on which it gives copies of its devices. */
  readonly attachAnalysis: (port: MessagePort) => Promise<unknown>;
  readonly idle?: IdleCounter;
  readonly createWorker?: () => AnalysisWorker;
  /** How long the copy is kept for another question. */
  readonly idleTimeoutMs?: number;
}

/** Long enough for a user who tries one setting after another, short enough to be no burden. */
const IDLE_TIMEOUT_MS = 2000;

/** Movements that follow each other sooner than this are told once. */
const TOLD_EVERY_MS = 50;

interface Connection {
  readonly remote: Remote<AnalysisMethods>;
  end(error: Error): void;
}

export function createAnalysisClient(options: AnalysisClientOptions): AnalysisClient {
  const { attachAnalysis, idle = createIdleCounter(), createWorker = newAnalysisWorker } = options;
  const { idleTimeoutMs = IDLE_TIMEOUT_MS } = options;
  let connection: Connection | undefined;
  let holders = 0;
  let running = 0;
  let toldMs = -Infinity;
  let timer: ReturnType<typeof setTimeout> | undefined;

  function end(error: Error): void {
    clearTimeout(timer);
    connection?.end(error);
    connection = undefined;
  }

  function open(): Connection {
    const worker = createWorker();
    const page = new MessageChannel();
    const session = new MessageChannel();
    const remote = connect<AnalysisMethods>(page.port1);
    const opened: Connection = {
      remote,
      end(error) {
        worker.terminate();
        page.port1.close();
        remote.fail(error);
      },
    };
    const fail = (error: Error) => {
      if (connection === opened) end(error);
    };
    const crash = (event: Event) => fail(crashError(event, CRASHED, AFTER_CRASH));
    worker.addEventListener('error', crash);
    worker.addEventListener('messageerror', crash);
    worker.postMessage('connect', [page.port2, session.port2]);
    attachAnalysis(session.port1).catch(fail);
    connection = opened;
    return opened;
  }

  function hold(): () => void {
    clearTimeout(timer);
    holders++;
    let isHeld = true;
    return () => {
      if (isHeld) holders--;
      isHeld = false;
      if (holders === 0) timer = setTimeout(() => end(abortError('Not needed')), idleTimeoutMs);
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
      const { remote } = connection ?? open();
      return await idle.during(() => remote.call(name, request, callOptions));
    } finally {
      running--;
      release();
    }
  }

  function yieldToInteraction(): void {
    const nowMs = performance.now();
    if (running === 0 || nowMs < toldMs + TOLD_EVERY_MS) return;
    toldMs = nowMs;
    // A worker that has gone has nothing to wait with.
    connection?.remote.call('yieldToInteraction', undefined).catch(() => undefined);
  }

  return {
    findings: (request, callOptions) => call('findings', request, callOptions),
    whatIf: (request, callOptions) => call('whatIf', request, callOptions),
    hold,
    yieldToInteraction,
    forget: () => end(abortError('Another snapshot is open')),
  };
}
