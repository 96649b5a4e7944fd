/**
 * A device as sent from the session worker to the analysis worker: only what detectors and simulator read. Nearly all
 * events are allocs and frees, whose columns repeat the allocation table, so only their action and time are sent. All
 * other events are sent as rows.
 *
 * Example: 5.7 M events with 1.9 M allocations take 288 MB in the session worker, and 160 MB here.
 */

import { ALLOCATION_COLUMNS, SEGMENT_SPAN_COLUMNS } from '../../allocator/replay/types.ts';
import type { DeviceTables } from '../../analysis/findings/types.ts';
import {
  type Column,
  clone,
  cloneColumn,
  createTable,
  gather,
  pick,
  refColumns,
  type TableOf,
  type TableSchema,
  tableFrom,
  transferables,
} from '../../base/table.ts';
import { type Clock, createPause, runTask, type SliceOptions } from '../../base/task.ts';
import { classifyInPieces } from '../../device/classes/classify.ts';
import type { Classification } from '../../device/classes/types.ts';
import type { DeviceModel } from '../../device/model/device-model.ts';
import { type AllocationOwners, allocationOwners } from '../../device/model/holders.ts';
import type { StackSource } from '../../device/model/stacks.ts';
import {
  ANNOTATION_COLUMNS,
  BLOCK_COLUMNS,
  type DeviceTrace,
  EVENT_COLUMNS,
  type EventTable,
  FRAME_COLUMNS,
  SEGMENT_COLUMNS,
  type Snapshot,
  STACK_COLUMNS,
  type StringIndex,
  TraceAction,
} from '../../format/snapshot/tables.ts';
import type { Query } from '../queries.ts';
import { serve, transferring } from '../rpc.ts';

/** The columns sent for events other than alloc and free. Unrecognized texts and numbers are not sent. */
const OTHER_COLUMNS = pick(EVENT_COLUMNS, ['address', 'sizeBytes', 'stream', 'stack', 'pool']);

interface OtherEvents extends TableOf<typeof OTHER_COLUMNS> {
  readonly event: Int32Array;
}

export interface DeviceCopy {
  readonly snapshot: Pick<Snapshot, 'annotations' | 'settings'> &
    Pick<StackSource, 'frames' | 'stacks'> & {
      /** Only strings that frames and annotations use. */
      readonly strings: ReadonlyMap<StringIndex, string>;
      readonly devices: readonly Pick<DeviceTrace, 'device' | 'kind'>[];
    };
  readonly trace: Omit<DeviceTrace, 'events'>;
  readonly events: Pick<EventTable, 'length' | 'action' | 'timeUs' | 'oomDeviceFreeBytes'> & {
    readonly others: OtherEvents;
  };
  readonly replay: DeviceTables['replay'];
  readonly classification: Classification;
  readonly owners: AllocationOwners | undefined;
}

/** Copies a device piece by piece, so that frames need not wait. Sending it transfers its arrays. */
export async function cloneDevice(context: DeviceModel, clock: Clock): Promise<DeviceCopy> {
  const { snapshot, trace, replay } = context;
  const copier = new Copier(clock);
  const { events, segments, blocks, ...rest } = trace;
  const copy: DeviceCopy = {
    snapshot: {
      strings: stringsOf(snapshot),
      frames: await copier.table(FRAME_COLUMNS, snapshot.frames),
      stacks: await copier.table(STACK_COLUMNS, snapshot.stacks),
      annotations: await copier.table(ANNOTATION_COLUMNS, snapshot.annotations),
      settings: snapshot.settings,
      devices: snapshot.devices.map(({ device, kind }) => ({ device, kind })),
    },
    trace: {
      ...rest,
      segments: await copier.table(SEGMENT_COLUMNS, segments),
      blocks: await copier.table(BLOCK_COLUMNS, blocks),
    },
    events: {
      length: events.length,
      action: await copier.column(events.action),
      timeUs: events.timeUs && (await copier.column(events.timeUs)),
      oomDeviceFreeBytes: events.oomDeviceFreeBytes,
      others: await otherEvents(events, copier),
    },
    replay: {
      allocations: await copier.table(ALLOCATION_COLUMNS, replay.allocations),
      segmentSpans: await copier.table(SEGMENT_SPAN_COLUMNS, replay.segmentSpans),
      allocationOfEvent: await copier.column(replay.allocationOfEvent),
      recording: replay.recording,
      recordingReason: replay.recordingReason,
      start: replay.start,
      end: replay.end,
      peaks: replay.peaks,
      anomalyCount: replay.anomalyCount,
    },
    classification: await copier.classification(context),
    owners: allocationOwners(context),
  };
  return transferring(copy, copier.columns);
}

