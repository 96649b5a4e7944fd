import { beforeAll, describe, expect, it } from 'vitest';
import { isAbortError } from '../../base/errors.ts';
import { LoadError } from '../../base/load-error.ts';
import type { Clock } from '../../base/task.ts';
import type { SessionInfo } from '../../device/model/device-info.ts';
import type { ByteSource } from '../../format/input/types.ts';
import { captureBytes } from '../../testing/captures.ts';
import { nodeClock } from '../../testing/node-clock.ts';
import { webPlatform } from '../gunzip.ts';
import type { OpenProgress, SessionApi } from '../protocol.ts';
import { createSession } from '../session.ts';
import { ALL_ALLOCATIONS, type FrameRequest } from '../timeline-renderer.ts';
import type { GrowthInfo } from './growing-file.ts';
import { type Replayer, replayerBeside, replayerHere, serveReplayer } from './replayer.ts';

/** A clock on which any reading is slow. */
const slowClock = { ...nodeClock, now: () => performance.now() * 1000 };

/** Into how many chunks a file is cut. */
const CHUNKS = 60;

/** Bytes that come one chunk at a time, with a pause after each in which others get their turns. */
function slowSource(bytes: Uint8Array, pause: () => Promise<unknown>): ByteSource {
  return {
    name: 'slow.pickle',
    size: bytes.length,
    async *chunks() {
      const chunkBytes = Math.ceil(bytes.length / CHUNKS);
      for (let at = 0; at < bytes.length; at += chunkBytes) {
        yield bytes.slice(at, at + chunkBytes);
        await pause();
      }
    },
  };
}

const turns = async (count: number) => {
  for (let i = 0; i < count; i++) await nodeClock.yieldTask();
};

/** A replay worker that runs in this thread, behind real ports. */
class InThreadReplayWorker {
  #ports: readonly MessagePort[] = [];
  readonly #onError: ((event: Event) => void)[] = [];
  isTerminated = false;

