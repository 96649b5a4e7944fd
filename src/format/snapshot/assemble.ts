/** Turns the value of a pickle into a Snapshot: finds the top level and divides the events by device. */
import { groupBy, sumBy } from '../../base/collections.ts';
import { plural } from '../../base/format.ts';
import { LoadError } from '../../base/load-error.ts';
import type { DictEntry } from '../pickle/retained-values.ts';
import { type ListRun, ROWS_PER_SINK, Tag } from '../pickle/types.ts';
import { acceleratorOf, takeWorkspaces, WORKSPACE_ACTION, type Workspace } from './accelerator.ts';
import { Sink } from './field-reader.ts';
import { readHolders } from './read-holders.ts';
import { readLedger } from './read-ledger.ts';
import { readSource } from './read-source.ts';
import type { SnapshotSchema } from './schema.ts';
import type { SegmentRow } from './segment-sink.ts';
import { type EventRun, sliceEvents, withoutEmptyColumns } from './slice-events.ts';
import {
  type DeviceTrace,
  type EventTable,
  type LabelRow,
  type SettingValue,
  type Snapshot,
  type SnapshotWarning,
  type StackTable,
  TraceAction,
  type WarningCode,
} from './tables.ts';

type Entries = ReadonlyMap<string, DictEntry>;

const TOP_KEYS = ['segments', 'device_traces', 'traces', 'host_segments', 'host_traces'];

/** The top-level keys that list the traces of CUDA devices. */
export const TRACE_KEYS = ['device_traces', 'traces'];

/** How deep the snapshot may be nested in other values, and how many values of a level to search. */
const MAX_WRAPPING = 4;
const MAX_LOOKED_AT = 10_000;

interface AssembleOptions {
  /**
   * Why the file ended early. Its segments describe the end state, which the trace did not reach, so they are omitted.
   */
  readonly partial?: string;
}

/**
 * Builds the tables from the machine's one remaining value.
 * @throws LoadError 'not-a-snapshot' when it holds neither segments nor traces
 */
export function assembleSnapshot(schema: SnapshotSchema, options: AssembleOptions = {}): Snapshot {
  const { strings } = schema.machine;
  // Warnings from here on have no position in the file.
  schema.machine.bufferAt = undefined;
  const top = findTop(schema);
  const allEvents = schema.events.finish();
  const { frames, stacks } = schema.frames.finish();
  const settings = readSettings(schema, top.get('allocator_settings'));
  const overflowed = ringOverflow(settings.trace_alloc_overflowed);
  const own = deviceTraces(schema, top, allEvents, options.partial !== undefined, overflowed);
  const host = hostTraces(schema, top, allEvents, options.partial !== undefined);
  const devices = [...withAccelerator({ strings, frames, settings }, own), ...host];
  const { startUs } = schema.events;
  checkAnnotations(schema, top.get('external_annotations'));
  addUserDefinedAnnotations(schema, devices, frames, stacks);
  const annotations = schema.annotations(startUs);
  const labels = readLabels(schema, top.get('labels'));
  const holders = readHolders(schema, top.get('holders'));
  const ledger = readLedger(schema, top.get('memory_ledger'), startUs);
  const source = readSource(schema, top.get('source_files'));
  const warnings = collectWarnings(schema, devices, options.partial);
  return {
    strings,
    frames,
    stacks,
    addresses: schema.fields.addresses,
    startUs,
    devices,
    annotations,
    settings,
    warnings,
    ...(labels !== undefined && { labels }),
    ...(holders !== undefined && { holders }),
    ...(ledger !== undefined && { ledger }),
    ...(source !== undefined && { source }),
  };
}

/**
 * The outermost dictionary with one of the top-level keys: {'rank0': [{'snapshot': {…}}]} holds one three levels down.
 */
