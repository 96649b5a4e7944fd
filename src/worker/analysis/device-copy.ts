/**
 * A device as sent from the session worker to the analysis worker: only what detectors and simulator read. Nearly all
 * events are allocs and frees, whose columns repeat the allocation table, so only their action, stack and time are sent:
 * the stack of a free says which code freed it. All other events are sent as rows.
 *
 * Example: 5.7 M events with 1.9 M allocations take 288 MB in the session worker, and 183 MB here.
 */

import type { ReplayColumns } from '../../allocator/replay/types.ts';
import type { DeviceTables } from '../../analysis/findings/types.ts';
import { onceFor } from '../../base/collections.ts';
import {
  type Column,
  cloneColumn,
  createTable,
  gather,
  pick,
  refColumns,
  tableFrom,
} from '../../base/table.ts';
import { type Clock, createPause, runTask } from '../../base/task.ts';
import { classifyInPieces } from '../../device/classes/classify.ts';
import type { DeviceModel } from '../../device/model/device-model.ts';
import { allocationOwners } from '../../device/model/holders.ts';
import { StackReader } from '../../device/model/stacks.ts';
import {
  ANNOTATION_COLUMNS,
  EVENT_COLUMNS,
  type EventTable,
  FRAME_COLUMNS,
  type Snapshot,
  type StringIndex,
  TraceAction,
} from '../../format/snapshot/tables.ts';
import type { DeviceRequest } from '../queries.ts';
import { type Method, transferring } from '../rpc.ts';

/** The columns sent for events other than alloc and free. Unrecognized texts and numbers are not sent. */
const OTHER_COLUMNS = pick(EVENT_COLUMNS, ['address', 'sizeBytes', 'stream', 'pool']);

export type DeviceCopy = Awaited<ReturnType<typeof cloneDevice>>;

/** Events copied between looks at the clock: less than a millisecond. */
const PIECE = 2 ** 16;
/** The longest that a requested frame waits. */
const BUSY_MS = 4;

/** Copies a device piece by piece, so that frames need not wait. Sending it transfers its arrays. */
export async function cloneDevice(context: DeviceModel, clock: Clock) {
  const slices = { clock, sliceMs: BUSY_MS };
  const pause = createPause(slices);
  const { frames, stacks, annotations, settings, devices, ledger } = context.snapshot;
  const { events, ...trace } = context.trace;
  const { length, action, stack, timeUs, oomDeviceFreeBytes } = events;
  const classification = await runTask(classifyInPieces(context), slices);
  const shared = {
    snapshot: {
      ...{ frames, stacks, annotations, settings },
      ...(ledger !== undefined && { ledger }),
      /** Only strings that frames and annotations use. */
      strings: stringsOf(context.snapshot),
      devices: devices.map(({ device, kind }) => ({ device, kind })),
    },
    trace,
    events: {
      ...{ length, action, stack, timeUs, oomDeviceFreeBytes },
      others: await otherEvents(events, pause),
    },
    replay: context.replay as ReplayColumns,
    // No finding names a tensor.
    classification: { ...classification, names: new Map<number, string>() },
    owners: allocationOwners(context),
  };
  return transferring(await copied(shared, pause));
}

/** The columns of all events except alloc and the two frees, which come first in {@link TraceAction}. */
async function otherEvents(events: EventTable, pause: () => Promise<void>) {
  const { action } = events;
  const rows: number[] = [];
  for (let t = 0; t < action.length; t++) {
    if (t % PIECE === 0) await pause();
    if ((action[t] ?? 0) > TraceAction.FreeCompleted) rows.push(t);
  }
  return { event: Int32Array.from(rows), ...gather(OTHER_COLUMNS, events, rows) };
}

/** With arrays of its own, copied piece by piece, and without functions. */
async function copied<T>(value: T, pause: () => Promise<void>): Promise<T> {
  if (ArrayBuffer.isView(value)) return cloneColumn(value as T & Column, pause);
  if (typeof value === 'function') return undefined as T;
  if (typeof value !== 'object' || value === null || value instanceof Map) return value;
  const parts: [string, unknown][] = [];
  for (const [key, part] of Object.entries(value)) parts.push([key, await copied(part, pause)]);
  return (Array.isArray(value) ? parts.map(([, part]) => part) : Object.fromEntries(parts)) as T;
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

/** One device in the form that detectors and simulator need. */
export class AnalysisDevice {
  /** For alloc and free events, `trace` has only action, stack and time. */
  readonly input: DeviceTables;
  /** See OpenDevice.once. */
  readonly once = onceFor<AnalysisDevice>(this);

  constructor({ snapshot, trace, events, ...rest }: DeviceCopy) {
    const { strings, ...tables } = snapshot;
    const source = {
      ...tables,
      strings: { length: strings.size, get: (index: number) => strings.get(index) ?? '' },
    };
    this.input = {
      snapshot: source,
      trace: { ...trace, events: spreadEvents(events) },
      stacks: new StackReader(source),
      ...rest,
    };
  }
}

/** The session worker's side: serves copies to the analysis worker. */
export interface CopyMethods {
  readonly copy: Method<DeviceRequest, DeviceCopy>;
  /** See AnalysisMethods. */
  readonly yieldToInteraction: Method<undefined, undefined>;
}
