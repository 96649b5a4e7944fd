import { LoadError } from '../../base/load-error.ts';
import { PickleDecoder } from '../pickle/pickle-decoder.ts';
import { assembleSnapshot } from './assemble.ts';
import type { EventFastPath } from './event-fast-path.ts';
import { SnapshotSchema } from './schema.ts';
import type { Snapshot } from './tables.ts';

/**
 * Decodes a pickle chunk by chunk.
 * @example
 *   const decoder = new SnapshotDecoder();
 *   for (const chunk of chunks) decoder.push(chunk);
 *   const snapshot = decoder.finish();
 */
export class SnapshotDecoder {
  readonly #schema = new SnapshotSchema();
  readonly #pickle = new PickleDecoder(this.#schema.machine);

  /** From here on, the fast path reads events: the same tables in half the time. */
  attach(FastPath: typeof EventFastPath): void {
    const { machine, events, fields } = this.#schema;
    this.#pickle.fastPath = new FastPath(machine, events, fields);
  }

  /** The pickle's size if known, or a good guess: columns then grow to their final size at once. */
  set totalBytes(bytes: number | undefined) {
    this.#pickle.totalBytes = bytes;
  }

  get eventCount(): number {
    return this.#schema.events.length;
  }

  /** The tables so far, for code that looks at them while the file is being read. */
  get schema(): SnapshotSchema {
    return this.#schema;
  }

  get protocol(): number {
    return this.#pickle.protocol;
  }

  /** The pickle is complete; further bytes are ignored. */
  get stopped(): boolean {
    return this.#pickle.stopped;
  }

  /** @throws LoadError for a broken pickle */
  push(chunk: Uint8Array): void {
    this.#pickle.push(chunk);
  }

  /** @throws LoadError 'truncated' before STOP, 'not-a-snapshot' when the value is something else */
  finish(): Snapshot {
    this.#pickle.end();
    this.#schema.machine.memo.release();
    return assembleSnapshot(this.#schema);
  }

  /** The readable part of a file that ends or breaks early. @throws LoadError when there is no event */
  finishPartial(reason: string): Snapshot {
    if (this.eventCount === 0) {
      throw new LoadError({
        code: 'truncated',
        message: 'There is no complete event before the error.',
      });
    }
    this.#schema.machine.closeUnfinished();
    this.#schema.machine.memo.release();
    return assembleSnapshot(this.#schema, { partial: reason });
  }
}
