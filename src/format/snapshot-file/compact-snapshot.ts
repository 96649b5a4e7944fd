/** The tables of a snapshot in few bytes: a twentieth of the pickle's size after gzip. */
import { AddressSpace } from '../../base/address.ts';
import { type Column, slice, type TableOf, type TableSchema, validate } from '../../base/table.ts';
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
  type StackTable,
} from '../snapshot/tables.ts';
import { damagedAt } from './column-codec.ts';
import { type CompactFile, readCompactFile, writeCompactFile } from './compact-file.ts';
import {
  type CompactDevice,
  type CompactHolders,
  type CompactRest,
  isCompactRest,
} from './compact-rest.ts';

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
  for (const [i, trace] of snapshot.devices.entries()) {
    add(columns, `devices.${i}.events`, EVENT_COLUMNS, trace.events);
    addState(columns, `devices.${i}`, trace);
    if (trace.opening !== undefined) addState(columns, `devices.${i}.opening`, trace.opening);
  }
  const { holders } = snapshot;
  if (holders !== undefined) add(columns, 'holders', HOLDER_COLUMNS, holders);
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
    holders: holders && { owners: holders.owners, left: holders.left, graphs: holders.graphs },
    ledger: snapshot.ledger,
    source: snapshot.source,
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

function addState(
  columns: Map<string, Column>,
  prefix: string,
  { segments, blocks }: Pick<DeviceTrace, 'segments' | 'blocks'>,
): void {
  add(columns, `${prefix}.segments`, SEGMENT_COLUMNS, segments);
  add(columns, `${prefix}.blocks`, BLOCK_COLUMNS, blocks);
}

function restOfDevice(trace: DeviceTrace): CompactDevice {
  const { device, kind, accelerator, streams, pools, ringOverflowed, opening, events } = trace;
  return {
    device,
    kind,
    accelerator,
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

export interface DecodedSnapshot {
  readonly snapshot: Snapshot;
  /** The file that it was made from; undefined if not recorded. */
  readonly origin: FileInfo | undefined;
}

/**
 * @param bytes from COMPACT_MAGIC to the end
 * @throws LoadError 'compact-newer' or 'compact-damaged'
 */
export function decodeSnapshot(bytes: Uint8Array): DecodedSnapshot {
  const file = readCompactFile(bytes);
  const { rest } = file;
  if (!isCompactRest(rest)) throw damagedAt(bytes.length);
  const strings = [...rest.strings];
  const counts = { string: strings.length };
  const frames = readTable(file, 'frames', FRAME_COLUMNS, counts);
  const stacks = readStacks(file, frames.length);
  const snapshot: Snapshot = {
    strings: { length: strings.length, get: (row) => strings[row] ?? '' },
    frames: { ...frames, extras: new Map(rest.extras) },
    stacks,
    addresses: readAddresses(rest.regions),
    startUs: rest.startUs ?? 0,
    devices: rest.devices.map((device, i) =>
      readDevice(file, `devices.${i}`, device, { ...counts, stack: stacks.length }),
    ),
    annotations: readTable(file, 'annotations', ANNOTATION_COLUMNS, counts),
    settings: rest.settings,
    warnings: rest.warnings,
    ...(rest.labels !== undefined && { labels: rest.labels }),
    ...(rest.holders !== undefined && { holders: readHolders(file, rest.holders, counts) }),
    ...(rest.ledger !== undefined && { ledger: rest.ledger }),
    ...(rest.source !== undefined && { source: rest.source }),
  };
  return { snapshot, origin: rest.origin };
}

function readAddresses(regions: readonly string[]): AddressSpace {
  const addresses = new AddressSpace();
  // Restore the exact order: the keys in the columns depend on it.
  for (const region of regions) addresses.regions.push(BigInt(region));
  return addresses;
}

type Counts = Readonly<Record<string, number>>;

function readTable<S extends TableSchema>(
  { columns }: CompactFile,
  prefix: string,
  schema: S,
  counts: Counts,
): TableOf<S> {
  const table = validate(schema, (name) => columns.get(`${prefix}.${name}`), counts);
  if (table === undefined) throw damagedAt(0);
  return table;
}

/** A parent must come before its children, or walking up might never end. */
function readStacks(file: CompactFile, frames: number): StackTable {
  const rows = file.columns.get('stacks.frame')?.length ?? 0;
  const stacks = readTable(file, 'stacks', STACK_COLUMNS, { frame: frames, stack: rows });
  if (rows === 0 || stacks.parent.some((row, i) => row >= i)) throw damagedAt(0);
  return stacks;
}

function readHolders(file: CompactFile, rest: CompactHolders, counts: Counts): HolderTable {
  const owner = rest.owners.length;
  return { ...readTable(file, 'holders', HOLDER_COLUMNS, { ...counts, owner }), ...rest };
}

function readDevice(
  file: CompactFile,
  prefix: string,
  rest: CompactDevice,
  tables: Counts,
): DeviceTrace {
  const { device, kind, accelerator, streams, pools, ringOverflowed, opening } = rest;
  const counts = { ...tables, stream: streams.length, pool: pools.length };
  return {
    device,
    kind,
    ...(accelerator !== undefined && { accelerator }),
    events: {
      ...readTable(file, `${prefix}.events`, EVENT_COLUMNS, counts),
      oomDeviceFreeBytes: new Map(rest.oomDeviceFreeBytes),
      unknownActions: new Map(rest.unknownActions),
      unknownKeys: new Map(rest.unknownKeys.map(([key, values]) => [key, new Map(values)])),
    },
    ...readState(file, prefix, counts),
    streams: streams.map((handle) => ({ handle: BigInt(handle) })),
    pools: pools.map((id) => ({ id })),
    ringOverflowed,
    ...(opening !== undefined && {
      opening: { ...readState(file, `${prefix}.opening`, counts), ...opening },
    }),
  };
}

function readState(file: CompactFile, prefix: string, counts: Counts) {
  const blocks = readTable(file, `${prefix}.blocks`, BLOCK_COLUMNS, counts);
  const block = blocks.length;
  return {
    segments: readTable(file, `${prefix}.segments`, SEGMENT_COLUMNS, { ...counts, block }),
    blocks,
  };
}
