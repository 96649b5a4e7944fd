/** A worker of ours, from its start to its end: what the page, and the session for its replay worker, talk with. */
import { crashError } from './errors.ts';
import { connect, type Methods, type Remote } from './rpc.ts';

export type WorkerLike = Pick<Worker, 'postMessage' | 'addEventListener' | 'terminate'>;

export interface WorkerConnection<M extends Methods<M>> {
  readonly call: Remote<M>['call'];
  /** Ends the worker; what is pending, and every later call, rejects with `error`. The first end counts. */
  end(error: Error): void;
  /** It was ended, or died. */
  readonly isOver: boolean;
}

export interface ConnectionOptions {
  /** The first message, which brings the port to answer on. */
  readonly hello?: string;
  /** Sent after that port. */
  readonly ports?: readonly MessagePort[];
  /** What to tell the user when the worker dies: a sentence without its full stop, and what to do. */
  readonly crashed: readonly [message: string, advice: string];
}

/** Talks with a worker that has just been started. */
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
  const onCrash = (event: Event) => end(crashError(event, ...crashed));
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
