/** Removes unused strings, frames and stacks from a file to share; on request also full paths or all stacks. */

import { getOrMake } from '../../base/collections.ts';
import { shortPath } from '../../base/file-names.ts';
import { type Column, gather, mapRefs, type RowMap, refColumns } from '../../base/table.ts';
import {
  ANNOTATION_COLUMNS,
  BLOCK_COLUMNS,
  type DeviceTrace,
  EVENT_COLUMNS,
  FRAME_COLUMNS,
  type FrameIndex,
  type FrameTable,
  HOLDER_COLUMNS,
  type HolderTable,
  NO_STACK,
  SEGMENT_COLUMNS,
  type Snapshot,
  type SourceTexts,
  STACK_COLUMNS,
  type StackIndex,
  type StackTable,
  type StringIndex,
} from '../snapshot/tables.ts';

export interface PruneOptions {
  /** 'last-two': /home/me/project/train/model.py becomes train/model.py. */
  readonly paths: 'whole' | 'last-two';
  /** False removes every stack, as if none had been recorded. */
  readonly stacks: boolean;
  /** False removes the names of what holds memory: dictionary keys in them may be private data. */
  readonly holders?: boolean;
  /** The code to show. It is left out, as is that of the snapshot, if anything else is. */
  readonly source?: SourceTexts | undefined;
}

/** Code repeats paths and the names of variables, so it is not in a file without those. */
export const mayHoldSource = ({ paths, stacks, holders }: Omit<PruneOptions, 'source'>): boolean =>
  paths === 'whole' && stacks && holders !== false;

/** A snapshot that looks the same and holds nothing else. The original does not change. */
export function prune(snapshot: Snapshot, options: PruneOptions): Snapshot {
  const strings = new SharedStrings(snapshot);
  const stackRows = options.stacks ? sharedStackRows(snapshot) : new Int32Array(1);
  const path = options.paths === 'whole' ? (text: string) => text : shortPath;
  const string = (row: StringIndex) => strings.keep(row);
  const stack = (row: StackIndex) => (options.stacks ? stackRows[row] : NO_STACK);
  return {
    ...copyStacks(snapshot, stackRows, strings, path),
    addresses: snapshot.addresses,
    startUs: snapshot.startUs,
    devices: snapshot.devices.map((trace) => pruneDevice(trace, { string, stack }, options.stacks)),
    annotations: mapRefs(ANNOTATION_COLUMNS, snapshot.annotations, { string }),
    settings: snapshot.settings,
    warnings: snapshot.warnings,
    ...(snapshot.labels !== undefined && { labels: snapshot.labels }),
    ...(snapshot.holders !== undefined &&
      options.holders !== false && {
        holders: pruneHolders(snapshot.holders, string, path, options),
      }),
    ...(snapshot.ledger !== undefined && { ledger: snapshot.ledger }),
    ...(options.source !== undefined && mayHoldSource(options) && { source: options.source }),
    strings: strings.table,
  };
}

class SharedStrings {
  readonly #snapshot: Snapshot;
  readonly #texts: string[] = [''];
  readonly #rowOf = new Map<string, StringIndex>([['', 0]]);

  constructor(snapshot: Snapshot) {
    this.#snapshot = snapshot;
  }

  get table() {
    const texts = this.#texts;
    return { length: texts.length, get: (row: StringIndex) => texts[row] ?? '' };
  }

  /** The new row of an old one; -1 stays. */
  keep(row: StringIndex, change = (text: string) => text): StringIndex {
    if (row < 0) return row;
    const text = change(this.#snapshot.strings.get(row));
    return getOrMake(this.#rowOf, text, () => this.#texts.push(text) - 1);
  }
}

/** The new row of each used stack, callers included; 0 for the others, which are never looked up. */
function sharedStackRows({ devices, stacks }: Snapshot): Int32Array {
  const isUsed = new Uint8Array(stacks.length);
  const mark = (column: Column) => {
    for (const stack of column) if (stack !== NO_STACK) isUsed[stack] = 1;
  };
  for (const { events, segments, blocks, opening } of devices) {
    for (const column of refColumns(EVENT_COLUMNS, events, 'stack')) mark(column);
    for (const state of [{ segments, blocks }, ...(opening === undefined ? [] : [opening])]) {
      for (const column of refColumns(SEGMENT_COLUMNS, state.segments, 'stack')) mark(column);
      for (const column of refColumns(BLOCK_COLUMNS, state.blocks, 'stack')) mark(column);
    }
  }
  // Parents come before children, so going backwards marks each parent before it is numbered.
  for (let stack = stacks.length - 1; stack > 0; stack--) {
    if (isUsed[stack] === 1) isUsed[stacks.parent[stack]] = 1;
  }
  const rows = new Int32Array(stacks.length);
  let next = 1;
  for (let stack = 1; stack < stacks.length; stack++) {
    if (isUsed[stack] === 1) rows[stack] = next++;
  }
  return rows;
}

/** The used stacks and frames, numbered anew. */
function copyStacks(
  { stacks: old, frames }: Snapshot,
  rows: Int32Array,
  strings: SharedStrings,
  path: (text: string) => string,
): { readonly stacks: StackTable; readonly frames: FrameTable } {
  const used = Array.from(rows.keys()).filter((stack) => stack === 0 || rows[stack] > 0);
  const frameRows = new Map<FrameIndex, FrameIndex>();
  const frame = (row: FrameIndex) => getOrMake(frameRows, row, () => frameRows.size);
  const stacks = mapRefs(STACK_COLUMNS, gather(STACK_COLUMNS, old, used), {
    stack: (row) => rows[row],
    frame,
  });
  const kept = gather(FRAME_COLUMNS, frames, [...frameRows.keys()]);
  const extras = [...frames.extras].flatMap(([row, extra]) => {
    const now = frameRows.get(row);
    return now === undefined ? [] : [[now, extra] as const];
  });
  return {
    stacks,
    frames: {
      ...kept,
      name: kept.name.map((row) => strings.keep(row)),
      filename: kept.filename.map((row) => strings.keep(row, path)),
      extras: new Map(extras),
    },
  };
}

function pruneHolders(
  holders: HolderTable,
  string: RowMap,
  path: (text: string) => string,
  { stacks }: PruneOptions,
): HolderTable {
  const owners = holders.owners.map(({ file, line, ...owner }) => ({
    ...owner,
    ...(stacks && file !== undefined && { file: path(file) }),
    ...(stacks && line !== undefined && { line }),
  }));
  return { ...mapRefs(HOLDER_COLUMNS, holders, { string }), owners };
}

function pruneDevice(
  trace: DeviceTrace,
  maps: { readonly string: RowMap; readonly stack: RowMap },
  hasStacks: boolean,
): DeviceTrace {
  const { events, opening } = trace;
  const stateOf = (state: Pick<DeviceTrace, 'segments' | 'blocks'>) => ({
    segments: mapRefs(SEGMENT_COLUMNS, state.segments, maps),
    blocks: mapRefs(BLOCK_COLUMNS, state.blocks, maps),
  });
  // Forward frames are stacks too, as text.
  const shared = hasStacks ? events : { ...events, forwardFrames: undefined };
  return {
    ...trace,
    events: mapRefs(EVENT_COLUMNS, shared, maps),
    ...stateOf(trace),
    ...(opening !== undefined && { opening: { ...opening, ...stateOf(opening) } }),
  };
}
