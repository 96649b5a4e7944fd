import type { DeviceContext } from './device-context.ts';

/** How many different things a device's trace and final state speak of. */
export interface TraceCounts {
  /** Call stacks that some event, block or segment carries; the empty one is none. */
  readonly stacks: number;
  /** Frames in those stacks. */
  readonly frames: number;
  /** Streams of events and segments. */
  readonly streams: number;
}

export function traceCounts({ snapshot, trace }: DeviceContext): TraceCounts {
  const { stacks } = snapshot;
  const isUsed = new Uint8Array(stacks.length);
  for (const column of [trace.events.stack, trace.blocks.stack, trace.segments.stack]) {
    for (let i = 0; i < column.length; i++) if (column[i] > 0) isUsed[column[i]] = 1;
  }
  const stackCount = countOnes(isUsed);
  const isFrameUsed = new Uint8Array(snapshot.frames.length);
  // A caller's row lies before its callees': one walk downwards reaches all frames of used stacks.
  for (let row = stacks.length - 1; row > 0; row--) {
    if (isUsed[row] === 0) continue;
    isFrameUsed[stacks.frame[row]] = 1;
    isUsed[stacks.parent[row]] = 1;
  }
  const isStreamUsed = new Uint8Array(trace.streams.length);
  for (const column of [trace.events.stream, trace.segments.stream]) {
    for (let i = 0; i < column.length; i++) isStreamUsed[column[i]] = 1;
  }
  return {
    stacks: stackCount,
    frames: countOnes(isFrameUsed),
    streams: countOnes(isStreamUsed),
  };
}

function countOnes(flags: Uint8Array): number {
  let count = 0;
  for (let i = 0; i < flags.length; i++) count += flags[i];
  return count;
}
