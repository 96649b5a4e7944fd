import { replayDevice } from '../allocator/replay/replay.ts';
import type { Replay } from '../allocator/replay/types.ts';
import { createDeviceModels, type DeviceModel } from '../device/model/device-model.ts';
import { snapshotFromValue } from '../format/snapshot/from-value.ts';
import { NO_STACK, type Snapshot, type StackIndex } from '../format/snapshot/tables.ts';

const replayed = new WeakMap<Snapshot, readonly Replay[]>();
const modelled = new WeakMap<Snapshot, readonly DeviceModel[]>();

/** Cached by device, because captures are shared (captures.ts). */
export function replaysOf(snapshot: Snapshot): readonly Replay[] {
  const { devices, settings } = snapshot;
  const replays = replayed.get(snapshot) ?? devices.map((trace) => replayDevice(trace, settings));
  replayed.set(snapshot, replays);
  return replays;
}

/** The models of all devices of a snapshot, each made once. */
export function contextsOf(snapshot: Snapshot): readonly DeviceModel[] {
  const contexts = modelled.get(snapshot) ?? createDeviceModels(snapshot, replaysOf(snapshot));
  modelled.set(snapshot, contexts);
  return contexts;
}

/** Replays the first device of a dictionary such as _snapshot() returns. */
export function contextOf(value: unknown): DeviceModel {
  return contextsOf(snapshotFromValue(value))[0];
}

/** Adds times to trace entries that have none: 10 us apart, from 1,000 us on. */
export function traceOf(...entries: readonly Readonly<Record<string, unknown>>[]): unknown {
  const timed = entries.map((entry, i) => ({
    stream: 0,
    time_us: 1000 + 10 * i,
    ...entry,
  }));
  return { segments: [], device_traces: [timed] };
}

/** A stack as text, innermost frame first: row numbers differ between snapshots, texts do not. */
export function describeStack(
  { strings, frames, stacks }: Pick<Snapshot, 'strings' | 'frames' | 'stacks'>,
  stack: StackIndex,
): string {
  if (stack === NO_STACK) return 'no context';
  const texts: string[] = [];
  for (let row = stack; row > 0; row = stacks.parent[row]) {
    const frame = stacks.frame[row];
    const where = `${strings.get(frames.filename[frame])}:${frames.line[frame]}`;
    texts.push(`${strings.get(frames.name[frame])} ${where}`);
  }
  return texts.join(' < ');
}