/** Relies on alloc and the two frees coming first in {@link TraceAction}. */
const isOther = (action: number): boolean => action > TraceAction.FreeCompleted;

async function otherEvents(events: EventTable, copier: Copier): Promise<OtherEvents> {
  const { action } = events;
  const rows: number[] = [];
  for (let t = 0; t < action.length; t++) {
    if (t % PIECE === 0) await copier.pause();
    if (isOther(action[t] ?? 0)) rows.push(t);
  }
  return { event: Int32Array.from(rows), ...gather(OTHER_COLUMNS, events, rows) };
}

/** Restores the columns sampled by {@link otherEvents} to full length, with 0 where nothing was sent. */
export function spreadEvents({ length, others, ...whole }: DeviceCopy['events']): EventTable {
  const spread = createTable(OTHER_COLUMNS, length);
  for (const name of Object.keys(OTHER_COLUMNS) as (keyof typeof OTHER_COLUMNS)[]) {
    others.event.forEach((t, row) => {
      spread[name][t] = others[name]?.[row] ?? 0;
    });
  }
  const { pool: hasPool } = others;
  const sent: Partial<EventTable> = { ...spread, ...whole, ...(!hasPool && { pool: undefined }) };
  return {
    ...tableFrom(EVENT_COLUMNS, length, (name) => sent[name as keyof typeof EVENT_COLUMNS]),
    oomDeviceFreeBytes: whole.oomDeviceFreeBytes,
    unknownActions: new Map(),
    unknownKeys: new Map(),
  };
}

function stringsOf({ strings, frames, annotations }: Snapshot): Map<StringIndex, string> {
  const named = new Set<StringIndex>();
  const columns = [
    ...refColumns(FRAME_COLUMNS, frames, 'string'),
    ...refColumns(ANNOTATION_COLUMNS, annotations, 'string'),
  ];
  for (const column of columns) for (const row of column) named.add(row);
  return new Map([...named].map((index) => [index, strings.get(index)]));
}

/** Events copied between looks at the clock: less than a millisecond. */
const PIECE = 2 ** 16;
/** The longest that a requested frame waits. */
const BUSY_MS = 4;

/** Copies columns and lets messages in at intervals. */
class Copier {
  readonly columns: Column[] = [];
  readonly pause: () => Promise<void>;
  readonly #slices: SliceOptions;

  constructor(clock: Clock) {
    this.#slices = { clock, sliceMs: BUSY_MS };
    this.pause = createPause(this.#slices);
  }

  async table<S extends TableSchema, T extends TableOf<S>>(schema: S, table: T): Promise<T> {
    const copy = await clone(schema, table, this.pause);
    this.columns.push(...transferables(schema, copy));
    return copy;
  }

  async column<T extends Column>(column: T): Promise<T> {
    const copy = await cloneColumn(column, this.pause);
    this.columns.push(copy);
    return copy;
  }

  async classification(context: DeviceModel): Promise<Classification> {
    const task = classifyInPieces(context);
    const { classOf, evidenceOf, copies } = await runTask(task, this.#slices);
    return {
      classOf: await this.column(classOf),
      evidenceOf: await this.column(evidenceOf),
      // No finding names a tensor.
      names: new Map(),
      copies,
    };
  }
}

export interface CopyMethods {
  readonly copy: Query<object, DeviceCopy>;
}

/** Serves device copies to an analysis worker until that worker ends. */
export function serveDeviceCopies(
  port: MessagePort,
  contextOf: (deviceIndex: number) => DeviceModel,
  clock: Clock,
): void {
  serve<CopyMethods>(port, {
    copy: ({ deviceIndex }) => cloneDevice(contextOf(deviceIndex), clock),
  });
}
