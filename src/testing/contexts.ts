import { createDeviceContexts, type DeviceContext } from '../core/query/device-context.ts';
import { replayDevice } from '../core/replay/replay.ts';
import { snapshotFromValue } from '../core/snapshot/decoder.ts';
import type { Snapshot } from '../core/snapshot/tables.ts';

/** All devices of a snapshot, replayed. */
export function contextsOf(snapshot: Snapshot): DeviceContext[] {
  const replays = snapshot.devices.map((trace) => replayDevice(trace, snapshot.settings));
  return createDeviceContexts(snapshot, replays);
}

/** A dictionary such as _snapshot() returns; the first device of it, replayed. */
export function contextOf(value: unknown): DeviceContext {
  return contextsOf(snapshotFromValue(value))[0];
}

/** Trace entries with times 10 us apart, from 1,000 us on, where they have none. */
export function traceOf(...entries: readonly Readonly<Record<string, unknown>>[]): unknown {
  const timed = entries.map((entry, i) => ({
    stream: 0,
    time_us: 1000 + 10 * i,
    ...entry,
  }));
  return { segments: [], device_traces: [timed] };
}
