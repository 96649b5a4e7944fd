import { type AllocationTable, NEVER, type Replay } from '../../allocator/replay/types.ts';
import { assert } from '../../base/errors.ts';
import { createTable, type TableOf, type TableSchema } from '../../base/table.ts';
import {
  type DeviceTrace,
  NO_STACK,
  type Snapshot,
  type StackIndex,
} from '../../format/snapshot/tables.ts';
import { annotationSpans } from './annotations.ts';
import { StackReader } from './stacks.ts';
import type { AnnotationSpan } from './types.ts';

/** One device's trace with everything that queries need. Created once per device. */
export interface DeviceModel {
  readonly snapshot: Snapshot;
  readonly trace: DeviceTrace;
  readonly replay: Replay;
  readonly stacks: StackReader;
  /** Computed on first use. */
  callSites(): CallSiteTotals;
  /** See `annotationSpans`; computed on first use. */
  annotations(): readonly AnnotationSpan[];
}

/** `replays[i]` belongs to `snapshot.devices[i]`. */
export function createDeviceModels(snapshot: Snapshot, replays: readonly Replay[]): DeviceModel[] {
  assert(replays.length === snapshot.devices.length, 'one replay for each device');
  const stacks = new StackReader(snapshot);
  return snapshot.devices.map((trace, i) => {
    const replay = replays[i];
    return {
      snapshot,
      trace,
      replay,
      stacks,
      callSites: once(() => callSiteTotals(replay.allocations, stacks, snapshot.stacks.length)),
      annotations: once(() => annotationSpans({ snapshot, trace })),
    };
  });
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

const CALL_SITE_COLUMNS = {
  allocations: { type: 'i32' },
  /** Its first allocation; -1 if it has none. */
  first: { type: 'i32' },
  /** Sum of block bytes over all lifetimes. */
  totalBytes: { type: 'f64' },
  liveAtEnd: { type: 'i32' },
  liveAtEndBytes: { type: 'f64' },
} as const satisfies TableSchema;

/** Totals by call site. Row = site + 1; row 0 holds allocations without a stack. */
export type CallSiteTotals = TableOf<typeof CALL_SITE_COLUMNS>;

/** One pass over the allocations; memory grows with the number of stacks, not allocations. */
function callSiteTotals(
  table: AllocationTable,
  stacks: StackReader,
  stackCount: number,
): CallSiteTotals {
  const totals = createTable(CALL_SITE_COLUMNS, stackCount - NO_STACK);
  totals.first.fill(-1);
  for (let id = 0; id < table.length; id++) {
    const row = stacks.siteOf(table.stack[id]) - NO_STACK;
    if (totals.allocations[row]++ === 0) totals.first[row] = id;
    totals.totalBytes[row] += table.sizeBytes[id];
    if (table.end[id] !== NEVER) continue;
    totals.liveAtEnd[row]++;
    totals.liveAtEndBytes[row] += table.sizeBytes[id];
  }
  return totals;
}

/** All allocations of that call site; those without a stack count as one site. */
export function callSiteInfo(totals: CallSiteTotals, site: StackIndex) {
  const row = site - NO_STACK;
  return {
    allocations: totals.allocations[row],
    totalBytes: totals.totalBytes[row],
    liveAtEnd: totals.liveAtEnd[row],
    liveAtEndBytes: totals.liveAtEndBytes[row],
  };
}
