/** The tables of a snapshot as bytes: a twentieth of the pickle once they are gzipped. */
import type { FileInfo } from '../snapshot/file-info.ts';
import type { DeviceTrace, EventTable, Snapshot } from '../snapshot/tables.ts';
import type { Column } from './columns.ts';
import { writeCompactFile } from './compact-file.ts';
import type { CompactDevice, CompactRest } from './compact-rest.ts';

/**
 * Holds the whole snapshot: what must not be shared is taken out before, by prune.ts.
 * @param origin the file that it was read from, for the page to show
 * @returns bytes that begin with COMPACT_MAGIC, not yet gzipped; decodeSnapshot gives equal tables
 */
export function encodeSnapshot(snapshot: Snapshot, origin?: FileInfo): Uint8Array<ArrayBuffer> {
  const columns = new Map<string, Column>();
  const { frames, stacks, annotations } = snapshot;
  const strings = Array.from({ length: snapshot.strings.length }, (_, i) =>
    snapshot.strings.get(i),
  );
  add(
    columns,
    'frames',
    { name: frames.name, filename: frames.filename, line: frames.line },
    frames.length,
  );
  add(columns, 'stacks', { frame: stacks.frame, parent: stacks.parent }, stacks.length);
  const { isStart, name, device, timeUs } = annotations;
  add(columns, 'annotations', { isStart, name, device, timeUs }, annotations.length);
  for (const [i, trace] of snapshot.devices.entries()) addDevice(columns, `devices.${i}`, trace);
  const rest: CompactRest = {
    ...(origin !== undefined && { origin }),
    strings,
    regions: snapshot.addresses.regions.map(String),
    extras: [...frames.extras],
    devices: snapshot.devices.map(restOfDevice),
    settings: snapshot.settings,
    warnings: snapshot.warnings,
  };
  return writeCompactFile({ columns, rest });
}

/** Adds the columns that are there, cut to the table's length: some tables have room to spare. */
function add(
  columns: Map<string, Column>,
  table: string,
  parts: Readonly<Record<string, Column | undefined>>,
  length: number,
): void {
  for (const [name, column] of Object.entries(parts)) {
    if (column !== undefined) columns.set(`${table}.${name}`, column.subarray(0, length));
  }
}

function addDevice(columns: Map<string, Column>, prefix: string, trace: DeviceTrace): void {
  add(columns, `${prefix}.events`, eventColumns(trace.events), trace.events.length);
  addState(columns, prefix, trace);
  if (trace.opening !== undefined) addState(columns, `${prefix}.opening`, trace.opening);
}

function addState(
  columns: Map<string, Column>,
  prefix: string,
  state: Pick<DeviceTrace, 'segments' | 'blocks'>,
): void {
  const { length, firstBlock, ...segments } = state.segments;
  add(columns, `${prefix}.segments`, segments, length);
  add(columns, `${prefix}.segments`, { firstBlock }, length + 1);
  const { length: blockCount, ...blocks } = state.blocks;
  add(columns, `${prefix}.blocks`, blocks, blockCount);
}

function eventColumns(events: EventTable): Readonly<Record<string, Column | undefined>> {
  const { action, address, sizeBytes, stream, stack, timeUs, pool } = events;
  const { compileContext, userMetadata, category, forwardFrames } = events;
  const always = { action, address, sizeBytes, stream, stack };
  return {
    ...always,
    timeUs,
    pool,
    compileContext,
    userMetadata,
    category,
    forwardFrames,
  };
}

function restOfDevice(trace: DeviceTrace) {
  const { device, kind, streams, pools, ringOverflowed, opening, events } = trace;
  return {
    device,
    kind,
    streams: streams.map(({ handle }) => String(handle)),
    pools: pools.map(({ id }) => id),
    ...(ringOverflowed !== undefined && { ringOverflowed }),
    ...(opening !== undefined && {
      opening: {
        hasFreeRequested: opening.hasFreeRequested,
        hasFreeCompleted: opening.hasFreeCompleted,
      },
    }),
    oomDeviceFreeBytes: [...events.oomDeviceFreeBytes],
    unknownActions: [...events.unknownActions],
    unknownKeys: [...events.unknownKeys].map(([key, values]) => [key, [...values]] as const),
  } satisfies CompactDevice;
}
