import type { Replay } from '../../allocator/replay/types.ts';
import { assert } from '../../base/assert.ts';
import type { DeviceTrace, Snapshot } from '../../format/snapshot/tables.ts';
import { annotationSpans } from './annotations.ts';
import { type CallSiteTotals, callSiteTotals } from './call-sites.ts';
import { StackReader } from './stacks.ts';
import type { AnnotationSpan } from './types.ts';

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
