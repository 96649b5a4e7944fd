import { type Endpoint, inThisThread } from '../worker/rpc.ts';

/** A worker that runs in this thread; `crash` is what the browser does when a real one dies. */
export class InThreadWorker implements Endpoint {
  isTerminated = false;
  readonly #port: MessagePort;
  readonly #onError: ((event: object) => void)[] = [];

  /** @param serve what the worker's script does */
  constructor(serve: (page: Endpoint) => void) {
    this.#port = inThisThread(serve);
  }
  postMessage(message: unknown, moved: Transferable[]): void {
    this.#port.postMessage(message, moved);
  }
  addEventListener(type: string, listener: (event: object) => void): void {
    if (type === 'error') this.#onError.push(listener);
    else this.#port.addEventListener(type, listener);
  }
  start(): void {
    this.#port.start();
  }
  terminate(): void {
    this.isTerminated = true;
    this.#port.close();
  }
  crash(): void {
    for (const listener of this.#onError) listener(new Event('error'));
  }
}