  postMessage = (_message: unknown, given?: Transferable[] | StructuredSerializeOptions): void => {
    this.#ports = Array.isArray(given) ? given.filter((one) => one instanceof MessagePort) : [];
    for (const port of this.#ports) serveReplayer(port);
  };
  addEventListener = (type: string, listener: (event: Event) => void): void => {
    if (type === 'error') this.#onError.push(listener);
  };
  terminate = (): void => {
    this.isTerminated = true;
    for (const port of this.#ports) port.close();
  };
  crash(): void {
    for (const listener of this.#onError) listener(new Event('error'));
  }
}

interface Opening {
  readonly session: SessionApi;
  readonly workers: InThreadReplayWorker[];
  /** What could be seen, each time that there was more. */
  readonly growths: GrowthInfo[];
  open(bytes: Uint8Array, signal?: AbortSignal): Promise<SessionInfo>;
}

interface OpeningOptions {
  readonly where?: 'beside' | 'here';
  /** Awaited after each chunk of the file. */
  readonly pause?: () => Promise<unknown>;
  readonly clock?: Clock;
  readonly onGrown?: (growth: GrowthInfo, session: SessionApi) => void;
}

function opening(options: OpeningOptions = {}): Opening {
  const { where = 'beside', pause = () => turns(20), clock = slowClock, onGrown } = options;
  const workers: InThreadReplayWorker[] = [];
  const growths: GrowthInfo[] = [];
  let bytes = new Uint8Array(0);
  const beside = (): Replayer => {
    const worker = new InThreadReplayWorker();
    workers.push(worker);
    return replayerBeside(worker);
  };
  const session = createSession({
    platform: webPlatform,
    clock,
    startReplayer: async () => (where === 'here' ? replayerHere() : beside()),
    sourceOf: async () => slowSource(bytes, pause),
  });
  const onProgress = ({ growth }: OpenProgress) => {
    const last = growths.at(-1);
    if (growth === undefined || (last?.trace === growth.trace && last.events === growth.events))
      return;
    growths.push(growth);
    onGrown?.(growth, session);
  };
  return {
    session,
    workers,
    growths,
    open: (given, signal) => {
      bytes = new Uint8Array(given);
      return session.open({ kind: 'url', url: 'slow' }, {}, { signal, onProgress });
    },
  };
}

function frameOf({ trace, events, peaks }: GrowthInfo): FrameRequest {
  return {
    deviceIndex: trace,
    viewport: {
      ...{ axis: 'event', x0: 0, x1: events, width: 64, height: 48 },
      ...{ y0: 0, y1: peaks.activeBytes.bytes },
    },
    colorBy: 'stack',
    palette: {
      classes: Uint32Array.from({ length: 15 }, (_, i) => 0xff000000 + i),
      ...{ background: 0xffffffff, pending: 0xff0000ff, thin: 0xff888888 },
    },
    lines: ['activeBytes', 'reservedBytes'],
    selected: -1,
    ...ALL_ALLOCATIONS,
  };
}

// Fetching it takes longer than reading a file of a test.
beforeAll(() => import('./growing-file.ts'));

const TRAIN = captureBytes('train_gpt_small.pickle.gz');

/** As the file is when it is read at once. */
async function readAtOnce(bytes: Uint8Array) {
  const session = createSession({
    platform: webPlatform,
    clock: nodeClock,
    startReplayer: async () => replayerHere(),
    sourceOf: async () => ({ ...slowSource(bytes, async () => undefined), name: 'slow.pickle' }),
  });
  return { session, info: await session.open({ kind: 'url', url: 'slow' }, {}) };
}

const hitAt = (state: number, bytes: number, deviceIndex = 0) => ({
  ...{ deviceIndex, state, bytesFrom: bytes, bytesTo: bytes + 1 },
  ...ALL_ALLOCATIONS,
});

describe.each(['beside', 'here'] as const)('a file that is replayed %s', (where) => {
  it('can be seen while it is read, and is the same in the end', async () => {
    const { session: whole, info: expected } = await readAtOnce(TRAIN);
    const seen: Promise<void>[] = [];
    const look = async (growth: GrowthInfo, session: SessionApi) => {
      const request = frameOf(growth);
      const { states, lines, stackPeakBytes } = await session.growingFrame(request);
      expect(Math.max(...(lines.activeBytes ?? []))).toBe(stackPeakBytes);
      for (const column of [0, 20, 63]) {
        const state = states[column] ?? -1;
        const pixel = hitAt(state, 1000);
        const { hit, crosshair } = await session.growingHit(pixel);
        const { hit: wholeHit, crosshair: wholeCrosshair } = await whole.hit(pixel);
        expect(crosshair).toEqual(wholeCrosshair);
        // The operation that a line led to is known once all stacks are.
        expect(hit).toEqual(wholeHit && { ...wholeHit, leafFrame: undefined });
      }
    };
    let isLooking = false;
    const { open, growths, session, workers } = opening({
      where,
      pause: async () => {
        await turns(5);
        while (isLooking) await turns(1);
      },
      onGrown: (growth, own) => {
        if (isLooking) return;
        isLooking = true;
        const done = look(growth, own).catch((error: unknown) => {
          // The file may have been read meanwhile.
          if (!isAbortError(error)) throw error;
        });
        seen.push(
          done.finally(() => {
            isLooking = false;
          }),
        );
      },
    });
    const info = await open(TRAIN);
    await Promise.all(seen);
    expect(seen.length).toBeGreaterThan(1);
    const counts = growths.map(({ events }) => events);
    expect(counts.length).toBeGreaterThan(2);
    expect(counts).toEqual([...counts].sort((a, b) => a - b));
    expect(growths.every(({ isExact }) => isExact)).toBe(true);
    expect(info).toEqual(expected);
    const [device] = info.devices;
    const growth = { trace: 0, events: device?.events ?? 0, peaks: device?.peaks } as GrowthInfo;
    const [ours, theirs] = await Promise.all([
      session.frame(frameOf(growth)),
      whole.frame(frameOf(growth)),
    ]);
    expect(ours.pixels).toEqual(theirs.pixels);
    expect(ours.lines).toEqual(theirs.lines);
    expect(workers.every(({ isTerminated }) => isTerminated)).toBe(true);
    await expect(session.growingFrame(frameOf(growth))).rejects.toSatisfy(isAbortError);
  });

  it('stops when it is cancelled', async () => {
    const cancel = new AbortController();
    const { open, session, workers, growths } = opening({
      where,
      onGrown: () => cancel.abort(),
    });
    await expect(open(TRAIN, cancel.signal)).rejects.toSatisfy(
      (error) => isAbortError(error) || (error instanceof Error && /cancel/i.test(error.message)),
    );
    expect(growths.length).toBe(1);
    await expect(session.growingHit(hitAt(0, 0))).rejects.toSatisfy(isAbortError);
    expect(workers.every(({ isTerminated }) => isTerminated)).toBe(true);
  });

  it('shows what was read before a fault, all of it, until another is given', async () => {
    const cut = TRAIN.subarray(0, TRAIN.length >> 1);
    const { open, session, growths } = opening({ where });
    const failure = await open(cut).then(
      () => undefined,
      (error: unknown) => (error instanceof LoadError ? error.failure : undefined),
    );
    expect(failure).toMatchObject({ code: 'truncated', byte: cut.length });
    const last = growths.at(-1);
    if (last === undefined) throw new Error('Nothing was seen');
    expect(last.events).toBe(failure?.partialEvents);
    const { stackPeakBytes } = await session.growingFrame(frameOf(last));
    expect(stackPeakBytes).toBe(last.peaks.activeBytes.bytes);
    const { hit } = await session.growingHit(hitAt(last.events - 1, 1000));
    expect(hit?.topFrame?.filename).toMatch(/\.py$/);
    expect((await open(TRAIN)).devices).toHaveLength(1);
    await expect(session.growingFrame(frameOf(last))).rejects.toSatisfy(isAbortError);
  });

  it('gives way to a second file', async () => {
    let second: Promise<SessionInfo> | undefined;
    const two = captureBytes('two_devices.pickle.gz');
    const { info: expected } = await readAtOnce(two);
    const { open, workers } = opening({
      where,
      onGrown: () => {
        second ??= open(two);
      },
    });
    await expect(open(TRAIN)).rejects.toThrow();
    expect(await second).toEqual(expected);
    expect(workers.every(({ isTerminated }) => isTerminated)).toBe(true);
  });

  it.each(['two_devices', 'train_recorded_late', 'cuda_graph_pool', 'oom_fragmented'])(
    'opens %s as it is when it is read at once',
    async (name) => {
      const bytes = captureBytes(`${name}.pickle.gz`);
      const { info: expected, session: whole } = await readAtOnce(bytes);
      const { open, session, growths } = opening({ where });
      expect(await open(bytes)).toEqual(expected);
      expect(growths.length).toBeGreaterThan(0);
      for (const { index, events, peaks } of expected.devices) {
        if (events === 0) continue;
        const request = frameOf({ trace: index, events, peaks } as GrowthInfo);
        const frame = await session.frame(request);
        expect(frame.pixels).toEqual((await whole.frame(request)).pixels);
      }
    },
  );
});

describe('a file of which nothing comes any more', () => {
  it('is shown as far as it came', async () => {
    const cancel = new AbortController();
    let chunks = 0;
    const never = new Promise<void>(() => undefined);
    const { open, growths } = opening({
      pause: () => (++chunks < CHUNKS / 2 ? turns(5) : never),
    });
    const opened = open(TRAIN, cancel.signal).catch(() => undefined);
    const cut = TRAIN.subarray(0, Math.ceil(TRAIN.length / CHUNKS) * (CHUNKS / 2));
    const whole = opening();
    const failure = await whole.open(cut).catch((error: unknown) => error);
    const events = failure instanceof LoadError ? failure.failure.partialEvents : undefined;
    await expect.poll(() => growths.at(-1)?.events, { timeout: 10_000 }).toBe(events);
    cancel.abort();
    void opened;
  });
});

describe('a replay worker', () => {
  it('may die: the file is replayed when it has been read', async () => {
    const { info: expected } = await readAtOnce(TRAIN);
    const made = opening({ onGrown: () => made.workers[0]?.crash() });
    expect(await made.open(TRAIN)).toEqual(expected);
    expect(made.workers[0]?.isTerminated).toBe(true);
  });

  it('is not started for a small file that is read at once', async () => {
    const clock = { ...nodeClock, now: () => 0 };
    const { open, workers, growths } = opening({ clock });
    await open(TRAIN);
    expect(workers).toEqual([]);
    expect(growths).toEqual([]);
  });

  it('says of a late recording that memory from before is missing', async () => {
    const { open, growths } = opening();
    await open(captureBytes('train_recorded_late.pickle.gz'));
    expect(growths.at(-1)?.isExact).toBe(false);
  });
});
