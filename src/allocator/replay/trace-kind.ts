/** What a trace records and whose memory it describes. This decides how to read the rest. */
import { BlockState, type DeviceTrace, TraceAction } from '../../format/snapshot/tables.ts';

export interface TraceKind {
  readonly allocs: number;
  /** The trace has a free_requested. Recordings may leave out whole kinds (skip_actions). */
  readonly hasFreeRequested: boolean;
  /**
   * No free_completed is recorded although blocks were freed, so free_requested ends a block. If all requested blocks
   * are still pending in the final segments, nothing is missing.
   */
  readonly completesOnRequest: boolean;
  /**
   * The profiler's own list of tensors, not an allocator's: blocks have their stated size and may lie anywhere.
   * Example: 100 bytes at 4096, the next block at 4224.
   */
  readonly isProfile: boolean;
  /** Blocks are exactly as large as requested. The CUDA allocator's rules do not round pinned memory. */
  readonly isExact: boolean;
}

/** The kind of nearly all recordings. `allocs` has no meaning here. */
export const USUAL_KIND: TraceKind = {
  allocs: 0,
  hasFreeRequested: true,
  completesOnRequest: false,
  isProfile: false,
  isExact: false,
};

/** Whether a trace is read like {@link USUAL_KIND}. */
export const isUsualKind = ({
  hasFreeRequested,
  completesOnRequest,
  isProfile,
  isExact,
}: TraceKind): boolean => hasFreeRequested && !completesOnRequest && !isProfile && !isExact;

export function traceKindOf(trace: DeviceTrace): TraceKind {
  const { events, blocks } = trace;
  const counts = countActions(events.action);
  let pending = 0;
  for (let b = 0; b < blocks.length; b++) if (blocks.state[b] === BlockState.PendingFree) pending++;
  const { opening } = trace;
  const requests = counts[TraceAction.FreeRequested];
  const segments = counts[TraceAction.SegmentAlloc] + counts[TraceAction.SegmentMap];
  const isProfile = events.category !== undefined && events.timeUs === undefined && segments === 0;
  const completesOnRequest =
    opening === undefined
      ? counts[TraceAction.FreeCompleted] === 0 && requests > pending
      : !opening.hasFreeCompleted;
  const hasFreeRequested = opening?.hasFreeRequested ?? requests > 0;
  return {
    allocs: counts[TraceAction.Alloc],
    hasFreeRequested,
    completesOnRequest,
    isProfile,
    isExact: isProfile || trace.kind === 'host',
  };
}

/** Events of each action. Alternates two tables, because incrementing the same counter twice in a row stalls. */
function countActions(action: Uint8Array): Int32Array {
  const even = new Int32Array(256);
  const odd = new Int32Array(256);
  let t = 0;
  for (; t + 1 < action.length; t += 2) {
    even[action[t]]++;
    odd[action[t + 1]]++;
  }
  if (t < action.length) even[action[t]]++;
  return even.map((count, a) => count + odd[a]);
}
