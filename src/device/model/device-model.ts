import { type AllocationTable, NEVER, type Replay } from '../../allocator/replay/types.ts';
import { assert } from '../../base/assert.ts';
import {
  type DeviceTrace,
  NO_STACK,
  type Snapshot,
  type StackIndex,
} from '../../format/snapshot/tables.ts';
import { annotationSpans } from './annotations.ts';
import { StackReader } from './stacks.ts';
import type { AnnotationSpan, CallSiteInfo } from './types.ts';

/** One device's trace with all that queries about it need. Made once for each device. */
export interface DeviceModel {
  readonly snapshot: Snapshot;
  readonly trace: DeviceTrace;
  readonly replay: Replay;
  readonly stacks: StackReader;
  /** Totals by call site, built when first asked for. */
  callSites(): CallSiteTotals;
  /** Ranges of annotations, see `annotationSpans`; found when first asked for. */
  annotations(): readonly AnnotationSpan[];
}

/** `replays[i]` is that of `snapshot.devices[i]`. */
export function createDeviceContexts(
  snapshot: Snapshot,
  replays: readonly Replay[],
): DeviceModel[] {
  assert(replays.length === snapshot.devices.length, 'one replay for each device');
  const stacks = new StackReader(snapshot);
  return snapshot.devices.map((trace, i) => {
    let sites: CallSiteTotals | undefined;
    let annotations: readonly AnnotationSpan[] | undefined;
    return {
      snapshot,
      trace,
      replay: replays[i],
      stacks,
      callSites: () => {
        sites ??= callSiteTotals(replays[i].allocations, stacks, snapshot.stacks.length);
        return sites;
      },
      annotations: () => {
        annotations ??= annotationSpans({ snapshot, trace });
        return annotations;
      },
    };
  });
}

/** Totals of all allocations by their call site. Row = site + 1, so that row 0 is those with no stack. */
export interface CallSiteTotals {
  readonly allocations: Int32Array;
  /** Its first allocation; -1 where it has none. */
  readonly first: Int32Array;
  /** Sum of block bytes over all lifetimes. */
  readonly totalBytes: Float64Array;
  readonly liveAtEnd: Int32Array;
  readonly liveAtEndBytes: Float64Array;
}

/** One pass over the allocations; memory grows with the number of stacks, not of allocations. */
function callSiteTotals(
  table: AllocationTable,
  stacks: StackReader,
  stackCount: number,
): CallSiteTotals {
  const rows = stackCount - NO_STACK;
  const totals: CallSiteTotals = {
    allocations: new Int32Array(rows),
    first: new Int32Array(rows).fill(-1),
    totalBytes: new Float64Array(rows),
    liveAtEnd: new Int32Array(rows),
    liveAtEndBytes: new Float64Array(rows),
  };
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

/** All allocations of that call site; those without any stack count as one site. */
export function callSiteInfo(totals: CallSiteTotals, site: StackIndex): CallSiteInfo {
  const row = site - NO_STACK;
  return {
    allocations: totals.allocations[row],
    totalBytes: totals.totalBytes[row],
    liveAtEnd: totals.liveAtEnd[row],
    liveAtEndBytes: totals.liveAtEndBytes[row],
  };
}
