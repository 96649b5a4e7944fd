/** One of our workers or threads, from start to end. */
import { LoadError } from '../base/load-error.ts';
import { connect, type Methods, type Remote } from './rpc.ts';

/** What the browser's workers and Node's threads have in common. */
export interface WorkerLike {
  postMessage(message: unknown, transfer: Transferable[]): void;
  addEventListener(type: 'error' | 'messageerror', listener: (event: object) => void): void;
  terminate(): unknown;
}

export interface WorkerConnection<M extends Methods<M>> {
  readonly call: Remote<M>['call'];
  /** Ends the worker and rejects pending and later calls with `error`. The first end counts. */
  end(error: Error): void;
  readonly isOver: boolean;
}

export interface ConnectionOptions {
  /** The first message, which carries the port to answer on. */
  readonly hello?: string;
  /** Sent after that port. */
  readonly ports?: readonly MessagePort[];
  /** What to tell the user if the worker dies: a sentence without its full stop, and advice. */
  readonly crashed: readonly [message: string, advice: string];
}

export function connectWorker<M extends Methods<M>>(
  worker: WorkerLike,
  { hello = 'connect', ports = [], crashed }: ConnectionOptions,
): WorkerConnection<M> {
  const { port1, port2 } = new MessageChannel();
  const remote = connect<M>(port1);
  let isOver = false;
  function end(error: Error): void {
    if (isOver) return;
    isOver = true;
    worker.terminate();
    remote.fail(error);
    port1.close();
  }
  const onCrash = (event: object) => end(crashError(event, ...crashed));
  worker.addEventListener('error', onCrash);
  worker.addEventListener('messageerror', onCrash);
  worker.postMessage(hello, [port2, ...ports]);
  return {
    call: remote.call,
    end,
    get isOver() {
      return isOver;
    },
  };
}

function crashError(event: object, message: string, advice: string): LoadError {
  // An ErrorEvent has a message; the event for a worker that the browser killed may not.
  const reason = 'message' in event ? event.message : undefined;
  const text = typeof reason === 'string' && reason !== '' ? ` (${reason})` : '';
  return new LoadError({ code: 'worker-crashed', message: `${message}${text}.`, advice });
}
