/**
 * Allocations and events as Arrow tables (IPC file format) for pandas, Polars and DuckDB. Each stack's text is stored
 * once.
 */

import {
  bool,
  type DataType,
  dictionary,
  float64,
  int32,
  tableFromArrays,
  tableToIPC,
  uint64,
  utf8,
} from '@uwdata/flechette';
import { NEVER } from '../../allocator/replay/types.ts';
import { memoized } from '../../base/collections.ts';
import { classify } from '../../device/classes/classify.ts';
import { MEMORY_CLASSES } from '../../device/classes/types.ts';
import { noFrameText } from '../../device/flame-graph/flame-context.ts';
import { privatePoolText, streamText } from '../../device/model/allocation-labels.ts';
import type { DeviceModel } from '../../device/model/device-model.ts';
import { holderOf } from '../../device/model/holders.ts';
import { stackKind } from '../../device/model/stacks.ts';
import { ACTION_NAMES, type Snapshot, TraceAction } from '../../format/snapshot/tables.ts';

interface ArrowColumn {
  readonly type: DataType;
  readonly values: unknown[] | Float64Array | Int32Array | BigUint64Array;
}

/**
 * Columns: address, requested_bytes (NaN: unknown), block_bytes, start_event (-1: before the trace),
 * free_requested_event, end_event (null: never), stream, pool, class, holder (null: no name), is_small, stack.
 */
export function allocationsArrow(context: DeviceModel): Uint8Array<ArrayBuffer> {
  const { replay, snapshot, trace } = context;
  const { allocations: a } = replay;
  const event = (column: Int32Array) =>
    Array.from(column, (value) => (value === NEVER ? undefined : value));
  const stackOf = stackTexts(context);
  return ipc({
    address: { type: uint64(), values: addresses(a.address, a.length, snapshot) },
    requested_bytes: { type: float64(), values: Float64Array.from(a.requestedBytes) },
    block_bytes: { type: float64(), values: Float64Array.from(a.sizeBytes) },
    start_event: { type: int32(), values: a.start },
    free_requested_event: { type: int32(), values: event(a.freeRequested) },
    end_event: { type: int32(), values: event(a.end) },
    stream: names(streams(a.stream, context)),
    pool: names(Array.from(a.pool, (pool) => privatePoolText(trace.pools[pool]) ?? 'default')),
    class: names(Array.from(classify(context).classOf, (of) => MEMORY_CLASSES[of].id)),
    holder: names(Array.from({ length: a.length }, (_, id) => holderOf(context, id)?.name)),
    is_small: { type: bool(), values: Array.from(a.isSmall, (small) => small === 1) },
    stack: names(Array.from(a.stack, (stack, id) => stackOf(stack, id < a.preexisting))),
  });
}

/** Columns: action, time_us (NaN: unknown), address, size_bytes, stream, allocated_bytes, reserved_bytes, stack. */
export function eventsArrow(context: DeviceModel): Uint8Array<ArrayBuffer> {
  const { replay, snapshot, trace } = context;
  const { events } = trace;
  const counter = (name: 'allocatedBytes' | 'reservedBytes') => {
    const out = new Float64Array(events.length);
    replay.fillCounter(name, 0, out);
    return out;
  };
  const stackOf = stackTexts(context);
  const actionOf = (action: number, event: number) =>
    action === TraceAction.Unknown
      ? (events.unknownActions.get(event) ?? 'unknown')
      : ACTION_NAMES[action];
  return ipc({
    action: names(Array.from(events.action, actionOf)),
    time_us: {
      type: float64(),
      values: Float64Array.from(
        { length: events.length },
        (_, event) => snapshot.startUs + (events.timeUs?.[event] ?? Number.NaN),
      ),
    },
    address: { type: uint64(), values: addresses(events.address, events.length, snapshot) },
    size_bytes: { type: float64(), values: Float64Array.from(events.sizeBytes) },
    stream: names(streams(events.stream, context)),
    allocated_bytes: { type: float64(), values: counter('allocatedBytes') },
    reserved_bytes: { type: float64(), values: counter('reservedBytes') },
    stack: names(Array.from(events.stack, (stack) => stackOf(stack, false))),
  });
}

const names = (values: unknown[]): ArrowColumn => ({ type: dictionary(utf8(), int32()), values });

function ipc(columns: Readonly<Record<string, ArrowColumn>>): Uint8Array<ArrayBuffer> {
  const entries = Object.entries(columns);
  const table = tableFromArrays(
    Object.fromEntries(entries.map(([name, { values }]) => [name, values])),
    { types: Object.fromEntries(entries.map(([name, { type }]) => [name, type])) },
  );
  const bytes = tableToIPC(table, { format: 'file' });
  if (bytes === null) throw new Error('The Arrow table could not be written');
  return new Uint8Array(bytes);
}

/** 64 bits, since XPU and HIP addresses exceed 2^53. */
function addresses(keys: Float64Array, length: number, { addresses: space }: Snapshot) {
  const out = new BigUint64Array(length);
  for (let i = 0; i < length; i++) out[i] = space.toBigInt(keys[i]);
  return out;
}

function streams(column: Uint16Array, { trace }: DeviceModel): string[] {
  const texts = trace.streams.map(streamText);
  return Array.from(column, (stream) => texts[stream] ?? '');
}

/** 'main (train.py:9);forward (model.py:5)', outermost first. Without a stack, the reason in brackets. */
function stackTexts({ stacks }: DeviceModel) {
  const textOf = memoized((stack: number): string => {
    const frames = stacks
      .view(stack)
      .frames.map(({ name, filename, line }) =>
        `${name} (${filename}:${line})`.replaceAll(';', ':'),
      );
    return frames.reverse().join(';');
  });
  return (stack: number, isFromBefore: boolean): string => {
    const kind = stackKind(stack, isFromBefore);
    return kind === 'recorded' ? textOf(stack) : `[${noFrameText(kind)}]`;
  };
}
