/** From a file to everything that queries need: read, replay, index. */

import { replayDevice } from '../allocator/replay/replay.ts';
import type { Replay } from '../allocator/replay/types.ts';
import { type Clock, createPause } from '../base/task.ts';
import { type SessionInfo, sessionInfo } from '../device/model/device-info.ts';
import { createDeviceModels } from '../device/model/device-model.ts';
import { readSnapshot } from '../format/input/read-snapshot.ts';
import type { ByteSource } from '../format/input/types.ts';
import { withBeside } from '../format/snapshot/from-value.ts';
import { webPlatform } from './byte-source.ts';
import { FrameQueue } from './frame-queue.ts';
import { OpenDevice } from './open-device.ts';
import type { LongFile } from './partial/long-file.ts';
import type { OpenProgress, OpenRequest } from './protocol.ts';

export interface OpenSnapshot {
  readonly info: SessionInfo;
  /** In the order of `info.devices`. */
  readonly devices: readonly OpenDevice[];
}

export interface OpenJob {
  readonly source: ByteSource;
  readonly clock: Clock;
  readonly options: Omit<OpenRequest, 'source'>;
  readonly onProgress: (progress: OpenProgress) => void;
  /** Shows a long file while it is read; it is closed once the file is open. */
  readonly long?: LongFile;
  /** Aborts the opening, which then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/** Pictures of a file that is being read wait at most about this long. */
const BUSY_MS = 12;

/** @throws LoadError */
export async function openSnapshot(job: OpenJob): Promise<OpenSnapshot> {
  const { source, clock, options, signal, long } = job;
  const pause = createPause({ clock, sliceMs: BUSY_MS, signal });
  let progress: OpenProgress = {
    phase: 'reading',
    readBytes: 0,
    totalBytes: source.size,
    events: 0,
  };
  const report = (step: Partial<OpenProgress>) => {
    progress = { ...progress, ...step, partial: long?.partial?.state };
    job.onProgress(progress);
  };
  if (long !== undefined) long.onMore = () => report({});
  /** Reports the next phase, and lets messages in before it. */
  const enter = async (phase: OpenProgress['phase']) => {
    report({ phase });
    await clock.yieldTask();
    signal?.throwIfAborted();
  };

  await enter('reading');
  const read = readSnapshot(source, webPlatform, {
    allowPartial: options.allowPartial === true,
    onProgress: report,
    onRead(decoder, moment) {
      long?.onRead(decoder, moment);
      // Awaiting the next chunk is not enough: if it has already arrived, reading goes on before any message.
      return pause();
    },
  });
  const { snapshot: bare, file } = await read.catch(async (error: unknown) => {
    await long?.partial?.settle();
    throw error;
  });
  const snapshot = withBeside(bare, options.beside ?? {});
  const events = snapshot.devices.reduce((sum, device) => sum + device.events.length, 0);
  report({ readBytes: file.bytes, totalBytes: file.bytes, events });

  await enter('replaying');
  const early = (await long?.partial?.finish(snapshot)) ?? [];
  long?.close();
  const replays: Replay[] = [];
  for (const [i, device] of snapshot.devices.entries()) {
    await enter('replaying');
    replays.push(early[i]?.replay ?? replayDevice(device, snapshot.settings));
  }
  const frames = new FrameQueue(clock);
  const devices: OpenDevice[] = [];
  for (const [i, context] of createDeviceModels(snapshot, replays).entries()) {
    await enter('indexing');
    devices.push(new OpenDevice(context, clock, frames, early[i]?.counters));
  }
  await enter('indexing');
  for (const { timeline } of devices) timeline.warmUp();
  const contexts = devices.map(({ context }) => context);
  return { info: sessionInfo(file, snapshot, contexts), devices };
}