function findTop({ machine: { kept, sp, tags, vals } }: SnapshotSchema): Entries {
  const root = { tag: sp > 0 ? (tags[0] as Tag) : Tag.None, first: vals[0] };
  // What torch.cuda.memory_snapshot() returns for a program that has allocated nothing.
  if (root.tag === Tag.List && root.first === 0) return segmentsAlone(root);
  let level: Pick<ListRun, 'tag' | 'first'>[] = [root];
  for (let depth = 0; depth <= MAX_WRAPPING; depth++) {
    const next: typeof level = [];
    for (const value of level) {
      if (value.tag === Tag.Dict) {
        // Of equal keys the last one counts, as in Python.
        const byKey = new Map(kept.dictEntries(value.first).map((entry) => [entry.key, entry]));
        if (TOP_KEYS.some((key) => isListed(byKey.get(key)?.tag))) return byKey;
        const entries = [...byKey.values()];
        next.push(...entries.map(({ tag, val }) => ({ tag, first: val })).slice(0, MAX_LOOKED_AT));
      } else {
        const items = kept.items(value.tag, value.first) ?? [];
        if (items.length > 0 && items.every((run) => isRowOf(run, Sink.Segment)))
          return segmentsAlone(value);
        next.push(...items.slice(0, MAX_LOOKED_AT));
      }
    }
    level = next.slice(0, MAX_LOOKED_AT);
  }
  if (root.tag === Tag.Dict && kept.dictEntries(root.first ?? 0).length === 0) {
    throw new LoadError({
      code: 'not-a-snapshot',
      message: "The snapshot is empty, {}: this PyTorch's backend has no snapshots.",
      advice:
        'torch.accelerator.memory._snapshot() returns {} on devices whose PyTorch records no memory history.',
    });
  }
  throw new LoadError({
    code: 'not-a-snapshot',
    message: 'This pickle is not a memory snapshot: it has neither segments nor device traces.',
    advice: 'Open a file that torch.cuda.memory._dump_snapshot() wrote.',
  });
}

const segmentsAlone = ({ tag, first }: Pick<ListRun, 'tag' | 'first'>): Entries =>
  new Map([['segments', { key: 'segments', tag, val: first }]]);

const isRowOf = (run: ListRun, sink: number): boolean =>
  run.tag === Tag.Row && Math.floor(run.first / ROWS_PER_SINK) === sink;

const isListed = (tag: number | undefined): boolean => tag === Tag.List || tag === Tag.Tuple;

/** The event rows of each trace in a list of traces; empty if the value is not a list. */
function tracesIn(schema: SnapshotSchema, entry: DictEntry | undefined): EventRun[][] {
  if (entry === undefined) return [];
  const items = schema.machine.kept.items(entry.tag, entry.val);
  if (items === undefined) schema.fields.bad(entry.key, 0);
  return (items ?? []).map(({ tag, first }, i) => {
    schema.fields.checkDevice(i);
    return schema.fields.rows(tag, first, Sink.Event, entry.key);
  });
}

/** The device traces, each with what is known of its kind of device. */
function withAccelerator(
  snapshot: Pick<Snapshot, 'strings' | 'frames' | 'settings'>,
  own: ReturnType<typeof deviceTraces>,
): DeviceTrace[] {
  const traces = own.map(({ trace }) => trace);
  const found = acceleratorOf(
    snapshot,
    traces,
    own.flatMap(({ workspaces }) => workspaces),
  );
  if (found === undefined) return traces;
  return own.map(({ trace, workspaces }) =>
    trace.kind === 'host' ? trace : { ...trace, accelerator: { ...found, workspaces } },
  );
}

function deviceTraces(
  schema: SnapshotSchema,
  top: Entries,
  allEvents: EventTable,
  isPartial: boolean,
  overflowed: (device: number) => boolean | undefined,
): { readonly trace: DeviceTrace; readonly workspaces: readonly Workspace[] }[] {
  const traces = tracesIn(schema, top.get('device_traces') ?? top.get('traces'));
  const segments = isPartial ? [] : segmentsOf(schema, top.get('segments'));
  const segmentsByDevice = groupBy(segments, ({ device }) => device);
  // Skip devices without a trace or a segment: the only two may be numbered 0 and 900.
  const ordinals = [...new Set([...traces.keys(), ...segmentsByDevice.keys()])].sort(
    (a, b) => a - b,
  );
  return ordinals.map((device) => {
    const { workspaces, runs } = takeWorkspaces(allEvents, traces[device] ?? []);
    const events = withoutEmptyColumns(sliceEvents(allEvents, runs));
    // torch.cuda._memory_viz._profile_to_snapshot puts the CPU after the last GPU, without times.
    const isCpu =
      device > 0 &&
      device === ordinals.at(-1) &&
      events.category !== undefined &&
      events.timeUs === undefined;
    const isOutside = ({ address, totalBytes }: SegmentRow) =>
      workspaces.some((one) => one.address === address && one.sizeBytes === totalBytes);
    const rows = (segmentsByDevice.get(device) ?? []).filter((row) => !isOutside(row));
    const kind = isCpu ? 'host' : 'cuda';
    const own = traceOf(schema, device, events, rows);
    return { trace: { ...own, kind, ringOverflowed: overflowed(device) }, workspaces };
  });
}

