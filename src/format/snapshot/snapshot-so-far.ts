/** What there is of a snapshot while its pickle is read; each answer holds until more is read. */
import type { AddressSpace } from '../../base/address.ts';
import { listsUnder } from '../pickle/open-lists.ts';
import { ROWS_PER_SINK } from '../pickle/types.ts';
import { TRACE_KEYS } from './assemble.ts';
import type { EventsSoFar } from './event-sink.ts';
import { Sink } from './field-reader.ts';
import type { SnapshotSchema } from './schema.ts';
import type { Snapshot } from './tables.ts';

/** A trace that is being read: rows of the events, and whether the file lists segments of its device. */
export interface TraceSoFar {
  readonly first: number;
  readonly length: number;
  readonly hasSegments: boolean;
}

/** How the machine numbers the first event. */
const EVENT_ROWS = Sink.Event * ROWS_PER_SINK;

export class SnapshotSoFar {
  readonly #schema: SnapshotSchema;

  constructor(schema: SnapshotSchema) {
    this.#schema = schema;
  }

  /** Traces of devices, in the order of the file. */
  traces(): readonly TraceSoFar[] {
    const { machine, segments, events } = this.#schema;
    const endRow = EVENT_ROWS + events.length;
    const lists = listsUnder(machine, (key) => TRACE_KEYS.includes(key));
    return lists.map(({ first, end = endRow }, device) => {
      const hasSegments = segments.segments.some((segment) => segment.device === device);
      const isEvents = first >= EVENT_ROWS && end >= first && end <= endRow;
      return isEvents
        ? { first: first - EVENT_ROWS, length: end - first, hasSegments }
        : { first: 0, length: 0, hasSegments };
    });
  }

  /** Of all traces, in the order of the file. */
  events(): EventsSoFar {
    return this.#schema.events.soFar();
  }

  get stackCount(): number {
    return this.#schema.frames.stackCount;
  }

  /** Copies, but for the strings. */
  stackSource(): Pick<Snapshot, 'strings' | 'frames' | 'stacks'> {
    return { strings: this.#schema.machine.strings, ...this.#schema.frames.finish() };
  }

  get addresses(): AddressSpace {
    return this.#schema.fields.addresses;
  }
}
