/** From a file to all that questions need: read, replay, index. */
import { CancelledError } from '../core/base/cancelled.ts';
import { createDeviceContexts } from '../core/device/device-context.ts';
import { sessionInfo } from '../core/device/session-info.ts';
import type { SessionInfo } from '../core/device/types.ts';
import { readSnapshot } from '../core/input/read-snapshot.ts';
import type { ByteSource, Platform } from '../core/input/types.ts';
import { replayDevice } from '../core/replay/replay.ts';
import type { Replay } from '../core/replay/types.ts';
import { type CooperativeClock, CooperativeReader } from './cooperative-reader.ts';
import { OpenDevice } from './open-device.ts';
import type { OpenOptions, OpenPhase, OpenProgress } from './protocol.ts';

export interface OpenSnapshot {
  readonly info: SessionInfo;
  /** In the order of `info.devices`. */
  readonly devices: readonly OpenDevice[];
}

export interface OpenJob {
  readonly source: ByteSource;
  readonly platform: Platform;
  readonly clock: CooperativeClock;
  readonly options: OpenOptions;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: OpenProgress) => void;
}

/** @throws LoadError, or CancelledError once `signal` is aborted */
export async function openSnapshot(job: OpenJob): Promise<OpenSnapshot> {
  const { clock, onProgress, options, signal } = job;
  const pace = new CooperativeReader(clock);
  let progress: OpenProgress = {
    phase: 'reading',
    readBytes: 0,
    totalBytes: job.source.size,
    events: 0,
  };
  /** Tells what comes next, and lets messages in before it. */
  const enter = async (phase: OpenPhase) => {
    progress = { ...progress, phase };
    onProgress(progress);
    await clock.yieldTask();
    if (signal.aborted) throw new CancelledError('Opening was cancelled');
  };

  await enter('reading');
  const { snapshot, file } = await readSnapshot(
    pace.source(job.source),
    pace.platform(job.platform),
    {
      allowPartial: options.allowPartial === true,
      isCancelled: () => signal.aborted,
      onProgress: (read) => {
        progress = { phase: 'reading', ...read };
        onProgress(progress);
      },
    },
  );
  const events = snapshot.devices.reduce((sum, device) => sum + device.events.length, 0);
  progress = { ...progress, readBytes: file.bytes, totalBytes: file.bytes, events };

  const replays: Replay[] = [];
  for (const device of snapshot.devices) {
    await enter('replaying');
    replays.push(replayDevice(device, snapshot.settings));
  }
  const devices: OpenDevice[] = [];
  for (const context of createDeviceContexts(snapshot, replays)) {
    await enter('indexing');
    devices.push(new OpenDevice(context));
  }
  await enter('indexing');
  for (const device of devices) device.warmUp();
  const contexts = devices.map(({ context }) => context);
  return { info: sessionInfo(file, snapshot, contexts), devices };
}
