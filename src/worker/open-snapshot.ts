/** From a file to all that queries need: read, replay, index. */

import { replayFromNothing } from '../allocator/replay/replay.ts';
import type { Replay } from '../allocator/replay/types.ts';
import { CancelledError } from '../base/errors.ts';
import { type Clock, createPause } from '../base/task.ts';
import { type SessionInfo, sessionInfo } from '../device/model/device-info.ts';
import { createDeviceContexts } from '../device/model/device-model.ts';
import { readSnapshot } from '../format/input/read-snapshot.ts';
import type { ByteSource, Platform } from '../format/input/types.ts';
import type { DeviceTrace, Snapshot } from '../format/snapshot/tables.ts';
import type { FrameQueue } from './frame-queue.ts';
import type { Growth } from './live/growth.ts';
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
  readonly clock: Clock;
  /** Draws the pictures of all devices. */
  readonly frames: FrameQueue;
  readonly options: OpenOptions;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: OpenProgress) => void;
  /** What is to be seen of the file while it is read; undefined where nobody looks. */
  readonly growth?: Growth | undefined;
}

/** @throws LoadError, or CancelledError once `signal` is aborted */
export async function openSnapshot(job: OpenJob): Promise<OpenSnapshot> {
  const { clock, frames, growth, options, signal } = job;
  const onProgress = (step: OpenProgress) => job.onProgress({ ...step, growth: growth?.info });
  const reader = new CooperativeReader(clock);
  let progress: OpenProgress = {
    phase: 'reading',
    readBytes: 0,
    totalBytes: job.source.size,
    events: 0,
  };
  /** Reports what comes next, and lets messages in before it. */
  const enter = async (phase: OpenPhase) => {
    progress = { ...progress, phase };
    onProgress(progress);
    await clock.yieldTask();
    if (signal.aborted) throw new CancelledError('Opening was cancelled');
  };

  await enter('reading');
  const read = readSnapshot(reader.source(job.source), reader.platform(job.platform), {
    allowPartial: options.allowPartial === true,
    isCancelled: () => signal.aborted,
    ...(growth !== undefined && { onRead: growth.onRead }),
    onProgress: (read) => {
      progress = { phase: 'reading', ...read };
      onProgress(progress);
    },
  });
  const { snapshot, file } = await read.catch(async (error: unknown) => {
    if (!signal.aborted) await growth?.settle();
    throw error;
  });
  const events = snapshot.devices.reduce((sum, device) => sum + device.events.length, 0);
  progress = { ...progress, readBytes: file.bytes, totalBytes: file.bytes, events };

  await enter('replaying');
  const grown = (await growth?.finish(snapshot)) ?? [];
  const replays: Replay[] = [];
  for (const [i, device] of snapshot.devices.entries()) {
    await enter('replaying');
    replays.push(grown[i]?.replay ?? (await replayWhole(device, snapshot.settings)));
  }
  const devices: OpenDevice[] = [];
  for (const [i, context] of createDeviceContexts(snapshot, replays).entries()) {
    await enter('indexing');
    devices.push(new OpenDevice(context, clock, frames, grown[i]?.counters));
  }
  await enter('indexing');
  for (const device of devices) device.warmUp();
  const contexts = devices.map(({ context }) => context);
  return { info: sessionInfo(file, snapshot, contexts), devices };
}

/** What a late recording needs is fetched when one is opened. */
async function replayWhole(device: DeviceTrace, settings: Snapshot['settings']): Promise<Replay> {
  const replay = replayFromNothing(device, settings);
  if (replay !== undefined) return replay;
  const { replayFromBefore } = await import('../allocator/replay/replay.ts');
  return replayFromBefore(device, settings);
}

/** The decoder takes about 5 ms for it; what is handed to it is worked on in one go. */
const PIECE_BYTES = 2 ** 20;
/** Frames and hovers of the snapshot that is open already wait no longer than about this. */
const BUSY_MS = 12;

/**
 * Hands bytes on in small pieces and lets messages in between. Awaiting the next chunk is not
 * enough: one that has arrived already resumes the reader at once, before any message.
 */
class CooperativeReader {
  readonly #pause: () => Promise<void>;

  constructor(clock: Clock) {
    this.#pause = createPause({ clock, sliceMs: BUSY_MS });
  }

  source(source: ByteSource): ByteSource {
    return {
      name: source.name,
      get size() {
        return source.size;
      },
      chunks: () => this.#inPieces(source.chunks()),
    };
  }

  /** Compressed bytes become twenty times as many: those go in pieces as well. */
  platform(platform: Platform): Platform {
    return { gunzip: (chunks) => this.#inPieces(platform.gunzip(chunks)) };
  }

  async *#inPieces(chunks: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
    for await (const chunk of chunks) {
      for (let from = 0; from < chunk.length; from += PIECE_BYTES) {
        yield chunk.subarray(from, from + PIECE_BYTES);
        await this.#pause();
      }
    }
  }
}
