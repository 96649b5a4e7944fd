/**
 * One device as it goes from the session worker to the analysis worker: what detectors and simulator
 * read, and no more. Of alloc and free events, which are nearly all, the trace's own columns repeat what
 * the allocation table has, so only their action and time are sent; all other events go as rows.
 *
 * Example: 5.7 M events with 1.9 M allocations take 288 MB in the session worker, and 160 MB here.
 */

import type { DeviceContext } from '../../core/device/device-context.ts';
import type { StackSource } from '../../core/device/stacks.ts';
import type { AnalysisInput } from '../../core/findings/types.ts';
import {
  type DeviceTrace,
  type EventTable,
  type Snapshot,
  type StringIndex,
  TraceAction,
} from '../../core/snapshot/tables.ts';
import type { CooperativeClock } from '../cooperative-clock.ts';
import { transferring } from '../rpc.ts';

/** Columns of an event that are sent for other events than alloc and free. */
interface OtherEvents {
  readonly event: Int32Array;
  readonly address: Float64Array;
  readonly sizeBytes: Float64Array;
  readonly stream: Uint16Array;
  readonly stack: Int32Array;
  readonly pool: Uint16Array | undefined;
}

export interface DeviceCopy {
  readonly snapshot: Pick<Snapshot, 'annotations' | 'settings'> &
    Pick<StackSource, 'frames' | 'stacks'> & {
      /** Those that frames and annotations name. */
      readonly strings: ReadonlyMap<StringIndex, string>;
      readonly devices: readonly Pick<DeviceTrace, 'device' | 'kind'>[];
    };
  readonly trace: Omit<DeviceTrace, 'events'>;
  readonly events: Pick<EventTable, 'length' | 'action' | 'timeUs' | 'oomDeviceFreeBytes'> & {
    readonly others: OtherEvents;
  };
  readonly replay: AnalysisInput['replay'];
}

/** Copies a device piece by piece, so that frames need not wait. Its arrays move when it is sent. */
export async function cloneDevice(
  { snapshot, trace, replay }: DeviceContext,
  clock: CooperativeClock,
): Promise<DeviceCopy> {
  const copier = new Copier(clock);
  const { events, segments, blocks, ...rest } = trace;
  const copy: DeviceCopy = {
    snapshot: {
      strings: stringsOf(snapshot),
      frames: await copier.table(snapshot.frames),
      stacks: await copier.table(snapshot.stacks),
      annotations: await copier.table(snapshot.annotations),
      settings: snapshot.settings,
      devices: snapshot.devices.map(({ device, kind }) => ({ device, kind })),
    },
    trace: {
      ...rest,
      segments: await copier.table(segments),
      blocks: await copier.table(blocks),
    },
    events: {
      length: events.length,
      action: await copier.column(events.action),
      timeUs: events.timeUs && (await copier.column(events.timeUs)),
      oomDeviceFreeBytes: events.oomDeviceFreeBytes,
      others: await otherEvents(events, copier),
    },
    replay: {
      allocations: await copier.table(replay.allocations),
      segmentSpans: await copier.table(replay.segmentSpans),
      allocationOfEvent: await copier.column(replay.allocationOfEvent),
      recording: replay.recording,
      recordingReason: replay.recordingReason,
      start: replay.start,
      end: replay.end,
      peaks: replay.peaks,
      anomalyCount: replay.anomalyCount,
    },
  };
  return transferring(copy, copier.columns);
}

/** Alloc and the two frees come first in {@link TraceAction}. */
const isOther = (action: number): boolean => action > TraceAction.FreeCompleted;

async function otherEvents(events: EventTable, copier: Copier): Promise<OtherEvents> {
  const { action, address, sizeBytes, stream, stack, pool } = events;
  const event: number[] = [];
  for (let t = 0; t < action.length; t++) {
    if (t % PIECE === 0) await copier.pause();
    if (isOther(action[t] ?? 0)) event.push(t);
  }
  const rowsOf = (column: { readonly [index: number]: number }) => event.map((t) => column[t] ?? 0);
  return {
    event: Int32Array.from(event),
    address: Float64Array.from(rowsOf(address)),
    sizeBytes: Float64Array.from(rowsOf(sizeBytes)),
    stream: Uint16Array.from(rowsOf(stream)),
    stack: Int32Array.from(rowsOf(stack)),
    pool: pool && Uint16Array.from(rowsOf(pool)),
  };
}

/** The columns that {@link otherEvents} took rows of, at their full length: 0 where nothing was sent. */
export function spreadEvents({ length, others, ...whole }: DeviceCopy['events']): EventTable {
  const { event } = others;
  const spread = <T extends Float64Array | Int32Array | Uint16Array>(column: T, rows: T): T => {
    event.forEach((t, row) => {
      column[t] = rows[row] ?? 0;
    });
    return column;
  };
  return {
    length,
    ...whole,
    address: spread(new Float64Array(length), others.address),
    sizeBytes: spread(new Float64Array(length), others.sizeBytes),
    stream: spread(new Uint16Array(length), others.stream),
    stack: spread(new Int32Array(length), others.stack),
    pool: others.pool && spread(new Uint16Array(length), others.pool),
    compileContext: undefined,
    userMetadata: undefined,
    category: undefined,
    forwardFrames: undefined,
    unknownActions: new Map(),
    unknownKeys: new Map(),
  };
}

function stringsOf({ strings, frames, annotations }: Snapshot): Map<StringIndex, string> {
  const named = new Set([...frames.name, ...frames.filename, ...annotations.name]);
  return new Map([...named].map((index) => [index, strings.get(index)]));
}

type Column = Float64Array | Int32Array | Uint16Array | Uint8Array;

/** Values copied before the clock is looked at: less than a millisecond. */
const PIECE = 2 ** 16;
/** A frame that was asked for meanwhile waits no longer. */
const BUSY_MS = 4;

class Copier {
  /** All that were made. */
  readonly columns: Column[] = [];
  readonly #clock: CooperativeClock;
  #resumedMs: number;

  constructor(clock: CooperativeClock) {
    this.#clock = clock;
    this.#resumedMs = clock.now();
  }

  /** A table with copies of its columns; what else it holds is kept as it is. */
  async table<T extends object>(table: T): Promise<T> {
    const entries: [string, unknown][] = [];
    for (const [name, value] of Object.entries(table)) {
      entries.push([name, isColumn(value) ? await this.column(value) : value]);
    }
    // The same keys with values of the same types.
    return Object.fromEntries(entries) as T;
  }

  async column<T extends Column>(column: T): Promise<T> {
    const copy = emptyLike(column);
    for (let from = 0; from < column.length; from += PIECE) {
      copy.set(column.subarray(from, from + PIECE), from);
      await this.pause();
    }
    this.columns.push(copy);
    return copy;
  }

  /** Lets messages in when it has been a while. */
  async pause(): Promise<void> {
    if (this.#clock.now() - this.#resumedMs < BUSY_MS) return;
    await this.#clock.yieldTask();
    this.#resumedMs = this.#clock.now();
  }
}

function isColumn(value: unknown): value is Column {
  return ArrayBuffer.isView(value) && !(value instanceof DataView);
}

/** As long as `column` and of its kind, with a buffer of its own. */
function emptyLike<T extends Column>(column: T): T {
  return Reflect.construct(column.constructor, [column.length]);
}
