import { replayDevice } from '../../allocator/replay/replay.ts';
import type { Replay } from '../../allocator/replay/types.ts';
import { memoized } from '../../base/collections.ts';
import { assert } from '../../base/errors.ts';
import type { DeviceTrace, Snapshot } from '../../format/snapshot/tables.ts';
import { annotationSpans } from './annotations.ts';
import { type CallSiteTable, callSiteTable } from './call-sites.ts';
import { StackReader } from './stacks.ts';
import type { AnnotationSpan } from './types.ts';

/** One device's trace with everything that queries need. Created once per device. */
export interface DeviceModel {
  readonly snapshot: Snapshot;
  readonly trace: DeviceTrace;
  readonly replay: Replay;
  readonly stacks: StackReader;
  /** Of all allocations; computed on first use. */
  callSites(): CallSiteTable;
  /** See `annotationSpans`; computed on first use. */
  annotations(): readonly AnnotationSpan[];
}

/** @param replays of the devices, in their order, where they are already made */
export function createDeviceModels(
  snapshot: Snapshot,
  replays: readonly Replay[] = snapshot.devices.map((device) =>
    replayDevice(device, snapshot.settings),
  ),
): DeviceModel[] {
  assert(replays.length === snapshot.devices.length, 'one replay for each device');
  const stacks = new StackReader(snapshot);
  return snapshot.devices.map((trace, i) => {
    const replay = replays[i];
    return {
      snapshot,
      trace,
      replay,
      stacks,
      callSites: memoized<void, CallSiteTable>(() => callSiteTable({ snapshot, replay, stacks })),
      annotations: memoized<void, AnnotationSpan[]>(() => annotationSpans({ snapshot, trace })),
    };
  });
}