const traceOf = (
  { segments, fields: { streams, pools } }: SnapshotSchema,
  device: number,
  events: EventTable,
  rows: readonly SegmentRow[],
) => ({ device, events, ...segments.tables(rows), streams, pools });

/** Pinned memory in 2.14 and later: one list of entries, or a list of such lists. */
function hostTraces(
  schema: SnapshotSchema,
  top: Entries,
  allEvents: EventTable,
  isPartial: boolean,
): DeviceTrace[] {
  const traces = top.get('host_traces');
  const segments = isPartial ? [] : segmentsOf(schema, top.get('host_segments'));
  if (traces === undefined && segments.length === 0) return [];
  const items =
    traces === undefined ? [] : (schema.machine.kept.items(traces.tag, traces.val) ?? []);
  const isDirect = traces !== undefined && items.some((item) => isRowOf(item, Sink.Event));
  const runs = isDirect
    ? schema.fields.rows(traces.tag, traces.val, Sink.Event, traces.key)
    : tracesIn(schema, traces).flat();
  const events = withoutEmptyColumns(sliceEvents(allEvents, runs));
  return [{ ...traceOf(schema, 0, events, segments), kind: 'host', ringOverflowed: undefined }];
}

/** Leaves out segments with impossible devices; they were counted when read. */
function segmentsOf(schema: SnapshotSchema, entry: DictEntry | undefined): SegmentRow[] {
  if (entry === undefined) return [];
  return schema.fields
    .rows(entry.tag, entry.val, Sink.Segment, entry.key)
    .flatMap(({ first, count }) => schema.segments.segments.slice(first, first + count))
    .filter(({ device }) => device >= 0);
}

/** `trace_alloc_overflowed` (2.12 and later): one value for all devices, or a list by device. */
function ringOverflow(setting: unknown): (device: number) => boolean | undefined {
  if (setting === undefined) return () => undefined;
  if (typeof setting === 'object' && setting !== null) {
    const byDevice = new Map(Object.entries(setting));
    return (device) => {
      const value = byDevice.get(String(device));
      return value === undefined ? undefined : Boolean(value);
    };
  }
  return () => Boolean(setting);
}

/** The annotations were stored when read. This counts the invalid ones. */
function checkAnnotations({ fields }: SnapshotSchema, entry: DictEntry | undefined): void {
  if (entry !== undefined) fields.rows(entry.tag, entry.val, Sink.Annotation, entry.key);
}

/** user_defined events (nightlies of mid-2024) are annotations: frames [{name: START|END, filename: label}]. */
function addUserDefinedAnnotations(
  schema: SnapshotSchema,
  devices: readonly DeviceTrace[],
  frames: Snapshot['frames'],
  stacks: StackTable,
): void {
  for (const { device, events } of devices) {
    if (!events.action.includes(TraceAction.UserDefined)) continue;
    for (let t = 0; t < events.length; t++) {
      if (events.action[t] !== TraceAction.UserDefined || events.stack[t] <= 0) continue;
      const frame = stacks.frame[events.stack[t]];
      const isStart = schema.machine.strings.get(frames.name[frame]) === 'START';
      const timeUs = (events.timeUs?.[t] ?? Number.NaN) + schema.events.startUs;
      schema.addAnnotation(isStart, frames.filename[frame], device, timeUs);
    }
  }
}

