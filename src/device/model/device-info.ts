import { eventsOf, findRetriedOoms } from '../../allocator/replay/trace-events.ts';
import type { AllocationTable } from '../../allocator/replay/types.ts';
import {
  ACTION_NAMES,
  EMPTY_STACK,
  type EventTable,
  type FileInfo,
  type Snapshot,
  type SnapshotWarning,
  TraceAction,
} from '../../format/snapshot/tables.ts';
import { unpairedAnnotations } from './annotations.ts';
import type { DeviceModel } from './device-model.ts';
import { durationUs, findTimeFolds, timeOfEventUs } from './events.ts';
import { deviceWarnings } from './vendors.ts';

export type DeviceInfo = ReturnType<typeof deviceInfo>;
export type OomInfo = DeviceInfo['ooms'][number];
export type SessionInfo = ReturnType<typeof sessionInfo>;

/** Device facts that the page needs before it draws anything. */
export function deviceInfo({ snapshot, trace, replay, stacks }: DeviceModel, index: number) {
  const { events } = trace;
  const retried = findRetriedOoms(trace, replay, stacks);
  return {
    /** Index in SessionInfo.devices, called `deviceIndex` in requests. */
    index,
    device: trace.device,
    kind: trace.kind,
    /** Undefined for CUDA's devices. */
    accelerator: trace.accelerator,
    events: events.length,
    actions: countActions(events),
    allocations: replay.allocations.length,
    preexisting: replay.allocations.preexisting,
    /** Those of them whose line is not recorded either. */
    preexistingWithoutStack: withoutStack(replay.allocations),
    segmentsAtEnd: trace.segments.length,
    recording: replay.recording,
    recordingReason: replay.recordingReason,
    start: replay.start,
    end: replay.end,
    peaks: replay.peaks,
    anomalies: replay.anomalyCount,
    hasTime: events.timeUs !== undefined,
    hasCategory: events.category !== undefined,
    /** Whether the file names the variables that hold memory. */
    hasHolders: (snapshot.holders?.length ?? 0) > 0,
    /** Whether the file holds code of the program. */
    hasSource: (snapshot.source?.files.length ?? 0) > 0,
    /** Microseconds from the first to the last event; 0 without times. */
    durationUs: durationUs(events),
    /** Its idle gaps; empty without times. */
    folds: findTimeFolds(events.timeUs),
    ooms: eventsOf(events, TraceAction.Oom).map((event) => ({
      event,
      /** Microseconds since the first event; NaN without times. */
      timeUs: timeOfEventUs(events, event),
      requestedBytes: events.sizeBytes[event],
      /** NaN if the file does not say. */
      deviceFreeBytes: events.oomDeviceFreeBytes.get(event) ?? Number.NaN,
      /** The same call site immediately requested less memory, so the program saw no error. */
      wasRetried: retried.has(event),
    })),
    /** Events at which a snapshot was taken, and their times as above. */
    snapshots: eventsOf(events, TraceAction.Snapshot).map((event) => ({
      event,
      timeUs: timeOfEventUs(events, event),
    })),
  };
}

const withoutStack = ({ stack, preexisting }: AllocationTable): number =>
  stack.subarray(0, preexisting).filter((own) => own <= EMPTY_STACK).length;

/** OOMs that the program saw, i.e. those not retried. */
export function failedOoms({ ooms }: Pick<DeviceInfo, 'ooms'>): readonly OomInfo[] {
  return ooms.filter(({ wasRetried }) => !wasRetried);
}

/** Number of events per action, in PyTorch's words; unknown actions as in the file. */
function countActions(events: EventTable): Record<string, number> {
  const byAction = new Int32Array(Object.keys(TraceAction).length);
  for (let event = 0; event < events.length; event++) byAction[events.action[event]]++;
  byAction[TraceAction.Unknown] -= events.unknownActions.size;
  const counts = new Map<string, number>();
  byAction.forEach((count, action) => {
    if (count > 0) counts.set(ACTION_NAMES[action], count);
  });
  for (const word of events.unknownActions.values()) counts.set(word, (counts.get(word) ?? 0) + 1);
  return Object.fromEntries(counts);
}

/** Facts about an open file. `contexts` belong to the snapshot's devices. */
export function sessionInfo(file: FileInfo, snapshot: Snapshot, contexts: readonly DeviceModel[]) {
  return {
    file,
    devices: contexts.map(deviceInfo),
    settings: snapshot.settings,
    warnings: [
      ...snapshot.warnings,
      ...deviceWarnings(snapshot.devices),
      ...annotationWarnings(snapshot),
    ],
  };
}

function annotationWarnings(snapshot: Snapshot): SnapshotWarning[] {
  const unpaired = unpairedAnnotations(snapshot.annotations);
  if (unpaired === 0) return [];
  const message =
    unpaired === 1
      ? '1 annotation lacks its START or END, so it reaches to the edge of the recording, or only a moment of it is known.'
      : `${unpaired} annotations lack their START or END: those nearest to the edge of the recording reach to it, of others only a moment is known.`;
  return [{ code: 'unpaired-annotation', message }];
}

/** Number of distinct items in a device's trace and final state. */
export function traceCounts({ snapshot, trace }: DeviceModel) {
  const { stacks, frames } = snapshot;
  const { events, blocks, segments, streams } = trace;
  const isUsed = marked(stacks.length, [events.stack, blocks.stack, segments.stack]);
  isUsed[EMPTY_STACK] = 0;
  const stackCount = countOnes(isUsed);
  const isFrameUsed = new Uint8Array(frames.length);
  // A caller's row comes before its callees', so one pass from the end reaches all frames of used stacks.
  for (let row = stacks.length - 1; row > 0; row--) {
    if (isUsed[row] === 0) continue;
    isFrameUsed[stacks.frame[row]] = 1;
    isUsed[stacks.parent[row]] = 1;
  }
  return {
    /** Call stacks of any event, block or segment, except the empty one. */
    stacks: stackCount,
    /** Frames in those stacks. */
    frames: countOnes(isFrameUsed),
    /** Streams of events and segments. */
    streams: countOnes(marked(streams.length, [events.stream, segments.stream])),
  };
}

/** 1 for the rows that the columns refer to. */
function marked(rows: number, columns: readonly (Int32Array | Uint16Array)[]): Uint8Array {
  const isMarked = new Uint8Array(rows);
  for (const column of columns) for (const row of column) if (row >= 0) isMarked[row] = 1;
  return isMarked;
}

const countOnes = (flags: Uint8Array): number => flags.reduce((count, flag) => count + flag, 0);
