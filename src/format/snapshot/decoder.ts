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
export class SnapshotDecoder extends PickleDecoder {
  /** The tables so far, for code that looks at them while the file is being read. */
  readonly schema: SnapshotSchema;

  constructor() {
    const schema = new SnapshotSchema();
    super(schema.machine);
    this.schema = schema;
  }

  /** From here on, the fast path reads events: the same tables in half the time. */
  attach(FastPath: typeof EventFastPath): void {
    const { machine, events, fields } = this.schema;
    this.fastPath = new FastPath(machine, events, fields);
  }

  get eventCount(): number {
    return this.schema.events.length;
  }

  /** @throws LoadError 'truncated' before STOP, 'not-a-snapshot' when the value is something else */
  finish(): Snapshot {
    this.end();
    this.schema.machine.memo.release();
    return assembleSnapshot(this.schema);
  }

  /** The readable part of a file that ends or breaks early. @throws LoadError when there is no event */
  finishPartial(reason: string): Snapshot {
    if (this.eventCount === 0) {
      throw new LoadError({
        code: 'truncated',
        message: 'There is no complete event before the error.',
      });
    }
    this.schema.machine.closeUnfinished();
    this.schema.machine.memo.release();
    return assembleSnapshot(this.schema, { partial: reason });
  }
}
