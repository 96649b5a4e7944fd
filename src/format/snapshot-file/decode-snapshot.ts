import { AddressSpace } from '../../base/address.ts';
import { type TableOf, type TableSchema, validate } from '../../base/table.ts';
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
import { type CompactFile, readCompactFile } from './compact-file.ts';
import { type CompactDevice, type CompactHolders, isCompactRest } from './compact-rest.ts';

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
  const { device, kind, streams, pools, ringOverflowed, opening } = rest;
  const counts = { ...tables, stream: streams.length, pool: pools.length };
  return {
    device,
    kind,
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