/** Rows that a program stored with its snapshot. */
function readLabels(
  { machine: { kept } }: SnapshotSchema,
  entry: DictEntry | undefined,
): readonly LabelRow[] | undefined {
  const rows = entry && kept.items(entry.tag, entry.val);
  return rows?.map(({ tag, first }) => kept.toValue(tag, first)).filter(isLabelRow);
}

const isLabelRow = (row: unknown): row is LabelRow =>
  Array.isArray(row) &&
  row.every((value) => typeof value === 'number' || typeof value === 'string');

/** allocator_settings as recorded: numbers, booleans, strings, and dictionaries of numbers. */
function readSettings(
  { fields, machine: { kept } }: SnapshotSchema,
  entry: DictEntry | undefined,
): Readonly<Record<string, SettingValue>> {
  if (entry !== undefined && entry.tag !== Tag.Dict) fields.bad(entry.key, 0);
  if (entry?.tag !== Tag.Dict) return {};
  const pairs = kept.dictEntries(entry.val).flatMap(({ key, tag, val }) => {
    const value = settingValue(kept.toValue(tag, val));
    if (value === undefined) fields.bad(entry.key, 0);
    return value === undefined ? [] : [[key, value] as const];
  });
  return Object.fromEntries(pairs);
}

function settingValue(value: unknown): SettingValue | undefined {
  if (typeof value === 'boolean' || typeof value === 'string' || Number.isFinite(value))
    return value as SettingValue;
  if (typeof value === 'bigint') return value.toString();
  if (!(value instanceof Map || Array.isArray(value))) return undefined;
  const items = [...value.entries()].map(([key, item]) => [String(key), Number(item)] as const);
  return items.every(([, item]) => Number.isFinite(item)) ? Object.fromEntries(items) : undefined;
}

function collectWarnings(
  schema: SnapshotSchema,
  devices: readonly DeviceTrace[],
  partial: string | undefined,
): SnapshotWarning[] {
  const warnings: SnapshotWarning[] = [];
  const warn = (code: WarningCode, message: string) => void warnings.push({ code, message });
  const shown = sumBy(devices, ({ events }) => events.length);
  if (partial !== undefined) {
    warn('partial-file', `Showing only the ${shown} complete events before the error: ${partial}`);
  } else if (schema.events.length === 0) {
    const message = devices.some((device) => device.segments.length > 0)
      ? 'The file has no recorded history, only memory at the time of the dump. Call torch.cuda.memory._record_memory_history() first to see what led there.'
      : 'The file has no events and no segments: nothing was allocated, or nothing was recorded.';
    warn('no-trace', message);
  }
  for (const { device, ringOverflowed } of devices) {
    const message = `The recording of device ${device} dropped its oldest events: raise max_entries to keep them.`;
    if (ringOverflowed === true) warn('ring-truncated', message);
  }
  const unknown = (count: number, kind: string, text: string, result: string) =>
    `${plural(count, 'event has', 'events have')} ${kind} '${text}' that this version does not know; ${result}.`;
  for (const [key, count] of schema.events.unknownKeyCounts)
    warn('unknown-key', unknown(count, 'a key', key, 'it is shown unchanged'));
  const words = [...schema.events.unknownActions.values()].filter(
    (word) => word !== WORKSPACE_ACTION,
  );
  for (const [word, { length }] of groupBy(words, String))
    warn('unknown-action', unknown(length, 'an action', word, 'this changes no counter'));
  for (const [field, { count, byte }] of schema.fields.badValues) {
    const where = byte === undefined ? '' : `, the first at byte ${byte}`;
    const message = `${plural(count, 'value')} of '${field}' with the wrong type${where}: treated as missing.`;
    warn('bad-value', message);
  }
  const { callables, lateItems, incomplete } = schema.machine;
  const names = [...callables].join(', ');
  if (names !== '') warn('holds-code', `The pickle names ${names}; nothing was run.`);
  const late = `${lateItems} values were added to lists or dictionaries after those had been used; they are ignored.`;
  if (lateItems > 0) warn('bad-value', late);
  const itself = `${plural(incomplete, 'list or dictionary', 'lists or dictionaries')} inside itself: read as empty.`;
  if (incomplete > 0) warn('bad-value', itself);
  return [...warnings, ...schema.segments.warnings];
}
