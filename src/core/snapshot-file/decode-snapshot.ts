/** The tables of a snapshot from the bytes of encodeSnapshot. */
import { AddressSpace } from '../base/address.ts';
import type { FileInfo } from '../snapshot/file-info.ts';
import {
  type AnnotationTable,
  BlockState,
  type BlockTable,
  type DeviceTrace,
  type EventTable,
  type FrameTable,
  type SegmentTable,
  type Snapshot,
  type StackTable,
  TraceAction,
} from '../snapshot/tables.ts';
import { type CompactFile, readCompactFile } from './compact-file.ts';
import { type CompactDevice, type CompactRest, isCompactRest } from './compact-rest.ts';
import { damagedAt } from './failures.ts';
import { TableReader } from './table-reader.ts';

export interface DecodedSnapshot {
  readonly snapshot: Snapshot;
  /** The file that it was made from; undefined where it does not say. */
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
  const frames = readFrames(file, rest);
  const stacks = readStacks(file, frames.length);
  const snapshot: Snapshot = {
    strings: { length: strings.length, get: (row) => strings[row] ?? '' },
    frames,
    stacks,
    addresses: readAddresses(rest.regions),
    devices: rest.devices.map((device, i) =>
      readDevice(file, `devices.${i}`, device, { strings: strings.length, stacks: stacks.length }),
    ),
    annotations: readAnnotations(file, strings.length),
    settings: rest.settings,
    warnings: rest.warnings,
  };
  return { snapshot, origin: rest.origin };
}

function readAddresses(regions: readonly string[]): AddressSpace {
  const addresses = new AddressSpace();
  // Pushed and not met: the keys in the columns count on this order.
  for (const region of regions) addresses.regions.push(BigInt(region));
  return addresses;
}

function readFrames(file: CompactFile, { strings, extras }: CompactRest): FrameTable {
  const read = new TableReader(file.columns, 'frames');
  const line = read.i32('line');
  return {
    length: line.length,
    name: read.i32('name', { least: 0, below: strings.length }),
    filename: read.i32('filename', { least: 0, below: strings.length }),
    line,
    extras: new Map(extras),
  };
}

/** A parent comes before its children, or walking up would never end. */
function readStacks(file: CompactFile, frames: number): StackTable {
  const read = new TableReader(file.columns, 'stacks');
  const frame = read.i32('frame', { least: -1, below: frames });
  const parent = read.i32('parent', { least: -1, below: frame.length });
  if (parent.length === 0 || parent.some((row, i) => row >= i)) throw damagedAt(0);
  return { length: frame.length, frame, parent };
}

function readAnnotations(file: CompactFile, strings: number): AnnotationTable {
  const read = new TableReader(file.columns, 'annotations');
  const timeUs = read.f64('timeUs');
  return {
    length: timeUs.length,
    timeUs,
    isStart: read.u8('isStart'),
    name: read.i32('name', { least: 0, below: strings }),
    device: read.i32('device'),
  };
}

interface Limits {
  readonly strings: number;
  readonly stacks: number;
}

function readDevice(
  file: CompactFile,
  prefix: string,
  rest: CompactDevice,
  limits: Limits,
): DeviceTrace {
  const { device, kind, streams, pools, ringOverflowed, opening } = rest;
  const events = new TableReader(file.columns, `${prefix}.events`);
  return {
    device,
    kind,
    events: readEvents(events, rest, limits),
    ...readState(file, prefix, rest, limits),
    streams: streams.map((handle) => ({ handle: BigInt(handle) })),
    pools: pools.map((id) => ({ id })),
    ringOverflowed,
    ...(opening !== undefined && {
      opening: { ...readState(file, `${prefix}.opening`, rest, limits), ...opening },
    }),
  };
}

function readState(file: CompactFile, prefix: string, rest: CompactDevice, limits: Limits) {
  const blocks = readBlocks(new TableReader(file.columns, `${prefix}.blocks`), limits);
  const segments = new TableReader(file.columns, `${prefix}.segments`);
  return { segments: readSegments(segments, rest, blocks.length, limits), blocks };
}

function readEvents(read: TableReader, rest: CompactDevice, limits: Limits): EventTable {
  const text = { least: -1, below: limits.strings };
  const action = read.u8('action', { least: 0, below: TraceAction.Unknown + 1 });
  return {
    length: action.length,
    action,
    address: read.f64('address'),
    sizeBytes: read.f64('sizeBytes'),
    stream: read.u16('stream', { least: 0, below: rest.streams.length }),
    stack: read.i32('stack', { least: -1, below: limits.stacks }),
    timeUs: read.has('timeUs') ? read.f64('timeUs') : undefined,
    pool: read.has('pool') ? read.u16('pool', { least: 0, below: rest.pools.length }) : undefined,
    compileContext: read.optionalI32('compileContext', text),
    userMetadata: read.optionalI32('userMetadata', text),
    category: read.optionalI32('category', text),
    forwardFrames: read.optionalI32('forwardFrames', text),
    oomDeviceFreeBytes: new Map(rest.oomDeviceFreeBytes),
    unknownActions: new Map(rest.unknownActions),
    unknownKeys: new Map(rest.unknownKeys.map(([key, values]) => [key, new Map(values)])),
  };
}

function readSegments(
  read: TableReader,
  { streams, pools }: CompactDevice,
  blocks: number,
  limits: Limits,
): SegmentTable {
  const address = read.f64('address');
  const firstBlock = read.i32('firstBlock', { least: 0, below: blocks + 1 }, 1);
  return {
    length: address.length,
    address,
    totalBytes: read.f64('totalBytes'),
    allocatedBytes: read.f64('allocatedBytes'),
    activeBytes: read.f64('activeBytes'),
    requestedBytes: read.f64('requestedBytes'),
    stream: read.u16('stream', { least: 0, below: streams.length }),
    isSmall: read.u8('isSmall'),
    pool: read.u16('pool', { least: 0, below: pools.length }),
    isExpandable: read.u8('isExpandable'),
    stack: read.i32('stack', { least: -1, below: limits.stacks }),
    firstBlock,
  };
}

function readBlocks(read: TableReader, { stacks }: Limits): BlockTable {
  const address = read.f64('address');
  return {
    length: address.length,
    address,
    sizeBytes: read.f64('sizeBytes'),
    requestedBytes: read.f64('requestedBytes'),
    state: read.u8('state', { least: 0, below: BlockState.PendingFree + 1 }),
    stack: read.i32('stack', { least: -1, below: stacks }),
  };
}
