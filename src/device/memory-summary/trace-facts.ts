/** What a device's recording contains: how many bytes have stacks, on which streams, in which pools. */

import { NEVER, type Replay } from '../../allocator/replay/types.ts';
import { EMPTY_STACK } from '../../format/snapshot/tables.ts';
import { privatePoolText, streamText } from '../model/allocation-labels.ts';
import type { DeviceModel } from '../model/device-model.ts';
import { stackKind } from '../model/stacks.ts';

/** Totals of some of the allocations. */
export type Share = Readonly<ReturnType<typeof emptyShare>>;

const emptyShare = () => ({
  allocations: 0,
  /** Sum of their blocks over all lifetimes. */
  totalBytes: 0,
  /** Bytes live at the peak of active memory. */
  peakBytes: 0,
  /** Bytes live at the end. */
  endBytes: 0,
});

const emptyShares = (groups: number) => Array.from({ length: groups }, emptyShare);

const KINDS = [
  'recorded',
  'C++-only',
  'no-python-stack',
  'no-context',
  'before-recording',
] as const;

export type TraceFacts = ReturnType<typeof traceFacts>;

/** One pass over the allocations. */
export function traceFacts({ trace, replay, snapshot, stacks }: DeviceModel) {
  const { allocations, peaks, anomalies } = replay;
  const { events } = trace;
  const peakEvent = peaks.activeBytes.event;
  const hasPython = pythonStacks(snapshot, stacks);
  const byKind = emptyShares(KINDS.length);
  const byStream = emptyShares(Math.max(1, trace.streams.length));
  const byPool = emptyShares(Math.max(1, trace.pools.length));
  const { start, end, sizeBytes, stack, stream, pool, preexisting } = allocations;
  for (let id = 0; id < allocations.length; id++) {
    const bytes = sizeBytes[id];
    const atPeak = start[id] <= peakEvent && end[id] > peakEvent ? bytes : 0;
    const atEnd = end[id] === NEVER ? bytes : 0;
    const kind = stackKind(stack[id], id < preexisting);
    const own = kind === 'recorded' && hasPython[stack[id]] === 0 ? 'C++-only' : kind;
    add(byKind[KINDS.indexOf(own)], bytes, atPeak, atEnd);
    add(byStream[stream[id]], bytes, atPeak, atEnd);
    add(byPool[pool[id]], bytes, atPeak, atEnd);
  }
  const inOrder = (a: Share, b: Share) => b.peakBytes - a.peakBytes || b.totalBytes - a.totalBytes;
  const columns: readonly (readonly [string, boolean])[] = [
    ['times', events.timeUs !== undefined],
    ['pool ids of events', events.pool !== undefined],
    ['categories', events.category !== undefined],
    ['compile contexts', events.compileContext !== undefined],
    ['user metadata', events.userMetadata !== undefined],
    ['forward frames', events.forwardFrames !== undefined],
    ['fx nodes', snapshot.frames.extras.size > 0],
    ['annotations', snapshot.annotations.length > 0],
  ];
  return {
    /** All kinds, even if they do not occur. */
    stackKinds: KINDS.map((kind, i) => ({ kind, ...byKind[i] })),
    /** The allocating streams; '0' is the default stream. Most bytes at the peak first. */
    streams: trace.streams
      .map((one, i) => ({ stream: streamText(one), ...byStream[i] }))
      .sort(inOrder),
    /** The default pool, and private pools as '(1, 0)'. Most bytes at the peak first. */
    pools: trace.pools
      .map((one, i) => ({ pool: privatePoolText(one) ?? 'default', ...byPool[i] }))
      .sort(inOrder),
    /** The peak is the state after this event. */
    peakEvent,
    /** Whether the recorder dropped its oldest entries: as the file says, or as the recording shows; undefined if neither does. */
    ringOverflowed: trace.ringOverflowed ?? droppedEvents(replay.recording),
    /** Columns that this file's events have. */
    columns: columns.map(([label, isRecorded]) => ({ label, isRecorded })),
    /** The first 100. */
    anomalies,
  };
}

/** 1 for stacks with a Python frame. Callers come before callees. */
function pythonStacks({ stacks }: DeviceModel['snapshot'], reader: DeviceModel['stacks']) {
  const { length, frame, parent } = stacks;
  const hasPython = new Uint8Array(length);
  for (let stack = EMPTY_STACK + 1; stack < length; stack++) {
    hasPython[stack] = reader.isPython(frame[stack]) ? 1 : hasPython[parent[stack]];
  }
  return hasPython;
}

/** A ring that overflowed leaves a truncated recording; one that began late may have overflowed too. */
function droppedEvents(recording: Replay['recording']): boolean | undefined {
  if (recording === 'complete') return false;
  return recording === 'truncated' ? true : undefined;
}

function add(
  share: ReturnType<typeof emptyShare>,
  totalBytes: number,
  peakBytes: number,
  endBytes: number,
): void {
  share.allocations++;
  share.totalBytes += totalBytes;
  share.peakBytes += peakBytes;
  share.endBytes += endBytes;
}
