/**
 * A trace in Perfetto's and chrome://tracing's JSON: counters as tracks, annotations as slices, OOMs as instants.
 *
 * Times are the recorder's, in microseconds since 1970 if PyTorch wrote them so. To place a Kineto trace on the same
 * clock, add its `baseTimeNanoseconds`, which is 0 in ours.
 * @source Trace Event Format, https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU
 */
import { LoadError } from '../../base/load-error.ts';
import type { NarrowColumn } from '../../base/table.ts';
import { cardHistory, rowLabel } from '../../device/model/card.ts';
import type { DeviceModel } from '../../device/model/device-model.ts';
import { deviceTitle } from '../../device/model/vendors.ts';
import type { EventIndex } from '../../format/snapshot/tables.ts';
import { TraceAction } from '../../format/snapshot/tables.ts';

const PIECE = 5000;
/** Perfetto handles this many points well. A longer trace is thinned, and the file says how. */
const MAX_POINTS = 500_000;

const NAMES = ['allocatedBytes', 'activeBytes', 'reservedBytes', 'requestedBytes'] as const;

/** Thread ids: annotations use their depth; the instants use this one. */
const INSTANTS_THREAD = 1000;

/**
 * The file in pieces.
 * @throws LoadError if the trace has no times, since it could not be aligned with others
 */
export function* perfettoTrace(context: DeviceModel): Generator<string> {
  const { snapshot, trace } = context;
  const { timeUs, length } = trace.events;
  if (timeUs === undefined) {
    const message = 'The events of this snapshot carry no times.';
    throw new LoadError({ code: 'cannot-export', message });
  }
  const step = Math.max(1, Math.ceil(length / MAX_POINTS));
  const pid = trace.device;
  const name = trace.kind === 'host' ? 'pinned host memory' : `${deviceTitle(trace)} memory`;
  const other = {
    source: 'vramscope',
    counters:
      step === 1
        ? 'after each event'
        : `highest of each counter over every ${step} events, at the first of them`,
  };
  yield `{"displayTimeUnit":"ms","baseTimeNanoseconds":0,"otherData":${JSON.stringify(other)},"traceEvents":[\n`;
  yield line({ ph: 'M', pid, tid: 0, name: 'process_name', args: { name } });
  yield* annotations(context, snapshot.startUs + (timeUs[0] ?? 0));
  yield* counters(context, timeUs, step);
  yield* instants(context, timeUs);
  yield* cardCounters(context, snapshot.startUs + (timeUs[0] ?? 0));
  // An event without a trailing comma ends the list.
  yield `${JSON.stringify({ ph: 'M', pid, tid: INSTANTS_THREAD, name: 'thread_name', args: { name: 'allocator' } })}\n]}\n`;
}

const line = (event: object): string => `${JSON.stringify(event)},\n`;

function* annotations(context: DeviceModel, originUs: number): Generator<string> {
  const pid = context.trace.device;
  for (const { name, depth, startUs, endUs } of context.annotations()) {
    const args = { ph: 'X', cat: 'phase', pid, tid: depth };
    yield line({ ...args, name, ts: originUs + startUs, dur: endUs - startUs });
  }
}

function* counters(
  { replay, snapshot, trace }: DeviceModel,
  timeUs: NarrowColumn,
  step: number,
): Generator<string> {
  const { length } = trace.events;
  const columns = NAMES.map(() => new Float64Array(PIECE * step));
  for (let from = 0; from < length; from += PIECE * step) {
    const count = Math.min(PIECE * step, length - from);
    NAMES.forEach((name, i) => {
      replay.fillCounter(name, from, columns[i].subarray(0, count));
    });
    let text = '';
    for (let i = 0; i < count; i += step) {
      const highest = columns.map((column) =>
        column.subarray(i, Math.min(i + step, count)).reduce((a, b) => Math.max(a, b)),
      );
      // One track per counter: Perfetto would stack counters of one track, but ours contain each other.
      NAMES.forEach((name, k) => {
        const bytes = highest[k];
        const args = { ph: 'C', pid: trace.device, name: name.replace('Bytes', '') };
        text += line({ ...args, ts: snapshot.startUs + timeUs[from + i], args: { bytes } });
      });
    }
    yield text;
  }
}

/** One track for each row of the card. */
function* cardCounters(context: DeviceModel, originUs: number): Generator<string> {
  for (const { timeUs, rows } of cardHistory(context)?.samples ?? []) {
    for (const row of rows) {
      const args = { ph: 'C', pid: context.trace.device, name: `card: ${rowLabel(row)}` };
      yield line({ ...args, ts: originUs + timeUs, args: { bytes: row.bytes } });
    }
  }
}

function* instants({ snapshot, trace }: DeviceModel, timeUs: NarrowColumn): Generator<string> {
  const { action, sizeBytes } = trace.events;
  const of = (event: EventIndex, name: string, args: object) =>
    line({
      ph: 'i',
      s: 'p',
      pid: trace.device,
      tid: INSTANTS_THREAD,
      name,
      ts: snapshot.startUs + timeUs[event],
      args,
    });
  for (let event = 0; event < trace.events.length; event++) {
    if (action[event] === TraceAction.Oom) {
      yield of(event, 'out of memory', { event, requestedBytes: sizeBytes[event] });
    } else if (action[event] === TraceAction.Snapshot) {
      yield of(event, 'snapshot', { event });
    }
  }
}
