import type { Endpoint } from '../worker/rpc.ts';

/** A worker that runs in this thread; `crash` is what the browser does when a real one dies. */
export class InThreadWorker implements Endpoint {
  isTerminated = false;
  readonly #ports = new MessageChannel();
  readonly #onError: ((event: object) => void)[] = [];

  /** @param serve what the worker's script does */
  constructor(serve: (page: Endpoint) => void) {
    serve(this.#ports.port2);
  }
  postMessage(message: unknown, moved: Transferable[]): void {
    this.#ports.port1.postMessage(message, moved);
  }
  addEventListener(type: string, listener: (event: object) => void): void {
    if (type === 'error') this.#onError.push(listener);
    else this.#ports.port1.addEventListener(type, listener);
  }
  start(): void {
    this.#ports.port1.start();
  }
  terminate(): void {
    this.isTerminated = true;
    this.#ports.port1.close();
  }
  crash(): void {
    for (const listener of this.#onError) listener(new Event('error'));
  }
}
