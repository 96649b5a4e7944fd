/** Encodes the tables of a snapshot: a twentieth of the pickle's size after gzip. */

import { type Column, slice, type TableOf, type TableSchema } from '../../base/table.ts';
import {
  ANNOTATION_COLUMNS,
  BLOCK_COLUMNS,
  type DeviceTrace,
  EVENT_COLUMNS,
  type FileInfo,
  FRAME_COLUMNS,
  HOLDER_COLUMNS,
  type HolderTable,
  SEGMENT_COLUMNS,
  type Snapshot,
  STACK_COLUMNS,
} from '../snapshot/tables.ts';
import { writeCompactFile } from './compact-file.ts';
import type { CompactDevice, CompactHolders, CompactRest } from './compact-rest.ts';

/**
 * Encodes the whole snapshot. Remove data that must not be shared with prune.ts first.
 * @param origin the file that it was read from, for the page to show
 * @returns bytes that begin with COMPACT_MAGIC, not yet gzipped; decodeSnapshot gives equal tables
 */
export function encodeSnapshot(snapshot: Snapshot, origin?: FileInfo): Uint8Array<ArrayBuffer> {
  const columns = new Map<string, Column>();
  const strings = Array.from({ length: snapshot.strings.length }, (_, i) =>
    snapshot.strings.get(i),
  );
  add(columns, 'frames', FRAME_COLUMNS, snapshot.frames);
  add(columns, 'stacks', STACK_COLUMNS, snapshot.stacks);
  add(columns, 'annotations', ANNOTATION_COLUMNS, snapshot.annotations);
  for (const [i, trace] of snapshot.devices.entries()) addDevice(columns, `devices.${i}`, trace);
  if (snapshot.holders !== undefined) add(columns, 'holders', HOLDER_COLUMNS, snapshot.holders);
  const rest: CompactRest = {
    origin,
    strings,
    regions: snapshot.addresses.regions.map(String),
    startUs: snapshot.startUs,
    extras: [...snapshot.frames.extras],
    devices: snapshot.devices.map(restOfDevice),
    settings: snapshot.settings,
    warnings: snapshot.warnings,
    labels: snapshot.labels,
    holders: snapshot.holders && restOfHolders(snapshot.holders),
  };
  return writeCompactFile({ columns, rest });
}

/** Adds the columns that exist, cut to the table's length: some tables have spare room. */
function add<S extends TableSchema>(
  columns: Map<string, Column>,
  prefix: string,
  schema: S,
  table: TableOf<S>,
): void {
  const { length, ...own } = slice(schema, table, 0, table.length);
  for (const [name, column] of Object.entries<Column | undefined>(own)) {
    if (column !== undefined) columns.set(`${prefix}.${name}`, column);
  }
}

function addDevice(columns: Map<string, Column>, prefix: string, trace: DeviceTrace): void {
  add(columns, `${prefix}.events`, EVENT_COLUMNS, trace.events);
  addState(columns, prefix, trace);
  if (trace.opening !== undefined) addState(columns, `${prefix}.opening`, trace.opening);
}

function addState(
  columns: Map<string, Column>,
  prefix: string,
  { segments, blocks }: Pick<DeviceTrace, 'segments' | 'blocks'>,
): void {
  add(columns, `${prefix}.segments`, SEGMENT_COLUMNS, segments);
  add(columns, `${prefix}.blocks`, BLOCK_COLUMNS, blocks);
}

const restOfHolders = ({ owners, left, graphs }: HolderTable): CompactHolders => ({
  owners,
  left,
  graphs,
});

function restOfDevice(trace: DeviceTrace): CompactDevice {
  const { device, kind, streams, pools, ringOverflowed, opening, events } = trace;
  return {
    device,
    kind,
    streams: streams.map(({ handle }) => String(handle)),
    pools: pools.map(({ id }) => id),
    ringOverflowed,
    opening: opening && {
      hasFreeRequested: opening.hasFreeRequested,
      hasFreeCompleted: opening.hasFreeCompleted,
    },
    oomDeviceFreeBytes: [...events.oomDeviceFreeBytes],
    unknownActions: [...events.unknownActions],
    unknownKeys: [...events.unknownKeys].map(([key, values]) => [key, [...values]] as const),
  };
}
